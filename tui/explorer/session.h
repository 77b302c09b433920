/*
 * session.h - the explorer's state: the trace, findings with marks, the selected event and
 * pair, watches, bookmarks; and stepping.
 *
 * Independent of drawing and keys, so that views, commands and scripts share it. Used by the
 * screen's thread only; jobs hand over results through job.h.
 */
#ifndef HEDDLE_EXPLORER_SESSION_H
#define HEDDLE_EXPLORER_SESSION_H

#include "engine/commute/model.h"
#include "engine/finding.h"
#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/predict/predict.h"
#include "engine/trace/index.h"
#include "engine/trace/weak.h"
#include "engine/witness/check.h"

enum triage {
	TRIAGE_NONE,
	TRIAGE_REAL,
	TRIAGE_BENIGN,
	TRIAGE_DUPLICATE,
	TRIAGE_FIXED,
	TRIAGE_COUNT
};
extern const char *const triage_words[TRIAGE_COUNT];
static inline const char *triage_word(enum triage triage) /* "" for TRIAGE_NONE */
{
	return triage_words[triage];
}

/* A line of the list of findings. */
struct entry {
	struct finding *finding; /* borrowed from one of session.reports */
	char *key;               /* owned: kind, places and variable; survives re-recording */
	uint32_t sites[2];       /* ascending; NONE when not a pair of accesses */
	char *where, *variable;  /* owned, for display */
	char *lines;             /* owned: `where` without the functions */
	char *exact;             /* owned: the exact places and variable, for filters */
	enum triage triage;
	char *note; /* owned, or NULL */
	/* Last contents of the notes file; differing marks and notes are saved. */
	enum triage kept_triage;
	char *kept_note; /* owned, or NULL */
};

struct return_point; /* return_point.h */

struct bookmark {
	uint32_t event;
	char *name; /* owned */
};

struct breakpoint {
	unsigned number;
	char *text;         /* owned: as typed */
	GArray *sites;      /* uint32_t: its locations; NULL for a watchpoint */
	uint32_t variable;  /* watchpoint, or NONE */
	bool reads, writes; /* the accesses that a watchpoint stops at */
	uint32_t function;  /* stops at entries of this function (string); or NONE */
	bool whole;         /* sites are all of a function whose entry is not recorded */
	struct stop_condition *condition; /* owned, or NULL */
	bool once, disabled;
	unsigned hits; /* stops there so far */
};

/* Folded middle rounds of a loop: events of one thread, shown as one row. */
struct fold {
	uint32_t thread;
	uint32_t first, last;    /* events */
	uint64_t rounds, events; /* number folded */
};
/* The answer to `:reach`: an order of the recorded events after which the condition holds
 * when the thread of the last one, `target`, comes to it. */
struct reached {
	uint32_t target;
	GArray *events;  /* uint32_t, owned; with the target */
	char *condition; /* owned */
};
enum fold_change { FOLD_NO_LOOP, FOLD_CLOSED, FOLD_OPENED };

enum step_kind {
	STEP_EVENT,
	STEP_THREAD,
	STEP_VARIABLE,
	STEP_OBJECT,
	STEP_SWITCH,
	STEP_LINE,
	STEP_WRITER,
	STEP_READER,
	/* the thread's, as in gdb: calls from the selected event's function on are passed over
	 */
	STEP_OVER,      /* an event */
	STEP_LINE_OVER, /* a source line */
	STEP_UNTIL,     /* a later line of the function, or out of it */
	STEP_OUT        /* out of the selected frame's function */
};

