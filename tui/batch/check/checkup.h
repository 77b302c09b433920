/*
 * checkup.h - state of `heddle check`: its runs, one list of findings of all kinds, and
 * coverage. cmd_check.c is the command; checkup_runs.c makes runs, checkup_explore.c explores,
 * checkup_kept.c keeps runs, checkup_analyse.c analyses their traces, checkup_list.c keeps the
 * list, checkup_coverage.c has the coverage sentences, checkup_words.c those of findings,
 * checkup_print.c prints.
 */
#ifndef HEDDLE_CHECKUP_H
#define HEDDLE_CHECKUP_H

#include "engine/explore/explore.h"
#include "engine/harm/aim.h"
#include "engine/harm/harm.h"
#include "engine/record/plan_run.h"
#include "engine/record/session.h"
#include "tui/batch/print/places.h"
#include "tui/batch/reports/report_file.h"

/* The options of the commands that make a checkup. */
#define CHECKUP_OPTIONS \
	{ "budget", "TIME", \
	  "seconds for everything (default 60; 0: no limit), or with T,PAIR also for deciding " \
	  "one pair (default 1)", \
	  0 }, \
	        { "runs", "N", "number of recordings (default 12)", 'n' }, OPTION_BEFORE, \
	        { "check", "CONDITION", \
		  "must hold at the end of each run: 'x == 3 && s.count >= 0'", 0 }, \
	        { "expect", "FILE", "a file with the output of a correct run", 0 }, \
	        { "spec", "FILE", "specification of objects; may be repeated", 0 }, \
	        { "no-harm", NULL, \
		  "do not run both orders of a finding to compare the outcomes", 0 }, \
	        { "timeout", "SECONDS", "end a run after this time (default 10)", 0 }, \
	{ \
		"output", "PREFIX", \
		        "how names of written files begin: PREFIX.runN.hdl, PREFIX.N.wit " \
		        "(default: check)", \
		        'o' \
	}

struct checkup_run {
	const char *strategy; /* static: one of record_strategies, "explored", "both orders",
	                       * "aimed", "given" for a trace of the command line */
	uint64_t seed;
	char *trace;      /* owned: the file */
	uint32_t same_as; /* an earlier run with the same events, or NONE */
	int exit;         /* exit status, or 128 + signal */
	uint64_t events;
	char *options;           /* owned: of `heddle record`, which makes the run again; or
	                          * NULL */
	char *digest;            /* owned: digest of events and ending */
	GPtrArray *warnings;     /* char *, owned: of its trace */
	struct outcome *outcome; /* owned, or NULL */
	struct checked *tried;   /* the finding whose orders were run, or NULL; borrowed */
};

/* A finding of the list. */
struct checked {
	enum finding_kind kind;
	bool happened;
	bool waits_for_time; /* its two orders are still to be run, when time permits */
	bool signals;        /* an order violation of operations on a condition alone */
	json_t *fields;      /* owned: as finding_json has them, of the run `shown` */
	char *key, *text;    /* owned: key by which equal findings are one; the plain
	                      * sentence */
	GArray *runs;        /* uint32_t: runs in which it was seen, ascending */
	uint32_t shown;      /* the run whose events it has */
	char *witness_file;  /* owned, or NULL */
	json_t *schedule;    /* its last steps, for SARIF; owned, or NULL */
	uint32_t witness_length;
	enum harm harm;
	char *difference; /* owned, or NULL; for HARM_UNFOLLOWED the reason */
	char *place;      /* owned: where the value that differs was written last, or NULL */
	uint32_t number;  /* number in the order found, from 1 */
	struct checked *cause; /* the finding whose other order led to it, or NULL; borrowed */
};

struct checkup_aim {
	uint32_t run; /* the run whose trace has its events */
	struct aim aim;
};

/* A pair that an analysis left undecided in some run, or that only racy reads keep apart. */
struct undecided {
	char *text; /* owned: "a.c:3 and b.c:7", or the variable of one behind a racy read */
	uint32_t run;
	enum finding_kind kind;
};

struct mined_trials {
	uint32_t trials;
	char *difference, *place; /* owned: the difference that one of them made, and its
	                           * place; or NULL */
};

struct checkup {
	/* -- options; borrowed */
	const struct arguments *arguments;
	char **argv;          /* NULL: traces were given */
	GPtrArray *specs;     /* char * */
	GPtrArray *binds;     /* owned: specifications with bind lines, used for recording */
	GPtrArray *own_specs; /* char *, owned: found without --spec; in `specs`, too */
	struct finals *finals;
	const char *prefix; /* prefix of written files */
	char *expected;     /* owned: required output of a run, or NULL */
	const char *expected_file;
	uint32_t runs_asked;
	uint32_t shard,
	        shards; /* the share of the recordings or traces (from 0), and their number */
	char *share;    /* owned: --shard as given, or NULL */
	unsigned timeout_ms;
	bool harm, lenient, streams;
	bool live;                         /* findings are printed while a run continues */
	struct record_live *watcher;       /* prints them; owned, or NULL */
	bool writes;                       /* witnesses */
	struct suppressions *suppressions; /* owned, or NULL */
	gint64 began, deadline; /* microseconds of the monotonic clock; deadline 0: none */
	const volatile int *interrupted;
	int output, errors; /* nameless files for a run's streams */
	off_t input;        /* initial offset of standard input, or -1 */

