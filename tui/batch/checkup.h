/*
 * checkup.h - what `heddle check` gathers: the runs it made, one list of findings of every
 * kind, and what was covered.  cmd_check.c is the command; checkup_runs.c makes runs,
 * checkup_analyse.c looks at their traces, checkup_list.c keeps the list, checkup_coverage.c
 * says what the answer stands on, checkup_words.c has the sentences, checkup_print.c prints.
 */
#ifndef HEDDLE_CHECKUP_H
#define HEDDLE_CHECKUP_H

#include "engine/explore/explore.h"
#include "engine/harm/harm.h"
#include "engine/record/session.h"
#include "tui/batch/places.h"
#include "tui/batch/report_file.h"

/* The options of the commands that make a checkup. */
#define CHECKUP_OPTIONS \
	{ "budget", "SECONDS", "for everything (default 60; 0: no limit)", 0 }, \
	        { "runs", "N", "how many recordings (default 12)", 'n' }, \
	        { "check", "CONDITION", "must hold at the end: 'x == 3 && s.count >= 0'", 0 }, \
	        { "expect", "FILE", "what the program prints when it is right", 0 }, \
	        { "spec", "FILE", "specification of objects; may be repeated", 0 }, \
	        { "no-harm", NULL, \
		  "do not run both orders of a finding to compare what comes of them", 0 }, \
	        { "timeout", "SECONDS", "end a run after this time (default 10)", 0 }, \
	{ \
		"output", "PREFIX", \
		        "of the files that are written: PREFIX.runN.hdl, PREFIX.N.wit " \
		        "(default: check)", \
		        'o' \
	}

struct checkup_run {
	const char *strategy; /* static: one of record_strategies, "explored", "both orders",
	                       * "given" for a trace of the command line */
	uint64_t seed;
	char *trace;      /* owned: the file */
	uint32_t same_as; /* an earlier run with the same events, or NONE */
	int exit;         /* exit status, or 128 + signal */
	uint64_t events;
	bool recorded;           /* by the strategy, so that it can be recorded again */
	char *digest;            /* owned: of its events and its end */
	struct outcome *outcome; /* owned, or NULL */
};

struct checked { /* a finding of the list */
	enum finding_kind kind;
	bool happened;
	bool signals;       /* an order violation of operations on a condition alone */
	json_t *fields;     /* owned: as finding_json has them, of the run `shown` */
	char *key, *text;   /* owned: what makes two of them one; the plain sentence */
	GArray *runs;       /* uint32_t: in which it was seen, ascending */
	uint32_t shown;     /* the run that its events are of */
	char *witness_file; /* owned, or NULL */
	uint32_t witness_length;
	enum harm harm;
	char *difference; /* owned, or NULL; HARM_UNFOLLOWED: why */
	uint32_t number;  /* in the order found, from 1 */
};

struct mined_trials {
	uint32_t trials;
	char *difference; /* owned: what one of them did; or NULL */
};

struct checkup {
	/* asked for; borrowed */
	char **argv;      /* NULL: traces were given */
	GPtrArray *specs; /* char * */
	GPtrArray *binds; /* owned: those of them with bind lines, which are recorded with */
	struct finals *finals;
	const char *prefix; /* of the files that are written */
	char *expected;     /* owned: what a run has to print, or NULL */
	const char *expected_file;
	uint32_t runs_asked;
	unsigned timeout_ms;
	bool harm, lenient, streams;
	bool writes;            /* witnesses */
	gint64 began, deadline; /* microseconds of the monotonic clock; deadline 0: none */
	const volatile int *interrupted;
	int output, errors; /* files without a name, for a run's streams */
	off_t input;        /* where standard input began, or -1 */

