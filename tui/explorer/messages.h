/*
 * messages.h - the sentences of the last line: what a command or key says, and why one is
 * refused.  All of them, so that they can be read as a whole; the language is that of
 * docs/contributing.md.
 *
 * SAYS_* are formats for app_say. NO_* are refusals: the remedy (NULL: none), then the format;
 * for refuse(). The compiler checks the arguments of both.
 */
#ifndef HEDDLE_MESSAGES_H
#define HEDDLE_MESSAGES_H

/* Sets `error` to a refusal of this table; false. */
#define refuse(error, ...) error_set((error), "", __VA_ARGS__)

/* -- values ------------------------------------------------------------------------- */
#define SAYS_VALUE      "%s = %s"
#define SAYS_NO_DISPLAY "no variable is kept in the state pane: `display VARIABLE` does\n"
#define SAYS_NO_LOCALS  "no access to a local variable of this function is recorded\n"
#define SAYS_LOCALS_RECORDED \
	"(arguments and locals in registers, and most whose address is not taken, are not " \
	"recorded; `frame N` chooses another function)\n"
#define NO_VARIABLE \
	"Tab completes names; locals in registers, and most whose address is not taken, are not recorded", \
	        "the recording has no access to a variable '%s'"
#define NO_VALUE_YET \
	"a value is known from the first recorded access to it on", \
	        "the value of %s is not known here"
#define NO_QUOTIENT        NULL, "'%s' divides by 0 here"
#define NO_BRACKET         NULL, "a ']' is missing in '%s'"
#define NO_POINTER         "`print NAME` shows its members", "'%s' is no pointer with a recorded value"
#define NO_OBJECT_AT_NULL  NULL, "%s is NULL here"
#define NO_OBJECT_RECORDED NULL, "no access to the object that %s points to here is recorded"
#define NO_FORMAT          "x, d, u, o and c", "'%.*s' is no format"

/* -- places and threads --------------------------------------------------------------- */
#define SAYS_THREAD         "thread %s, event %u"
#define SAYS_NOT_BEGUN      "%s has not begun here; its first event: %s"
#define SAYS_NO_EVENT_THERE "no event is recorded at '%s'\n"
#define SAYS_EVENTS_THERE   ": %s event%s\n"
#define SAYS_NEXT_THERE     "the next one from here is event %u of %s: "
#define NO_EVENT_AT         "Tab completes places", "no event is recorded at '%s'"
#define NO_THREAD           "`info threads` lists them", "there is no thread '%s'"
#define NO_EVENTS_OF        NULL, "no event of %s is recorded"

/* -- stepping ----------------------------------------------------------------------- */
#define SAYS_RETURNED       "%s has returned: %s"
#define SAYS_NOT_CALLED_YET "before the call of %s: %s"
#define NO_WAY_OUT          NULL, "%s does not return from %s in this recording"
#define NO_WAY_BACK         NULL, "%s begins with %s"
#define NO_WAY_THERE        NULL, "%s does not come to %s after this event"

/* -- breakpoints -------------------------------------------------------------------- */
#define SAYS_BREAKPOINT       "breakpoint %u at %s"
#define SAYS_WATCHPOINT       "watchpoint %u at %s"
#define SAYS_STOPPED          "breakpoint %u: %s"
#define SAYS_STOPS_IF         "breakpoint %u stops if %s"
#define SAYS_ALWAYS_STOPS     "breakpoint %u always stops"
#define SAYS_HITS             "  stopped there %u time%s"
#define SAYS_ENABLED          "%u breakpoint%s enabled"
#define SAYS_DISABLED         "%u breakpoint%s disabled: `enable` lets them stop again"
#define SAYS_BREAKPOINTS_LEFT "%u breakpoint%s left"
#define SAYS_NO_BREAKPOINTS   "no breakpoints: `break FILE:LINE if COND`, `watch VARIABLE`\n"
#define NO_BREAKPOINT         "`info breakpoints` lists them", "there is no breakpoint '%s'"
#define NO_STOPS              "`break FILE:LINE` or `watch VARIABLE` first", "there is nothing to stop at"
#define NO_STOP_AFTER         NULL, "no breakpoint is met after event %u"
#define NO_STOP_BEFORE        NULL, "no breakpoint is met before event %u"

#endif
