/*
 * stems.h - which variables may have a name that begins with one of some texts? Answered by
 * heap block, without the names: a recording has millions of variables whose names are spelt
 * from their block's when they are asked for (struct name_rule), and kept then.
 *
 * Stars at the beginnings of names and texts do not count.
 */
#ifndef HEDDLE_STEMS_H
#define HEDDLE_STEMS_H

#include "engine/trace/trace.h"

struct stems;
/* `texts` (NULL-terminated) and the trace are borrowed. */
struct stems *stems_new(const struct trace *t, const char *const *texts);
/* False: no text is the variable's name or its beginning. True of every variable whose name is
 * not spelt from its block's. */
bool stems_may_begin(struct stems *s, uint32_t variable);
void stems_free(struct stems *s); /* may be NULL */

#endif
