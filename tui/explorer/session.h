/*
 * session.h - what the explorer knows while it is open: the trace, the findings with the
 * reader's marks, the selected event and pair, watches, bookmarks; and how to step.
 *
 * No drawing and no keys here, so that views, commands and scripts share it.  Only the
 * screen's thread touches a session; jobs hand their results over through job.h.
 */
#ifndef HEDDLE_SESSION_H
#define HEDDLE_SESSION_H

#include "engine/commute/model.h"
#include "engine/finding.h"
#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/predict/predict.h"
#include "engine/trace/index.h"
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

/* A finding as a line of the list. */
struct entry {
	struct finding *finding; /* borrowed from one of session.reports */
	char *key;               /* owned: kind, places and variable; survives re-recording */
	uint32_t sites[2]; /* ascending; NONE where the finding is not a pair of accesses */
	char *where, *variable; /* owned, for people */
	char *lines;            /* owned: `where` without the functions */
	enum triage triage;
	char *note; /* owned, or NULL */
	/* As the notes file has them; changes of the two above are what is written to it. */
	enum triage kept_triage;
	char *kept_note; /* owned, or NULL */
};

struct bookmark {
	uint32_t event;
	char *name; /* owned */
};

struct breakpoint {
	unsigned number;
	char *text;        /* owned: as it was given */
	GArray *sites;     /* uint32_t: locations it stands at; NULL for a watchpoint */
	uint32_t variable; /* watchpoint, or NONE */
	uint32_t function; /* it stops where this is entered (a string); or NONE */
	bool whole;        /* sites are all of a function, which is never seen to be entered */
	struct stop_condition *condition; /* owned, or NULL */
	bool once;
};

/* The middle rounds of a loop, put away: events of one thread, shown as one row. */
struct fold {
	uint32_t thread;
	uint32_t first, last;    /* events */
	uint64_t rounds, events; /* that it stands for */
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
	STEP_READER
};

struct session {
	struct trace *trace; /* owned */
	char *executable;    /* owned; --exe, or NULL */
	struct specs *specs; /* owned: the shipped ones and --spec; or NULL */
	struct model *model; /* owned: the trace's invocations under the specs, once made */
	unsigned ready;      /* index parts that the screen may use */
	/* findings */
	GPtrArray *reports;               /* struct report *, owned */
	GPtrArray *entries;               /* struct entry *, owned; all, by place in the run */
	GHashTable *by_key;               /* the same by key; borrows */
	GHashTable *seen[ANALYSIS_COUNT]; /* by site pair: verdict + 1; NULL: not run yet */
	int entry;                        /* the selected one, or -1 */
	uint32_t pair[2]; /* the pair in question: the selected finding's, or asked for */
	bool asked;       /* the reader chose: findings that come do not change the selection */
	bool exact;       /* the reader named these two events, not a finding's two places */
	guint awaited;    /* race of the report, from 1, that has no finding yet; 0: none */
	GArray *reported; /* struct reported_pair (import.h), owned: another tool's; or NULL */
	/* where one is */
	uint32_t event;
	unsigned frame;        /* of the call stack at the event, 0 the innermost */
	enum order_kind order; /* for clocks and "why" */
	struct order *orders[2][ORDER_KIND_COUNT]; /* owned; made by jobs; [1]: of `view` */
	/* code that was not recorded (missing_code.h) */
	struct missing_calls *calls; /* owned: where it ran; NULL: nowhere, or not known yet */
	struct trace *view; /* owned: the trace with its must-orders, once it was asked for */
	GPtrArray *
	        missing_reports; /* struct report *, owned: of pairs, decided where it counts */
	struct report *rdit;     /* borrowed from `reports`: what rdit found, or NULL */
	bool missing, missing_complete; /* it counts (M); rdit has missed nothing */
	uint8_t *hidden;                /* by thread: 0 or 1 */
	GArray *folds;                  /* struct fold; they do not overlap */
	GArray *watches;                /* uint32_t variables */
	GArray *bookmarks;              /* struct bookmark, by event */
	GArray *kept_bookmarks;         /* the same as the notes file has them */
	GPtrArray *breakpoints;         /* struct breakpoint *, owned */
	unsigned next_breakpoint;
	char *wanted;     /* owned: the last search, or NULL */
	char *notes_path; /* owned: where marks are kept */
};