	GArray *runs;        /* struct checkup_run */
	GPtrArray *list;     /* struct checked *, owned */
	GHashTable *by_key;  /* key to struct checked, borrowed */
	GHashTable *digests; /* a run's digest to its number + 1 */
	GHashTable *mined; /* code of sections run in between (owned) to struct mined_trials */
	GArray *waiting;   /* uint32_t: additional runs whose traces are not analysed yet */
	GArray *postponed; /* uint32_t: long recordings that did not end, for later */
	bool shorter;      /* the recordings after one of these are shorter */
	GArray *aims;      /* struct checkup_aim: not tried yet */
	GHashTable *aimed; /* code of all aims so far (char *) to the number of runs that had
	                    * it */
	guint next_aim;
	const char *making;        /* static: strategy of additional runs */
	struct checked *trying;    /* whose orders are being run, or NULL; borrowed */
	GHashTable *outputs;       /* output of the analysed runs (char *): a set */
	unsigned explored_outputs; /* different outputs of explored runs, at most, see
	                              take_exploration */
	uint32_t serial;           /* cycles of units that make no difference, not listed */
	uint32_t racy_units; /* units whose difference is a value that a listed race changes */
	uint32_t harmless; /* orders of a signal and a wait that make no difference, not listed
	                    */
	uint32_t leading_to_wait; /* orders of a signal and a wait, not listed, as the wait
	                           * without end that they lead to is */
	bool keeps_orders;        /* these are listed all the same */
	GPtrArray *late;          /* char *, owned: what the time did not suffice for */
	GPtrArray *uncovered; /* char *, owned: sentences about orders and kinds that were not
	                         covered */
	uint32_t analysed;    /* traces that all analyses looked at */
	uint32_t aimed_runs;  /* runs that reached their aim */
	unsigned cut_ms;      /* the longest time that a run had which was ended */
	uint32_t cut_runs;    /* that did not end in time */
	char *always; /* owned, or NULL: the way every run ends, which does not depend on the
	               * order */
	uint64_t missing_calls;        /* runs with calls of uninstrumented code */
	bool same_pairing;             /* some run: struct report has it, of data races */
	bool waits_paired;             /* the same, of deadlocks and other waits */
	bool lacks_accesses;           /* some run: accesses_are_missing */
	bool open[FINDING_KIND_COUNT]; /* the kind's analysis was incomplete in some run,
	                                * beside `undecided` */
	GPtrArray *open_because;       /* char *, owned: the reasons for that, each once */
	double pair_seconds;           /* for the solver, for one pair */
	GHashTable *undecided;         /* key of the finding it would be (owned) to struct
	                                * undecided, owned */
	GHashTable *behind;            /* the same of report.behind: of the first run with it */
	double run_seconds;            /* time of the last recording, including the making of
	                                * its trace */
	bool budget_spent, failed;
	struct error error; /* valid if `failed` */
	/* -- exploration */
	struct explore_report *hunted; /* until its first error, or complete; owned, or NULL */
	bool explored, explored_all, explored_late; /* tried; to the end; stopped by its time */
	/* schedules with one spurious wake-up were explored, too, or need not be; to the end */
	bool spurious, spurious_all;
	bool waits;   /* a run waited for a condition */
	bool weak;    /* atomics of orders below seq_cst: exploration with --memory has more */
	bool futexes; /* a run waited for a futex; only an exploration tries other orders of
	               * its wake-ups */
	uint64_t classes, executions, left, fine_runs;
	GHashTable *ends; /* how its runs ended (char *): a set */
	uint32_t shaken;  /* runs by chance beside recordings and exploration */
	struct progress progress;
	const char *doing; /* static */
};

/* checkup.c: parse CHECKUP_OPTIONS; false: the error has been printed. checkup_close in either
 * case. */
bool checkup_open(struct checkup *c, const struct arguments *a);
void checkup_close(struct checkup *c);
/* Check the program, or else traces (char *), and sort the list. False: the error has been
 * printed. */
bool checkup_run(struct checkup *c, const GPtrArray *traces);

