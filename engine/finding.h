/*
 * finding.h - findings with verdict and evidence, in a report: the results of detectors, used
 * by commands and views. Data only; printing is elsewhere.
 */
#ifndef HEDDLE_FINDING_H
#define HEDDLE_FINDING_H

#include "engine/trace/trace.h"

/* enumerator, word in JSON and on the screen */
#define FINDING_KINDS(KIND) \
	KIND(DATA_RACE, "data-race") \
	KIND(COMMUTATIVITY_RACE, "commutativity-race") \
	KIND(ORDER_VIOLATION, "order-violation") \
	KIND(USE_AFTER_FREE, "use-after-free") \
	KIND(ATOMIC_SET_VIOLATION, "atomic-set-violation") \
	KIND(DEADLOCK, "deadlock") \
	KIND(STUCK, "stuck") /* a thread waits forever, and no cycle of locks is the cause */ \
	KIND(LOCK_MISUSE, "lock-misuse") \
	KIND(UNINITIALISED_READ, "uninitialised-read") \
	KIND(CRASH, "crash")         /* ended by a signal */ \
	KIND(ASSERTION, "assertion") /* a failed assertion or --check */ \
	KIND(EXIT, "exit")           /* exit status other than 0 */
#define VERDICTS(VERDICT) \
	VERDICT(CANDIDATE, "candidate") \
	VERDICT(RACE, "race") \
	VERDICT(IMPOSSIBLE, "impossible") \
	VERDICT(UNKNOWN, "unknown") \
	VERDICT(HAPPENED, "happened")

enum finding_kind {
#define KIND(name, word) FINDING_##name,
	FINDING_KINDS(KIND)
#undef KIND
	        FINDING_KIND_COUNT
};
enum verdict {
#define VERDICT(name, word) VERDICT_##name,
	VERDICTS(VERDICT)
#undef VERDICT
};
const char *finding_kind_word(enum finding_kind kind);
const char *verdict_word(enum verdict verdict);
/* The same in a heading: only races are called "race"; a checked schedule of another kind
 * "can happen". */
const char *finding_verdict_text(enum finding_kind kind, enum verdict verdict);
/* The noun for a finding of the kind in a sentence: "race", "deadlock", "violation". */
const char *finding_kind_noun(enum finding_kind kind);

/* Why events are ordered, or a reordering is impossible: steps `from -> to` with their rules. A
 * proof's steps form a cycle, or are the constraints of the solver's unsatisfiable core. */
#define STEP_RULES(RULE) \
	RULE(PROGRAM, "program order") \
	RULE(MUST, "must-order") \
	RULE(LOCK, "lock") /* rel before acq, HB */ \
	RULE(OBSERVATION, "reads from") \
	RULE(SYNCHRONISES, "synchronises with") \
	RULE(CONFLICT_SECTION, "conflicting critical sections")   /* rule (a) */ \
	RULE(ORDERED_SECTION, "ordered critical sections")        /* rule (b) */ \
	RULE(COMPOSED, "composed")                                /* rule (c) */ \
	RULE(CLOSURE_READ, "another write may not come between")  /* a read before it */ \
	RULE(CLOSURE_WRITE, "another write may not come between") /* it before the write */ \
	RULE(NOT_BETWEEN, "another write may not come between")   /* it, of the read */ \
	RULE(CLOSURE_LOCK, "critical sections may not overlap") \
	RULE(OPEN_SECTION, "closed before an open critical section") \
	RULE(TRACE_ORDER, "kept as recorded") \
	RULE(CONSTRAINT, "constraint") \
	RULE(ASSUMED, \
	     "assumed: this is the pair") /* the assumption that both of the pair are next */
enum step_rule {
#define RULE(name, text) STEP_##name,
	STEP_RULES(RULE)
#undef RULE
};
const char *step_rule_text(enum step_rule rule);

struct step {
	uint32_t from, to; /* events */
	uint32_t rule;     /* enum step_rule */
	/* MUST: enum must_rule; LOCK and sections: the object; CLOSURE_WRITE: the reading
	 * event; CLOSURE_READ, NOT_BETWEEN: the write read from (NONE: the initial value); else
	 * NONE */
	uint32_t detail;
};
/* Is the step due to a read that must keep its write (NONE: the initial value)? */
bool step_reading(const struct step *step, uint32_t *read, uint32_t *write);
struct path {          /* initialise by zero; path_release */
	GArray *steps; /* struct step, in order; NULL: no path */
};
void path_add(struct path *path, uint32_t from, uint32_t to, enum step_rule rule,
              uint32_t detail);
void path_release(struct path *path);

