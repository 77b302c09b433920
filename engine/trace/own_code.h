/*
 * own_code.h - "just my code": which frames are the user's own, and names in C++ as people
 * write them.
 *
 * The place of an event is its innermost frame in the user's own files. Not the user's are
 * files under the system's include and library folders, in the standard library, and what the
 * settings leave out. For display and reports alone: analyses and marks use the exact location.
 */
#ifndef HEDDLE_OWN_CODE_H
#define HEDDLE_OWN_CODE_H

#include "engine/trace/index.h"

/* Set before other threads run. On is the default; off: the exact place of each event. */
void own_code_set(bool on);
bool own_code_is_on(void);
/* Files that match (a glob over the whole path, or over its last parts) are not the user's, or
 * with `own` are the user's whatever the rule says. Later patterns win. */
void own_code_add_pattern(const char *pattern, bool own);
void own_code_clear_patterns(void);

/* Is the frame in the user's own files? Without a source line, is its function not the standard
 * library's? */
bool own_code_has(const struct trace *t, const struct frame *frame);
/* The same as far as the frame's location tells. */
enum own_code_by { OWN_CODE_NO, OWN_CODE_YES, OWN_CODE_BY_FUNCTION };
enum own_code_by own_code_by(const struct trace *t, uint32_t location);
/* The index of the innermost own frame; 0 without one, or with the setting off. */
guint own_code_frame(const struct trace *t, const GArray *frames);
/* The stack whose innermost frame has the event's location: trace_stack, but for an entry,
 * whose location is its call, the caller's; 0 in a trace without stacks. */
uint32_t own_code_stack(const struct trace *t, uint32_t event);
/* The frame that is the place of the event. */
struct frame own_code_place(const struct trace *t, uint32_t event);
static inline const struct location *own_code_location(const struct trace *t, uint32_t event)
{
	return &t->locations[own_code_place(t, event).location];
}
/* Is the exact place in the user's own files? */
bool own_code_has_event(const struct trace *t, uint32_t event);
/* Is the place an address in the system's libraries, without a source line? Such is where the C
 * library called a function, as qsort does: it names no line of the user's. */
bool own_code_is_elsewhere(const struct trace *t, uint32_t location);
/* "FILE:LINE" of that place, or the event's own name of its location; "" of an entry into a
 * function that such an address calls, as a thread's first. */
const char *own_code_place_name(const struct trace *t, uint32_t event);

/* own_code_place_name, with the exact place where it differs: "q.cpp:30, inside of
 * vector.tcc:516". Owned by the caller. */
char *own_code_place_text(const struct trace *t, uint32_t event);
/* Is it a file of the user's, by its path; or by the function, for a name without folder? */
bool own_code_has_file(const char *path, const char *function);

/* Append a C++ name as people write it: "std::string" for the library's name of it, template
 * arguments as <…>, members of the library left out ("config->size" for
 * "config._M_ptr->size", "v[3].x" for "v._M_impl._M_start[3].x", "*top" for
 * "top._M_b._M_p->_M_next"), elements of the library's own among them as […]. Escapes as
 * append_escaped. With the setting off, the name is unchanged. */
void own_code_append_name(const char *name, GString *out);
/* The same without escapes, whatever the setting. `text` must be empty. */
void own_code_shorten(const char *name, GString *text);
/* Bytes of a name, or of a path in a variable, before the members of the standard library that
 * it ends in: "p->jobs" of "p->jobs._M_impl._M_start". */
size_t own_code_length(const char *name);
/* The call that a function's name in a trace stands for as people name it: "sleep" for
 * "sleep@libc", SIGNAL_WORDS for "signal@libc", which is around a signal's handler; NULL for
 * functions of the program. Static. */
#define SIGNAL_WORDS "a signal"
const char *own_code_library_call(const char *function);
/* Append a function: a call of the C library as own_code_library_call names it, else as above.
 */
void own_code_append_function(const char *name, GString *out);
/* Does the name end in a member of the standard library, or is it one of the C library's or the
 * compiler's own ("__libc_single_threaded", a vtable)? Not an element of a container, nor the
 * text of a string. False with the setting off. */
bool own_code_is_library_variable(const char *name);
/* Append a name without its numbers, as of "job#2" and "slots[3]": another run, or another turn
 * of a loop, has others. */
void own_code_append_kind(const char *name, GString *out);
/* Is it an internal member of the standard library ("._M_impl", "->__data_"), from the dot or
 * arrow on? */
bool own_code_is_library_member(const char *at);

#endif