struct session {
	struct trace *trace; /* owned; --exe, or NULL */
	char *executable;    /* owned; --exe, or NULL */
	struct specs *specs; /* owned: the shipped ones and --spec; or NULL */
	struct model
	        *model; /* owned: the trace's invocations under specs, or NULL until made */
	unsigned ready; /* index parts that the screen may use */
	bool weak;      /* the run is not sequentially consistent (engine/trace/weak.h) */
	/* -- findings */
	GPtrArray *reports;               /* struct report *, owned */
	GPtrArray *entries;               /* struct entry *, owned; in trace order */
	GHashTable *by_key;               /* the same by key; borrows */
	GHashTable *seen[ANALYSIS_COUNT]; /* by analysis, site pair: verdict + 1; NULL: not
	                                   * run yet */
	int entry;                        /* the selected one, or -1 */
	uint32_t pair[2];                 /* the selected finding's pair, or one asked for */
	bool asked;              /* selected by the user: new findings do not change it */
	bool exact;              /* the user named these two events, not two places */
	struct reached *reached; /* owned: the last answer, or NULL */
	guint awaited; /* selected race of the report (from 1) without a finding yet; 0: none */
	GArray *reported; /* struct reported_pair (tool_reports.h), owned: another tool's; or
	                     NULL */
	struct return_point *point; /* owned: of this run, from its exploration; or NULL */
	/* owned, by thread: its name and role, NUL, the same without the argument; NULL until
	 * asked for */
	char **threads;
	/* -- position */
	uint32_t event;
	unsigned frame;        /* of the call stack at the event, 0 the innermost */
	enum order_kind order; /* for clocks and "why" */
	struct order
	        *orders[2][ORDER_KIND_COUNT]; /* owned; made by jobs; [1]: with missing code */
	bool no_edc;                          /* EDC was not to be had by the specifications */
	/* -- uninstrumented code (missing_code.h) */
	struct missing_calls *calls; /* owned; NULL: none, or not known yet */
	struct trace *view;          /* owned: the trace with its must-orders, on demand */
	GPtrArray
	        *missing_reports; /* struct report *, owned: pairs decided with missing code */
	struct report *rdit;      /* borrowed from `reports`: rdit's, or NULL */
	bool missing, missing_complete; /* missing code counts (M); rdit was complete */
	uint8_t *hidden;                /* by thread: 0 or 1 */
	uint8_t *library;  /* by variable: is it a library's own? 0: not asked yet; fold.c */
	GArray *folds;     /* struct fold; they do not overlap */
	GArray *watches;   /* uint32_t variables */
	GArray *bookmarks; /* struct bookmark, by event */
	GArray *kept_bookmarks; /* the bookmarks as in the notes file */
	GPtrArray *breakpoints; /* struct breakpoint *, owned */
	unsigned next_breakpoint;
	char *wanted;     /* owned: last search, or NULL */
	char *notes_path; /* owned: where marks are kept */
};

struct session *session_new(struct trace *trace);
void session_free(struct session *s);
static inline bool session_has(const struct session *s, unsigned parts)
{
	return (s->ready & parts) == parts;
}

/* "T1 worker(&q)", escaped, or the name alone while the index is being built. Owned by the
 * session, until session_forget_roles (names of functions are shown otherwise). */
const char *session_thread(const struct session *s, uint32_t thread);
/* session_thread where it has at most `columns` columns, else without the argument, else the
 * name. */
const char *session_thread_within(const struct session *s, uint32_t thread, int columns);
/* The columns of the widest of these names. */
int session_threads_columns(const struct session *s, int most);
/* Append "T1 (worker(&q))", for sentences. */
void session_append_role(const struct session *s, uint32_t thread, GString *out);
void session_forget_roles(struct session *s);

/* Number (from 1) of the report's race that the entry is; 0: none. */
guint session_reported(const struct session *s, const struct entry *entry);
/* Select race `number` (from 1) of the report: the pair of the finding on its two places, once
 * it exists. False: the trace has no such pair of accesses. */
bool session_ask_reported(struct session *s, guint number);

/* The answer of `:reach`, while it is selected as a pair of its target alone; else NULL. */
const struct reached *session_reached(const struct session *s);
/* Keep the answer (the sequence without the target), and select it. */
void session_set_reached(struct session *s, uint32_t target, const GArray *sequence,
                         const char *condition);

/* -- findings ------------------------------------------------------------------------- */

/* Add a report: its findings become entries (with `settles` they replace candidates with the
 * same key), and the pairs seen by the analysis are recorded. */
/* Does the trace have calls of uninstrumented code? False until the index is built. */
static inline bool session_lacks_code(const struct session *s)
{
	return s->calls != NULL;
}
/* The order, with missing code when that counts; NULL: not made yet. */
static inline const struct order *session_order(const struct session *s, enum order_kind kind)
{
	return s->orders[s->missing][kind];
}
void session_add_report(struct session *s, struct report *report, enum analysis analysis,
                        bool settles);
/* Add a report of one exactly decided pair, which becomes the pair's entry. */
void session_settle(struct session *s, struct report *report);
/* Add a report with missing code: its verdicts hold while that counts; entries do not
 * change. */
void session_add_missing(struct session *s, struct report *report);
/* Options of the checker for a claim: rule 5 if a model is loaded. */
struct check_options session_check_options(const struct session *s, enum claim claim,
                                           struct semantics *storage);