/* Evidence of an impossibility: enumerator, word in JSON and in sentences. */
#define PROOF_METHODS(METHOD) \
	METHOD(CONE, "cone") /* one event of the pair is in the causal past of the other */ \
	METHOD(LOCK, "lock") /* both hold it */ \
	METHOD(CLOSURE, "closure") /* the closure of their causal past has a cycle */ \
	METHOD(SOLVER, "solver")   /* the constraints have no solution */
enum proof_method {
#define METHOD(name, word) PROOF_##name,
	PROOF_METHODS(METHOD)
#undef METHOD
};
const char *proof_method_word(enum proof_method method);
struct proof {
	enum proof_method method;
	bool same_pairing; /* it holds for the recorded pairing of waits, posts, barriers
	                    * only */
	struct path cycle; /* the cycle, or the solver's unsatisfiable core */
};

/* Why a finding is unknown: enumerator, word in JSON, explanation without full stop. */
#define OPEN_REASONS(REASON) \
	REASON(PAIR, "pair", "the time for one pair ran out (--budget)") \
	REASON(TOTAL, "total", "the time for all pairs ran out (--budget)") \
	REASON(CANDIDATES, "candidates", "the time ran out (--budget)") \
	REASON(INCOMPLETE, "incomplete", "the analysis found neither a witness nor a proof") \
	REASON(LENIENT, "lenient", \
	       "locks changed holders without a release, so no proof holds") \
	REASON(FILTERED, "filtered", "the trace was filtered, so no proof holds") \
	REASON(INEXACT, "inexact", \
	       "the order of the recorded accesses is approximate, so no proof holds")
enum open_reason {
	OPEN_NO, /* it is not unknown, or has no special reason */
#define REASON(name, word, text) OPEN_##name,
	OPEN_REASONS(REASON)
#undef REASON
};
/* NULL for OPEN_NO. */
const char *open_reason_word(enum open_reason reason);
const char *open_reason_text(enum open_reason reason);
/* OPEN_NO for an unknown word, or NULL. */
enum open_reason open_reason_of(const char *word);

/* A read, not both atomic with its write, that a proof of impossibility depends on and that
 * races itself: if it read another write, the pair might race. */
struct racy_read {
	uint32_t read, write; /* write: the one read in the trace */
};

/* A unit on the cycle of an atomic-set violation. */
struct cycle_unit {
	char *unit; /* owned: the unit's name, or "event 7" */
	uint32_t thread, begin, end;
};
struct cycle_edge {
	uint32_t from, to; /* indices of units */
	uint32_t variable;
	uint32_t events[2];
	uint32_t set; /* index of the finding's sets */
};

/* The kind of object that a blocked thread waits for; word in JSON and on the screen. */
#define WAITS_FOR(WAIT) \
	WAIT(LOCK, "lock") \
	WAIT(CONDITION, "condition") \
	WAIT(SEMAPHORE, "semaphore") \
	WAIT(JOIN, "join") \
	WAIT(BARRIER, "barrier") \
	WAIT(CHANNEL, "channel") \
	WAIT(FUTEX, "futex") /* a word, by a system call of the program's own */
enum wait_for {
#define WAIT(name, word) WAIT_##name,
	WAITS_FOR(WAIT)
#undef WAIT
};
const char *wait_for_word(enum wait_for what);
struct wait {
	uint32_t event; /* the thread's want, or its request that can block */
	enum wait_for what;
	uint32_t holder; /* thread that holds the lock; or NONE */
};

/* Two exact sites between which the two places of a race race, and a pair of events there. */
struct exact_pair {
	uint32_t sites[2];  /* the one at the lower place first */
	uint32_t events[2]; /* the earlier one first */
};
enum { EXACT_MOST = 64 };

