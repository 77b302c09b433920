/*
 * tree.h - constructors of declarations, for the parser alone.
 */
#ifndef HEDDLE_COMMUTE_TREE_H
#define HEDDLE_COMMUTE_TREE_H

#include "engine/commute/language/spec.h"

struct spec_object *spec_object_new(const char *name, const char *file, uint32_t line);
void spec_object_index(struct spec_object *o);
struct expr *spec_expr_new(struct spec_object *o, enum expr_op op, struct expr *a,
                           struct expr *b);
struct spec_method *spec_method_new(struct spec_object *o, const char *name);
struct spec_condition *spec_condition_new(struct spec_object *o);
struct spec_order *spec_order_new(struct spec_object *o);
struct spec_missing *spec_missing_new(const char *file, uint32_t line);

#endif