/* checkup_kept.c */
enum { CHECKUP_LONGEST = 1000000 }; /* upper bound for options in seconds */
/* Has the deadline passed, or was it interrupted? */
bool checkup_over(const struct checkup *c);
/* Seconds left; a large number without a budget. */
double checkup_left(const struct checkup *c);
/* Add what is not covered, unless it is there. */
void checkup_uncovered(struct checkup *c, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Add what is not covered as the time ran out, unless it is there. */
void checkup_late(struct checkup *c, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static inline struct checkup_run *checkup_run_at(const struct checkup *c, uint32_t i)
{
	return &g_array_index(c->runs, struct checkup_run, i);
}
/* Add a run of which `made` has the strategy, the seed, the file (copied), the exit, the
 * options and the outcome (both owned from now on, or NULL). Its index; its trace needs no
 * analysis when same_as is set. */
uint32_t checkup_add_run(struct checkup *c, const struct trace *t, struct checkup_run made);
/* The file for the next run; owned by the caller. */
char *checkup_run_path(const struct checkup *c);
/* Keep the trace of an additional run for analysis. */
void checkup_keep_run(struct checkup *c, struct plan_run *run, const char *output);
/* The trace of a run; owned by the caller. NULL: c->error. */
struct trace *checkup_open_run(struct checkup *c, const char *path);
/* The next run of the program reads the input from its beginning. */
void checkup_rewind_input(const struct checkup *c);

/* checkup_explore.c */
/* Before the first run is analysed, which may take all the time: schedules that differ much
 * from each other, until the first error. If this search completes, it is the exploration;
 * otherwise the exploration begins anew, as this one's runs would help it little. False:
 * c->error. */
bool checkup_hunt(struct checkup *c);
/* Do the first runs indicate a program small enough for exploration? */
bool checkup_is_small(struct checkup *c);
/* Explores the program, and adds what was found to the list. False: c->error. */
bool checkup_explore(struct checkup *c);
/* A complete exploration has a run with this end; otherwise its claim is wrong, and withdrawn.
 */
bool checkup_is_explored(struct checkup *c, const struct outcome *o);

/* An outcome's end, in the words of c->ends; owned by the caller. */
char *checkup_end_of(const struct outcome *o);

/* checkup_shake.c: runs by chance, of which those that end in a new way are handed to `record`
 * as the strategies by which they come again. False: `record` was false. */
bool checkup_shake(struct checkup *c,
                   bool (*record)(struct checkup *c, const struct strategy *how));

/* checkup_specs.c: add the specifications that fit the program, where none was named. */
void checkup_find_specs(struct checkup *c);

/* checkup_runs.c: check a program, or traces. False: c->error. */
bool checkup_program(struct checkup *c);
bool checkup_traces(struct checkup *c, const GPtrArray *paths);
/* checkup_analyse.c: add the findings of a run's trace; `shallow`: only those that happened.
 * `recorded`: the run's outcome, for harm; or NULL. False: c->error. */
bool checkup_analyse(struct checkup *c, struct trace *t, uint32_t run, bool shallow,
                     const struct outcome *recorded);

/* checkup_list.c */
/* The identity of a finding, from finding_json's fields; owned by the caller. */
char *checkup_key(const json_t *fields);
/* "data race", "wait without end", for headings and lists. Caller frees. */
char *checkup_kind_title(enum finding_kind kind);
/* Add a run's finding to the list, or merge it with an equal one; the entry, borrowed. *fresh:
 * it is new, or has now happened. */
struct checked *checkup_add(struct checkup *c, struct trace *t, const struct places *places,
                            const struct finding *f, uint32_t run, bool *fresh);
/* checkup_add for an error without a trace: `fields` (ownership taken) has kind and sites. */
struct checked *checkup_add_fields(struct checkup *c, enum finding_kind kind, json_t *fields,
                                   char *text, uint32_t run, bool happened);
/* A run equal to an earlier one shows the same findings. */
void checkup_seen_again(struct checkup *c, uint32_t run, uint32_t as);
/* Print a new finding on standard error. */
void checkup_stream(const struct checkup *c, const struct checked *f);
/* After all runs: removes what another finding says already and what made no difference, gives
 * each finding its harm where its two orders were not run, and sorts the list. */
void checkup_settle(struct checkup *c);
void checked_free(void *data);

/* checkup_coverage.c: sentences (strings, owned by the caller), coverage first, then the
 * uncovered. */
json_t *checkup_coverage(const struct checkup *c);
/* Is the answer complete for the kind, in the sense of these sentences? */
bool checkup_complete(const struct checkup *c, enum finding_kind kind);

/* checkup_print.c */
json_t *checked_json(const struct checkup *c, const struct checked *f);
json_t *checkup_json(const struct checkup *c); /* the whole report; owned by the caller */
/* Prints on standard output; findings of `baseline` (or NULL) do not count. Returns the exit
 * status. */
int checkup_print(const struct checkup *c, enum output_format format,
                  const struct report_file *baseline);
/* The report as if read from a file; owned by the caller. */
struct report_file *checkup_report(const struct checkup *c);

#endif