struct finding {
	enum finding_kind kind;
	enum verdict verdict;
	uint32_t first, second; /* events, first < second in trace order */
	uint64_t count;         /* number of pairs (or repetitions) represented */
	bool counted_all;       /* count is exact, not a lower bound */
	GArray *variables;      /* uint32_t: racy variables, the first pair's first; or NULL */
	/* struct exact_pair, of a data race in a library's code: those seen between its two
	 * places (own_site.h), no more than EXACT_MOST; or NULL. */
	GArray *exact;
	GArray *witness; /* uint32_t: the complete sequence, the pair last; or NULL */
	/* Number of recorded events that the witness begins with and the array leaves out:
	 * between rungs of the ladder (race_tools.leaves); 0 in reports. */
	uint32_t recorded;
	/* Also there: the events are of the whole trace, not of the projection. */
	bool lifted;
	struct proof *proof;   /* VERDICT_IMPOSSIBLE; or NULL */
	GArray *behind;        /* struct racy_read, of the proof; or NULL */
	enum open_reason open; /* of VERDICT_UNKNOWN */
	const char *note;      /* static, or NULL: "visible only as a C11 race" */
	const char *by;        /* the deciding analysis; static, or NULL */
	/* Of a data race with a witness: the strongest memory model that has its values ("sc",
	 * "tso", "rc11"; static); NULL: not known. */
	const char *memory;
	char *story;   /* CRASH, ASSERTION, EXIT: the failure as a sentence; owned, or NULL */
	char *missing; /* calls of uninstrumented code that may order it, as text; owned, or
	                * NULL */
	/* -- commutativity */
	char *methods[2]; /* owned, or NULL: "put(\"a.com\", c1) / nil" */
	char *condition;  /* owned, or NULL */
	char *points[2];  /* owned, or NULL: conflicting access points */
	/* -- atomic sets */
	GPtrArray *sets; /* char *, owned */
	bool mixed;
	char grade;    /* 'A', 'B', 'C', or 0 */
	GArray *units; /* struct cycle_unit */
	GArray *edges; /* struct cycle_edge */
	/* -- deadlocks: the requests, one for each thread on the cycle */
	GArray *requests; /* uint32_t: acquire events, or wants where it happened */
	GArray *waits;    /* struct wait, those of the requests first; or NULL */
};
/* The lock, or other object, that a thread waits for: "m". */
void append_waited(const struct trace *t, const struct wait *wait, GString *out);
/* "T1 waits for lock m, held by T2". `f`: the finding of the wait, whose witness is the
 * schedule where it is predicted. */
void append_wait(const struct trace *t, const struct finding *f, const struct wait *wait,
                 GString *out);
/* A finding owned by the caller; finding_free. */
struct finding *finding_new(enum finding_kind kind, uint32_t first, uint32_t second);
/* Adds a pair of events of the finding's places to `exact`, if it is one in a library's code
 * and at other sites than those there. */
void finding_add_exact(const struct trace *t, struct finding *finding, uint32_t e1,
                       uint32_t e2);
void finding_add_pair(struct finding *finding, const struct exact_pair *pair);
static inline struct exact_pair *finding_exact(const struct finding *finding, guint i)
{
	return &g_array_index(finding->exact, struct exact_pair, i);
}
/* The names of the sites of the i-th pair of `exact`, the first at the place of `first`. */
void finding_exact_names(const struct trace *t, const struct finding *finding, guint i,
                         const char *names[2]);
/* Insert the recorded events that the witness begins with. */
void finding_complete(struct finding *finding);
void finding_free(struct finding *finding);
/* Events that a witness must show: the pair, a deadlock's requests, the begins of a cycle's
 * units. The caller frees it. */
GArray *finding_claimed(const struct finding *finding);
struct proof *proof_new(enum proof_method method);
void proof_free(struct proof *proof);

struct report {
	const struct trace *trace; /* borrowed */
	const char *analysis;      /* static */
	GPtrArray *findings;       /* struct finding *, owned; by first, then second */
	bool complete;             /* no finding of the kind can be missing */
	char *open_because;  /* why not, the first reason that was given, owned; or NULL */
	bool open_listed;    /* not complete, only because of its unknown findings */
	bool budget_spent;   /* exit status 3 unless the report has findings */
	uint64_t candidates; /* number of candidates examined */
	GPtrArray *notes;    /* char *, owned: sentences for the user */
	/* Pairs that no synchronisation orders and that are no findings, as only the values
	 * that racy reads saw keep them apart: struct finding *, owned; or NULL. */
	GPtrArray *behind;
	/* The kind of findings that `complete` excludes beyond these, where the analysis's
	 * name does not say: a noun, static; or NULL. */
	const char *scope;
	/* It is only about reorderings of which REPORT_SAME_PAIRING is true, and others are
	 * possible. */
	bool same_pairing;
};
#define REPORT_SAME_PAIRING \
	"each wait ends by the post, signal, arrivals, message or once-function that ended it"
struct report *report_new(const struct trace *trace, const char *analysis);
void report_free(struct report *report);
void report_add(struct report *report, struct finding *finding); /* takes ownership */
/* Mark the report incomplete: findings may be missing. The last line of its text gives the
 * reason of the first call. */
void report_open(struct report *report, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The reason for the last line; owned, NULL if the report is complete or no reason was
 * given. */
char *report_why_open(const struct report *report);
/* Withdraw claims that the trace does not justify (finding_limit), with a note. */
void report_limit(struct report *report);
/* report_limit, then sorts findings by events. Every detector ends with either. */
void report_finish(struct report *report);
/* Sort findings by events, after additions to a finished report. */
void report_sort(struct report *report);
/* With locks taken from their holders by --lenient the ends of critical sections are unknown,
 * so proofs that may depend on locks do not count; in a filtered trace none do, as dropped
 * events may have observed or been observed. The finding then becomes unknown; true when so. */
bool finding_limit(const struct trace *trace, struct finding *finding);
void report_note(struct report *report, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