struct session *session_new(struct trace *trace);
void session_free(struct session *s);
static inline bool session_has(const struct session *s, unsigned parts)
{
	return (s->ready & parts) == parts;
}

/* The race of the other tool's report that this entry is, counted from 1; 0: none. */
guint session_reported(const struct session *s, const struct entry *entry);
/* Ask about race `number` (from 1) of the report.  A report names two places, so the pair is
 * that of the finding about them, as soon as there is one, and follows its verdict.  False: the
 * trace has no pair of accesses there. */
bool session_ask_reported(struct session *s, guint number);

/* -- findings ------------------------------------------------------------------------- */

/* Take a report over: its findings become entries (those of `settles` replace the
 * candidates of the same key), and it is noted which pairs the analysis sees. */
/* Are there calls whose inside was not recorded?  False while the index is being built. */
static inline bool session_lacks_code(const struct session *s)
{
	return s->calls != NULL;
}
/* The order, made with missing code where that counts; NULL: not made yet. */
static inline const struct order *session_order(const struct session *s, enum order_kind kind)
{
	return s->orders[s->missing][kind];
}
void session_add_report(struct session *s, struct report *report, enum analysis analysis,
                        bool settles);
/* Take over a report of one pair that was decided exactly: it becomes the pair's entry. */
void session_settle(struct session *s, struct report *report);
/* Take over a report that takes missing code into account: its findings answer for their pairs
 * while that counts, and no entry changes. */
void session_add_missing(struct session *s, struct report *report);
/* What a finding claims, for the checker and for witness files. */
enum claim session_claim(const struct finding *f);
/* What the checker needs to know for a claim: rule 5, where the model is there. */
struct check_options session_check_options(const struct session *s, enum claim claim,
                                           struct semantics *storage);
/* The finding about session.pair, or NULL. */
const struct finding *session_finding(const struct session *s);
/* The verdict of an analysis on an entry: -1 has not run, 0 silent, else verdict + 1. */
int session_seen(const struct session *s, const struct entry *entry, enum analysis analysis);
struct entry *session_selected(const struct session *s); /* or NULL */
void session_select(struct session *s, int entry);
/* Ask about a pair that is no finding (commands `pair`, `why`). */
void session_ask(struct session *s, uint32_t first, uint32_t second);

/* "2 can happen, 3 happened, 1 open, 45 proved none": how many findings have which verdict. */
/* How the run ended, as a sentence without its full stop or in a word or two; nothing when it
 * ended well. */
void session_append_ending(const struct session *s, bool brief, GString *out);
void session_append_summary(const struct session *s, GString *out);

/* Marks and notes: JSON beside the trace, or in the XDG state folder when that is not
 * writable.  Loading a file that is not there is no error.  Saving writes what has changed
 * here into what the file has by then, so that two explorers of one trace keep each other's
 * marks; a file that is no notes of ours is refused and left as it is. */
bool session_load_notes(struct session *s, struct error *error);
bool session_save_notes(struct session *s, struct error *error);

/* -- stepping ------------------------------------------------------------------------- */

/* `count` steps from `event` forward (direction 1) or back (-1); stops at the last that
 * there is.  Returns the event reached (`event` itself when there is none). */
uint32_t session_step(const struct session *s, uint32_t event, enum step_kind kind,
                      int direction, uint64_t count);
/* The next event (not `event`) whose variable, lock, location or function has `text`. */
uint32_t session_find(const struct session *s, uint32_t event, const char *text, int direction);
/* The same in a sequence of events, from index `from` on: an index, or NONE. */
uint32_t session_find_in(const struct session *s, const GArray *events, guint from,
                         const char *text, int direction);
/* Run to the next breakpoint; NONE and stays when none is met.  `hit` may be NULL. */
uint32_t session_run(struct session *s, uint32_t event, int direction, struct breakpoint **hit);
void breakpoint_free(struct breakpoint *b);

