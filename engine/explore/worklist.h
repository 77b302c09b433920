/*
 * worklist.h - pending schedules and the choice of the next one.
 *
 * A schedule is added once (by key), and taken last in, first out, so that few are pending; or
 * at random, to spread the search for an error. The order is reproducible from the seed; the
 * set of executed schedules does not depend on it, but for those that ask whether all threads
 * wait for ever (REVERSAL_IDLE): they are taken when no others are left, since most are
 * answered by other runs.
 */
#ifndef HEDDLE_WORKLIST_H
#define HEDDLE_WORKLIST_H

#include "engine/explore/reversals/reversals.h"
#include "engine/record/plan.h"

/* A schedule to execute; pending_free. */
struct pending {
	struct plan plan;
	struct thread_prefix
	        *parts; /* owned: prefixes of a run that follows it; NULL: unknown */
	uint32_t parts_count;
	uint64_t before;   /* of the first part's thread: struct reversal; 0: not known */
	uint32_t parent;   /* the parent run; NONE: none */
	uint32_t known_as; /* the parent's number among the histories; NONE: none */
	char *reversal, *thread, *place, *variable; /* owned: as in struct explore_run */
	bool library;                               /* struct explore_run */
	enum reversal_kind kind;
	char *key; /* owned: REVERSAL_USE: the use's (struct explore_use), REVERSAL_RACE: the
	            * race's (explore_race_key), REVERSAL_EARLY: of both places; else NULL */
	bool after_use; /* contains a use after free, so the rest is arbitrary */
	bool by_chance; /* empty, under a random strategy */
};
void pending_free(struct pending *p);
/* Limits of numbers that a pending schedule refers to. */
struct pending_limits {
	uint32_t runs, histories;
};
/* Writes it, or reads one into `p` (zeros before). */
void pending_archive(struct pending *p, const struct pending_limits *limits,
                     struct archive *archive);

struct worklist;
struct worklist *worklist_new(uint64_t seed);
void worklist_free(struct worklist *w);
/* Remove all schedules and keys. */
void worklist_clear(struct worklist *w);
uint32_t worklist_length(const struct worklist *w);
/* The number of schedules without REVERSAL_IDLE. */
uint32_t worklist_ready(const struct worklist *w);
/* The key of a schedule that begins with `parts`; independent of the order of all but the
 * first. */
uint64_t worklist_key(const struct thread_prefix *parts, uint32_t count,
                      enum reversal_kind kind);
/* False when the key was entered before. */
bool worklist_enter(struct worklist *w, uint64_t key);
/* Takes ownership. */
void worklist_add(struct worklist *w, struct pending *p);
/* Owned by the caller; NULL when empty. */
struct pending *worklist_take(struct worklist *w, bool by_chance);
/* All pending schedules, which the caller then owns; the keys stay. */
GPtrArray *worklist_steal(struct worklist *w);
/* The identity of a pending schedule among others: its parts', or its key's. */
uint64_t pending_key(const struct pending *p);
/* Enter the other's keys as well. */
void worklist_adopt_keys(struct worklist *w, const struct worklist *other);
/* By run: adds to counts[run] the number of its pending schedules without REVERSAL_IDLE, few of
 * which make a run of another class. */
void worklist_count(const struct worklist *w, uint32_t *counts);
/* The number of keys. */
uint32_t worklist_entered(const struct worklist *w);
/* Writes the schedules, and the keys from the `from`-th on; or adds those that are read. */
void worklist_archive(struct worklist *w, uint32_t from, const struct pending_limits *limits,
                      struct archive *archive);
/* The next random number. */
uint64_t worklist_random(struct worklist *w);

#endif
