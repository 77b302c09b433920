/*
 * finding.h - what detectors make and commands and views consume: findings with their
 * verdict and evidence, in a report.  Data only; printing is elsewhere.
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
	KIND(STUCK, \
	     "stuck") /* somebody waits for ever, and no circle of locks is the cause */ \
	KIND(LOCK_MISUSE, "lock-misuse") \
	KIND(CRASH, "crash")         /* the run was ended by a signal */ \
	KIND(ASSERTION, "assertion") /* an assertion of the program, or --check, failed */ \
	KIND(EXIT, "exit")           /* the run ended with an exit status other than 0 */
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

/*
 * Why something is ordered, or impossible: steps `from -> to`, each with the rule that
 * gives it.  A proof's steps form a cycle or are the constraints of the solver's core.
 */
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
	RULE(ASSUMED, "asked for") /* what the pair itself asks: both next */
enum step_rule {
#define RULE(name, text) STEP_##name,
	STEP_RULES(RULE)
#undef RULE
};
const char *step_rule_text(enum step_rule rule);

struct step {
	uint32_t from, to; /* events */
	uint32_t rule;     /* enum step_rule */
	/* MUST: enum must_rule; LOCK and sections: the object; CLOSURE_WRITE: the event that
	 * reads; CLOSURE_READ, NOT_BETWEEN: the write that is seen (NONE: the initial value);
	 * else NONE */
	uint32_t detail;
};
/* Is the step there for a read, that has to see a write (NONE: the initial value)? */
bool step_reading(const struct step *step, uint32_t *read, uint32_t *write);
struct path {          /* _init by zeroing; path_release */
	GArray *steps; /* struct step, in order; NULL when there is none */
};
void path_add(struct path *path, uint32_t from, uint32_t to, enum step_rule rule,
              uint32_t detail);
void path_release(struct path *path);

/* Evidence of an impossibility. */
struct proof {
	const char *method; /* "cone", "closure", "solver", "must-order"; static */
	const char *given;  /* "same pairing", or NULL; static */
	struct path cycle;  /* the cycle, or the core of the solver */
};

/* A read, plain or against a plain write, that a proof of impossibility rests on and that is
 * itself in a race: were it to read something else, the pair might race. */
struct racy_read {
	uint32_t read, write; /* write: the one that it sees */
};

struct cycle_unit { /* of an atomic-set violation */
	char *unit; /* owned: the unit's name, or "event 7" */
	uint32_t thread, begin, end;
};
struct cycle_edge {
	uint32_t from, to; /* indexes of units */
	uint32_t variable;
	uint32_t events[2];
	uint32_t set; /* index into the finding's sets */
};

/* What a thread waits for that cannot go on; word in JSON and on the screen. */
#define WAITS_FOR(WAIT) \
	WAIT(LOCK, "lock") \
	WAIT(CONDITION, "condition") \
	WAIT(SEMAPHORE, "semaphore") \
	WAIT(JOIN, "join") \
	WAIT(BARRIER, "barrier")
enum wait_for {
#define WAIT(name, word) WAIT_##name,
	WAITS_FOR(WAIT)
#undef WAIT
};
const char *wait_for_word(enum wait_for what);
struct wait {
	uint32_t event; /* a want, or a request that can block so */
	enum wait_for what;
	uint32_t holder; /* of the lock: a thread; or NONE */
};

struct finding {
	enum finding_kind kind;
	enum verdict verdict;
	uint32_t first, second; /* events, first < second in trace order */
	uint64_t count;         /* pairs (or repetitions) that it stands for */
	bool counted_all;       /* count is of all, not of those that the state still saw */
	GArray *variables;      /* uint32_t: racy variables, the first pair's first; or NULL */
	GArray *witness;        /* uint32_t: the whole sequence, the pair last; or NULL */
	struct proof *proof;    /* VERDICT_IMPOSSIBLE; or NULL */
	GArray *behind;         /* struct racy_read, of the proof; or NULL */
	const char *budget; /* VERDICT_UNKNOWN: which ran out: "pair", "total"; or why there is
	                     * no answer: "incomplete", "lenient", "filtered",
	                     * "inexact"; static; or NULL */
	const char *note;   /* static, or NULL: "visible only as a C11 race" */
	const char *by;     /* the analysis that settled it; static, or NULL */
	char *story; /* CRASH, ASSERTION, EXIT: what the run did, as a sentence; owned, or NULL
	              */
	char *missing; /* which calls into code that is not instrumented may order it; owned, or
	                * NULL: none do */
	/* commutativity */
	char *methods[2]; /* owned, or NULL: "put(\"a.com\", c1) / nil" */
	char *condition;  /* owned, or NULL */
	char *points[2];  /* owned, or NULL: clashing access points */
	/* atomic sets */
	GPtrArray *sets; /* char *, owned */
	bool mixed;
	char grade;    /* 'A', 'B', 'C', or 0 */
	GArray *units; /* struct cycle_unit */
	GArray *edges; /* struct cycle_edge */
	/* deadlocks: the requests, one for each thread on the cycle */
	GArray *requests; /* uint32_t: acquire events, or wants where it happened */
	GArray *waits;    /* struct wait, those of the requests first; or NULL */
};
/* "T1 waits for lock m, held by T2" */
void append_wait(const struct trace *t, const struct wait *wait, GString *out);
/* A finding owned by the caller; finding_free. */
struct finding *finding_new(enum finding_kind kind, uint32_t first, uint32_t second);
void finding_free(struct finding *finding);
/* What a witness claims something of: the pair, a deadlock's requests, the beginnings of a
 * cycle's units.  The caller frees it. */
GArray *finding_claimed(const struct finding *finding);
struct proof *proof_new(const char *method);
void proof_free(struct proof *proof);

struct report {
	const struct trace *trace; /* borrowed */
	const char *analysis;      /* static */
	GPtrArray *findings;       /* struct finding *, owned; by first, then second */
	bool complete;             /* the analysis can say that it has missed nothing */
	bool budget_spent;         /* exit status 3 unless something was found */
	uint64_t candidates;       /* how many were looked at */
	GPtrArray *notes;          /* char *, owned: sentences for the user */
};
struct report *report_new(const struct trace *trace, const char *analysis);
void report_free(struct report *report);
void report_add(struct report *report, struct finding *finding); /* takes it over */
/* Takes back what this trace gives no right to claim (see finding_limit), with a note. */
void report_limit(struct report *report);
/* The same, then sorts the findings by their events.  Every detector ends with one of them. */
void report_finish(struct report *report);
/* Sorts the findings by their events, where some were added to a finished report. */
void report_sort(struct report *report);
/* Where --lenient took locks from their holders, a critical section's end is not known, and
 * an impossibility that may rest on locks is no proof; in a filtered trace none is, as what
 * was dropped observed and was observed.  Such a finding becomes unknown; true when so. */
bool finding_limit(const struct trace *trace, struct finding *finding);
/* Why a finding is unknown, as a sentence without its full stop. */
const char *budget_text(const char *budget);
void report_note(struct report *report, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