/* The finding about session.pair, or NULL. */
const struct finding *session_finding(const struct session *s);
/* Verdict of an analysis on an entry: -1 not run, 0 not reported, else verdict + 1. */
int session_seen(const struct session *s, const struct entry *entry, enum analysis analysis);
struct entry *session_selected(const struct session *s); /* or NULL */
void session_select(struct session *s, int entry);
/* Select a pair that is no finding (commands `pair`, `why`). */
void session_ask(struct session *s, uint32_t first, uint32_t second);

/* Append "2 can happen, 3 happened, 1 open, 45 proved none", the number of findings by
 * verdict. */
/* Append the run's ending as a sentence without full stop, or briefly; nothing when it ended
 * well. */
void session_append_ending(const struct session *s, bool brief, GString *out);
void session_append_summary(const struct session *s, GString *out);

/* Marks and notes: JSON beside the trace, or in the XDG state folder when that is read-only. A
 * missing file is no error. Saving merges changes into the current file, so that two explorers
 * keep each other's marks; files of another format are refused. */
bool session_load_notes(struct session *s, struct error *error);
bool session_save_notes(struct session *s, struct error *error);

/* -- stepping ------------------------------------------------------------------------- */

/* `count` steps from `event` forward (direction 1) or back (-1), up to the last possible.
 * Returns the event reached (`event` itself if none). */
uint32_t session_step(const struct session *s, uint32_t event, enum step_kind kind,
                      int direction, uint64_t count);
/* The next event other than `event` whose variable, lock, location or function contains
 * `text`. */
uint32_t session_find(const struct session *s, uint32_t event, const char *text, int direction);
/* session_find in a sequence of events, from index `from` on: an index, or NONE. */
uint32_t session_find_in(const struct session *s, const GArray *events, guint from,
                         const char *text, int direction);
/* The event beside `event` in the trace, in its thread; `direction`: 1 or -1. NONE: at the end.
 */
uint32_t session_next_event(const struct session *s, uint32_t event, int direction);
uint32_t session_next_thread(const struct session *s, uint32_t event, int direction);
/* Run to the next breakpoint; NONE when none is hit. `hit` may be NULL. */
uint32_t session_run(struct session *s, uint32_t event, int direction, struct breakpoint **hit);
void breakpoint_free(struct breakpoint *b);

/* First variable of an access, or NONE. */
uint32_t session_variable(const struct session *s, uint32_t event);
/* The last access of `variable` at or before `event` with a known value, and the value (0:
 * unknown). */
struct known_value {
	uint32_t value, event;
};
struct known_value session_value(const struct session *s, uint32_t variable, uint32_t event);
/* Acquires of all locks held after `event` in all threads, ascending, so that each thread's
 * innermost lock is its last. By binary searches in the objects' lists. Empty until the index
 * is built. Caller frees. */
GArray *session_locks_held(const struct session *s, uint32_t event);
/* Parse an event: "12", "#12", "$" (the current); NONE and an error otherwise. */
uint32_t session_parse_event(const struct session *s, const char *text, struct error *error);
/* A variable by name, or NONE. */
uint32_t session_find_variable(const struct session *s, const char *name);
/* session_find_variable, also by an unambiguous name without the function ("q.pending" for
 * stack@main.main::q.pending). */
uint32_t session_find_short(const struct session *s, const char *name);
/* session_find_short, but a local variable of the selected frame comes first. */
uint32_t session_find_here(const struct session *s, const char *name);
/* Is it a local variable of the selected frame, and of its thread? */
bool session_is_local(const struct session *s, uint32_t variable);
/* The call stack at an event with inlined frames, innermost first: struct frame. Caller
 * frees. */
GArray *session_frames(const struct session *s, uint32_t event);

/* The index of the frame that is the event's place: its innermost in the user's own files. */
unsigned session_own_frame(const struct session *s, uint32_t event);
/* Renames the entries, when the setting of the user's own code has changed. */
void session_rename(struct session *s);

/* -- hiding and folding (fold.c) ----------------------------------------------------------- */

/* Fold the loop at `event`, or open the fold that contains it. */
enum fold_change session_fold(struct session *s, uint32_t event);
/* The fold with `event`, or NULL. */
const struct fold *session_fold_at(const struct session *s, uint32_t event);
/* Is the event hidden? Never the selected one, nor the representative of a fold. */
bool session_hides(const struct session *s, uint32_t event);
/* Is the event hidden as an access of a library's own variable, by the setting of the user's
 * own code? Not an event of a finding, nor one of a variable that is watched. */