/* The variable of an access (the first it covers), or NONE. */
uint32_t session_variable(const struct session *s, uint32_t event);
/* The last access of `variable` at or before `event` that tells its value, and the value
 * (0 unknown). */
struct known_value {
	uint32_t value, event;
};
struct known_value session_value(const struct session *s, uint32_t variable, uint32_t event);
/* The acquires of all locks that are held after `event`, by all threads, ascending (so
 * that each thread's innermost lock is its last).  Binary searches in the objects' lists: no
 * walk through the threads.  Empty while the index is being built.  Caller frees. */
GArray *session_locks_held(const struct session *s, uint32_t event);
/* Parse an event: "12", "#12", "$" (the current), "a'" no; NONE and an error otherwise. */
uint32_t session_parse_event(const struct session *s, const char *text, struct error *error);
/* A variable by its name; NONE when there is none. */
uint32_t session_find_variable(const struct session *s, const char *name);
/* The same, also by its name without the function ("q.pending" is stack@main.main::q.pending)
 * where only one has it. */
uint32_t session_find_short(const struct session *s, const char *name);

/* The call stack at an event, innermost first: struct frame. The frames that the compiler
 * inlined are among them. Caller frees. */
GArray *session_frames(const struct session *s, uint32_t event);

/* -- putting away (fold.c) --------------------------------------------------------------- */

/* Fold the loop that comes round at `event`, or open the fold that it lies in. */
enum fold_change session_fold(struct session *s, uint32_t event);
/* The fold that `event` lies in, or NULL. */
const struct fold *session_fold_at(const struct session *s, uint32_t event);
/* Is it put away?  Never the selected event, nor the one that stands for a fold. */
bool session_hides(const struct session *s, uint32_t event);
bool session_hides_any(const struct session *s);
void session_show_all(struct session *s);

/* -- conditions of breakpoints (engine/base/condition.h) --------------------------------- */

struct stop_condition;
/* Owned by the caller.  NULL and `error` if it cannot be read or names what the trace has not.
 */
struct stop_condition *stop_condition_new(const struct session *s, const char *text,
                                          struct error *error);
void stop_condition_free(struct stop_condition *stop);
/* Does it hold after `event`?  Not if an unknown value decides it. */
bool stop_condition_holds(const struct session *s, const struct stop_condition *stop,
                          uint32_t event);

/* -- words ---------------------------------------------------------------------------- */

/* "lock m", "balance 100 → 150", "balance reads 100": the event for people. */
void describe_event(const struct session *s, uint32_t event, GString *out);
/* The same as it is in another schedule, where `old` was there before it (0: not known). */
void describe_event_after(const struct session *s, uint32_t event, uint32_t old, GString *out);
/* "m, l": the locks that the event's thread holds there; nothing when there are none. */
void describe_locks(const struct session *s, uint32_t event, GString *out);
/* A lock that both threads hold at these events, one of them for writing; false: there is none.
 */
bool describe_common_lock(const struct session *s, uint32_t first, uint32_t second,
                          GString *out);
/* "12 T1 lock m" */
void describe_numbered(const struct session *s, uint32_t event, GString *out);
/* A value: as the trace has it, large integers in hexadecimal. */
void describe_value(const struct trace *t, uint32_t value, GString *out);
/* "deposit bank.c:31", or the opaque location; "event 7" when there is none. */
void describe_place(const struct session *s, uint32_t event, GString *out);
/* Sentences about a finding: what happens, and who sees it. */
void explain_entry(const struct session *s, const struct entry *entry, GString *out);
/* One step of an order's chain, as a reason. */
void describe_step(const struct session *s, const struct step *step, GString *out);
/* Its rule alone: "lock m", "program order". */
void describe_rule(const struct session *s, const struct step *step, GString *out);
/* "12,345" */
const char *grouped(uint64_t number, char buffer[32]);
/* The recorded note of that key ("seed"), or NULL. */
const char *session_note(const struct session *s, const char *key);

#endif
