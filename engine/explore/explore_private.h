/*
 * explore_private.h - what the parts of the exploration share: the loop (explore.c), what a
 * run ended with (explore_judge.c), deadlocks and races on the way (explore_found.c), words
 * (explore_words.c).
 */
#ifndef HEDDLE_EXPLORE_PRIVATE_H
#define HEDDLE_EXPLORE_PRIVATE_H

#include "engine/explore/explore.h"
#include "engine/explore/flips.h"

struct seed { /* a schedule that waits to be run */
	struct plan plan;
	struct part *parts;
	uint32_t parts_count;
	uint32_t parent;
	uint32_t known_as; /* the parent, by its number among the histories; NONE */
	char *flip, *thread, *place, *variable; /* owned */
	enum flip_kind kind;
	char *use;      /* owned: FLIP_USE: the use's key (struct explore_use), else NULL */
	bool after_use; /* it has a use after free in it, so that what follows is by chance */
};

struct exploration {
	const struct explore_options *options;
	const struct progress *progress;
	struct explore_report *report;
	struct histories *histories;
	GPtrArray *waiting; /* struct seed *, the next one last */
	GHashTable *asked;  /* uint64_t: schedules that wait or were run */
	GHashTable *errors; /* char *: cycles of lock requests, uses after free asked for */
	GHashTable *races;  /* char *: pairs of places, and "sites " with pairs of sites */
	int64_t races_effort, effort_began; /* processor time, microseconds, of the races beyond
	                                     * happens-before; at the beginning */
	bool races_left;                    /* of some run these were not all looked for */
	GHashTable *gaps;   /* char *, also in report->gaps */
	char *output;       /* file for what the program prints, see file.h; owned */
	int output_file;
	gint64 deadline; /* 0: none */
	bool cancelled, interrupted;
	uint32_t first;      /* the first run, after those before an object was given up */
	uint64_t random;     /* of which schedule is next, with --until-error; not 0 */
	uint64_t shares;     /* schedules from the first run, so far */
	GHashTable *plain;   /* char *: objects whose invocations are no steps */
	GHashTable *ordered; /* char *: objects that are not looked at by results after all */
	bool again;          /* one more was found: everything is to be done again */
	char *interposer;    /* the library of the bind lines; owned, or NULL */
	struct record_server *server; /* the program, to be forked */
	/* of the run at hand */
	struct trace *trace; /* as recorded */
	const struct view *view;
	const struct history *history;
	uint32_t run;
	uint32_t known_run; /* by its number among the histories; NONE: its class was known */
	bool after_use;     /* as of its schedule */
	const char *use;    /* it came to this use, by its schedule; or NULL */
};

/* Something that the promise of completeness does not cover. */
void explore_gap(struct exploration *x, const char *why);
/* A schedule from the run at hand; `place`: the event that it is about. */
struct seed *seed_new(struct exploration *x, const uint32_t *sequence, size_t length,
                      uint32_t place);

/* explore_words.c: what is other than in the parent. */
void explore_describe(const struct exploration *x, const struct flip *f, struct seed *s);
/* explore_judge.c: how the run ended. */
void explore_judge(struct exploration *x, const struct plan_run *run, struct explore_run *r);
/* It went wrong there. */
void explore_set_place(struct explore_run *r, const char *place);
/* explore_refused.c: did the recorder refuse to run the program with these bind lines? */
bool explore_is_refused(const struct exploration *x, const struct plan_run *run,
                        struct error *error);
/* explore_uses.c: what the run used after its end. */
struct explore_use {
	char *key; /* of its two places in the code */
	char *place, *story;
};
/* The run's, as struct explore_use *; the use that the run was made for is among them, when it
 * came to it, even where the operation never came back (garbage as a lock). */
GPtrArray *explore_find_uses(const struct exploration *x, const struct explore_run *r);
void explore_use_free(void *use);
/* The run's misuse of locks, in the same form; what is used after its destruction is left to
 * explore_find_uses. */
GPtrArray *explore_find_misuses(const struct exploration *x);
/* Was a use at the place of `use` after an end at that of `end` asked for, or met, before?  It
 * is from now on. */
bool explore_know_use(struct exploration *x, uint32_t use, uint32_t end);
char *explore_use_key(const struct trace *t, uint32_t use, uint32_t end);
/* "T2 writes p[0] after T1 freed its block at a.c:5"; owned by the caller. */
char *explore_use_text(const struct trace *t, uint32_t use, uint32_t end);
/* explore_found.c */
void explore_find_deadlocks(struct exploration *x);
void explore_find_races(struct exploration *x);

#endif
