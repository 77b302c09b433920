/*
 * shown.h - values as people write them, by the type of their variable: the one place for
 * reports, stories and screens.  A trace's text and witnesses have exact numbers
 * (trace_append_value).
 *
 * A recording's notes SHOWN_NOTE have the types, as debug information had them: a form and the
 * variables that have it, "int acct[].balance".  Forms: "int", "uint", "bool", "char", "float",
 * "pointer", "channel", "enum:IDLE=0,BUSY=1".  A variable without such a note has an unknown
 * type.
 */
#ifndef HEDDLE_SHOWN_H
#define HEDDLE_SHOWN_H

#include "engine/trace/trace.h"

#define SHOWN_NOTE "value-form"

/* Append a variable's name without numbers in brackets and after '#': the elements of an array
 * and the blocks of a place share a form. */
void shown_pattern(const char *name, GString *pattern);

/* Append a value of the variable (NONE: of no variable): -2, true, 'x', BUSY, 0.5, &cells[3],
 * job (a block's beginning), NULL.  Of an unknown type: the number, beyond 32 bits in
 * hexadecimal, since it is probably an address. A pointer's object is the one that had the
 * address at the event (NONE: at the end).
 */
void shown_append(const struct trace *t, uint32_t variable, uint32_t value, uint32_t event,
                  GString *out);

/* Is the type of the variable known, and one of those above? */
bool shown_has_form(const struct trace *t, uint32_t variable);

/* The number of an enumerator of that name, in any enumeration of the trace's variables. */
bool shown_enumerator(const struct trace *t, const char *name, size_t length, int64_t *value);

/* The variable of an access that covers one, or NONE: for shown_append. */
uint32_t shown_variable(const struct event *e);

#endif