	GArray *runs;        /* struct checkup_run */
	GPtrArray *list;     /* struct checked *, owned */
	GHashTable *by_key;  /* key to struct checked, borrowed */
	GHashTable *digests; /* a run's digest to its number + 1 */
	GHashTable *mined; /* code of sections run in between (owned) to struct mined_trials */
	GArray *waiting;   /* uint32_t: runs made on the way whose traces were not looked at */
	GHashTable *outputs; /* what runs printed (char *): a set */
	uint32_t harmless; /* orders of a signal and a wait that make no difference, not listed
	                    */
	GPtrArray *gaps;   /* char *, owned: sentences about what was not covered */
	uint32_t analysed; /* traces that all analyses looked at */
	uint32_t cut_runs; /* that did not end in time */
	char *always;      /* owned, or NULL: how every run ends, which is no matter of order */
	uint64_t missing_calls;        /* into code that is not instrumented, in the runs */
	bool open[FINDING_KIND_COUNT]; /* the kind's analysis missed something in some run */
	double run_seconds;            /* of the last recording, with the making of its trace */
	bool budget_spent, failed;
	struct error error; /* where failed */
	/* exploration */
	bool explored, explored_all;
	uint64_t classes, executions, left, fine_runs;
	GHashTable *ends; /* how its runs ended (char *): a set */
	struct progress progress;
	const char *doing; /* static */
};

/* checkup.c: what `a` asks for (CHECKUP_OPTIONS); false: it was said what is wrong.
 * checkup_close in either case. */
bool checkup_open(struct checkup *c, const struct arguments *a);
void checkup_close(struct checkup *c);
/* All of it, of the program or else of traces (char *); the list is in its order then.  False:
 * the error was said. */
bool checkup_run(struct checkup *c, const GPtrArray *traces);

/* Has the time come, or Ctrl-C? */
bool checkup_over(const struct checkup *c);
/* Seconds that are left; a large number without a budget. */
double checkup_left(const struct checkup *c);
/* A sentence about what is not covered, once. */
void checkup_gap(struct checkup *c, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* checkup_runs.c: all that is done for a program, and for traces.  False: c->error. */
bool checkup_program(struct checkup *c);
bool checkup_traces(struct checkup *c, const GPtrArray *paths);
/* Keeps the trace of a run that was made on the way, to be looked at. */
void checkup_keep_run(struct checkup *c, struct plan_run *run, const char *output);

/* checkup_analyse.c: the findings of a run's trace into the list; `shallow`: only what
 * happened. `recorded`: the run's outcome, for harm; or NULL.  False: c->error. */
bool checkup_analyse(struct checkup *c, struct trace *t, uint32_t run, bool shallow,
                     const struct outcome *recorded);

/* checkup_list.c */
/* What makes two findings one, of the fields that finding_json makes; the caller's. */
char *checkup_key(const json_t *fields);
/* Adds a finding of a run, or joins it with what is known; the entry, borrowed.  *fresh: it was
 * not known, or has now happened. */
struct checked *checkup_add(struct checkup *c, struct trace *t, const struct places *places,
                            const struct finding *f, uint32_t run, bool *fresh);
/* The same from an error or race that has no trace: `fields` (taken over) has kind and sites.
 */
struct checked *checkup_add_fields(struct checkup *c, enum finding_kind kind, json_t *fields,
                                   char *text, uint32_t run, bool happened);
/* A run that is the same as an earlier one shows the same findings. */
void checkup_seen_again(struct checkup *c, uint32_t run, uint32_t as);
/* When all runs were made: the harm of what none was asked of, as far as the runs tell it; then
 * the order in which the findings are shown. */
void checkup_settle(struct checkup *c);
void checked_free(void *data);

/* checkup_words.c: what goes wrong, in one plain sentence without a full stop; the caller's. */
char *checkup_sentence(const struct trace *t, const struct finding *f);

/* checkup_coverage.c: sentences (char *, owned by the caller), what was covered first. */
GPtrArray *checkup_coverage(const struct checkup *c);
/* Whether nothing of the kind was missed, in the sense of these sentences. */
bool checkup_complete(const struct checkup *c, enum finding_kind kind);

/* checkup_print.c */
json_t *checked_json(const struct checkup *c, const struct checked *f);
json_t *checkup_json(const struct checkup *c); /* the whole report; the caller's */
/* To standard output; `baseline` (or NULL): only what it has not counts.  The exit status. */
int checkup_print(const struct checkup *c, enum output_format format,
                  const struct report_file *baseline);
/* The report as one that was read from a file; the caller's. */
struct report_file *checkup_report(const struct checkup *c);
/* One finding as it comes, on standard error. */
void checkup_stream(const struct checkup *c, const struct checked *f);
/* "heddle record --strategy pct --seed 2 -- ./prog": the caller's; NULL: not by recording. */
char *checkup_again(const struct checkup *c, uint32_t run);

#endif