bool session_hides_library(const struct session *s, uint32_t event);
/* own_code_is_library_variable, kept. */
bool session_is_library_variable(const struct session *s, uint32_t variable);
bool session_hides_any(const struct session *s);
void session_show_all(struct session *s);

/* -- conditions of breakpoints (engine/base/condition.h) --------------------------------- */

struct stop_condition;
/* Owned by the caller. NULL and `error` on a syntax error or unknown name. */
struct stop_condition *stop_condition_new(const struct session *s, const char *text,
                                          struct error *error);
void stop_condition_free(struct stop_condition *stop);
/* Its value after `event`; unknown when it depends on an unknown one, whose variable is in
 * `missing` then (NONE: a division by 0). */
struct condition_value stop_condition_value(const struct session *s,
                                            const struct stop_condition *stop, uint32_t event,
                                            uint32_t *missing);
/* Does it hold after `event`? False when that depends on an unknown value. */
bool stop_condition_holds(const struct session *s, const struct stop_condition *stop,
                          uint32_t event);

/* Its variables, by its names: uint32_t; NONE for a name that is no variable. Caller frees. */
GArray *stop_condition_variables(const struct stop_condition *stop);
/* Does it hold for a thread that is about to do `event`, when the variables have these values
 * (indices of trace.values, 0: unknown; in the order of stop_condition_variables)? Callable
 * from any thread. */
enum truth stop_condition_holds_with(const struct session *s, const struct stop_condition *stop,
                                     uint32_t event, const uint32_t *values);

/* -- text ---------------------------------------------------------------------------------- */

/* "lock m", "balance 100 → 150", "balance reads 100". */
void describe_event(const struct session *s, uint32_t event, GString *out);
/* Of a thread without further events after `last` (NONE: it has none): "has ended", unless the
 * end of the run may have cut it off. A constant. */
const char *describe_no_more(const struct trace *t, uint32_t last);
/* describe_event in another schedule, where the variable had value `old` (0: unknown). */
void describe_event_after(const struct session *s, uint32_t event, uint32_t old, GString *out);
/* Append " It needs weak memory: ..." about a race of a run that is not sequentially
 * consistent. */
void explain_memory(const struct session *s, const struct finding *f, GString *out);
/* The operand of an event, "x", "m", "T2", in the names that people write (own_code.h). */
void describe_operand(const struct trace *t, uint32_t event, GString *out);
/* The lock that an acquire has locked, "m", or "m for reading". */
void describe_lock(const struct trace *t, uint32_t acquire, GString *out);
/* An event as an action in the present tense, "reads x", "frees *p"; false, and nothing, for
 * operations that are neither accesses, nor frees, nor acquisitions. */
bool describe_action(const struct trace *t, uint32_t event, GString *out);
/* "12 T1 lock m" */
void describe_numbered(const struct session *s, uint32_t event, GString *out);
/* "m, l": the locks held by the event's thread; empty when none. */
void describe_locks(const struct session *s, uint32_t event, GString *out);
/* "bank.c:31", or the recorded name of the place; nothing as own_code_place_name. */
void describe_line(const struct trace *t, uint32_t event, GString *out);
/* "T1 is about to write q.head at q.c:12"; `same`: calls the operand "it". */
void describe_about_to(const struct session *s, uint32_t event, bool same, GString *out);
/* "T1 waits at q.c:12 for lock m, which T2 holds" */
void describe_wait(const struct session *s, const struct wait *wait, GString *out);
/* Append a lock held by both threads at these events, by one for writing; false: none. */
bool describe_common_lock(const struct session *s, uint32_t first, uint32_t second,
                          GString *out);
/* "deposit bank.c:31", or the location's name; "event 7" without one. */
void describe_place(const struct session *s, uint32_t event, GString *out);
/* Sentences on a finding: its meaning, and the analyses that report it. */
void explain_entry(const struct session *s, const struct entry *entry, GString *out);
/* A step of an order's chain, as a reason. */
void describe_step(const struct session *s, const struct step *step, GString *out);
/* The step's rule: "lock m", "program order". */
void describe_rule(const struct session *s, const struct step *step, GString *out);
/* "12,345" */
const char *grouped(uint64_t number, char buffer[32]);

void session_reached_free(struct reached *reached);

/* Is the finding still open? A candidate that missing code may order cannot be settled. */
static inline bool finding_is_open(const struct finding *f)
{
	return f->verdict == VERDICT_UNKNOWN ||
	       (f->verdict == VERDICT_CANDIDATE && f->missing == NULL);
}

#endif
