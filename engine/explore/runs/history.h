/*
 * history.h - identity of runs: for each thread its steps and values read, as a number for each
 * prefix.
 *
 * Threads are identified by ancestry (the n-th child of the m-th child ...), allocated memory
 * by its allocation, so numbers are equal in all runs.
 */
#ifndef HEDDLE_HISTORY_H
#define HEDDLE_HISTORY_H

#include "engine/base/archive.h"
#include "engine/explore/runs/channel_steps.h"
#include "engine/explore/runs/lifetimes.h"
#include "engine/explore/objects/view.h"
#include "engine/explore/runs/unseen.h"

/* A prefix of a thread: the thread, the number of its history, its length in steps. */
struct thread_prefix {
	uint64_t who, prefix;
	uint32_t steps;
	uint64_t alike; /* the number by which known runs are looked up: that of the history, or
	                 * one that is the same for threads that are alike (alike.h) */
};

struct thread_history {
	uint64_t who;     /* identity of the thread by ancestry */
	uint64_t kind;    /* equal for threads that may be alike (alike.h); 0: with none */
	GArray *joins;    /* struct joining: its joins of threads that are alike; or NULL */
	GArray *prefixes; /* uint64_t: after 0, 1, 2, ... steps; ending the program is one more
	                   */
	GArray *events;   /* uint32_t: its steps, as events of the trace */
};
/* Initial values of static data, by address: from first reads of runs, else of the loaded
 * program. */
struct initials {
	GHashTable *pages;  /* by the address of their first byte; see seen.c */
	GHashTable *unseen; /* unseen.h */
	/* False when unknown. May be NULL. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};
void initials_begin(struct initials *initials);
void initials_end(struct initials *initials);
/* Adds the other's entries. */
void initials_adopt(struct initials *initials, const struct initials *other);
/* The number of bytes whose values were learned from reads. */
uint64_t initials_count(const struct initials *initials);
/* Writes these values, or adds those that are read. */
void initials_archive(struct initials *initials, struct archive *archive);

/* The history of a run; owned by the caller. */
struct history {
	const struct view *view;        /* borrowed */
	const struct trace *trace;      /* the view's trace */
	struct thread_history *threads; /* by thread of the trace */
	uint32_t threads_count;
	GArray *step_of; /* uint32_t by event: index of its thread's step, or NONE */
	uint64_t *seen;  /* by event: number of its outcome, if it is a step */
	uint8_t *sums;   /* by event: enum sum; or NULL */
	bool unseen;     /* is one of them SUM_UNSEEN? */
	struct channel_steps *channels; /* of pipes and their kin; or NULL */
	uint32_t channels_differ; /* a step of theirs that found something else than it should;
	                           * or NONE */
	struct life *lives;       /* blocks by address, to identify addresses */
	uint32_t lives_count;
	GHashTable *numbers;         /* the kernel's number of a child process or a thread ->
	                              * uint64_t *: equal in all runs; NULL: none */
	struct lifetimes *lifetimes; /* of the view's trace; owned */
	struct initials *initials;   /* borrowed */
	uint32_t otherwise;      /* first read of static data that nothing was written to, whose
	                          * value is not the one read in another run; or NONE */
	GArray *finals;          /* struct thread_prefix: final values, as numbers */
	bool cut_off;            /* see history_add_end */
	const GHashTable *apart; /* with --symmetry: see alike.h; else NULL. Each thread then
	                          * sees its own memory by numbers that do not depend on its
	                          * identity */
};
/* Uses `initials` (from histories_initials) and adds values read first in this run. `apart`: as
 * in the history, borrowed. `sums`: as in the history; it takes ownership. */
struct history *history_new(const struct view *view, struct initials *initials,
                            const GHashTable *apart, uint8_t *sums);
void history_free(struct history *h);

/* Add the end of the program by `thread`, as a step without an event. `cut_off`: another thread
 * had not come to its own end. */
void history_add_end(struct history *h, uint32_t thread, bool cut_off);
/* The class also depends on final values of these variables (char *). */
void history_add_finals(struct history *h, const GPtrArray *names);
/* The final value of a variable (final_range) with these last writes (NONE: none) of its parts,
 * as a part. */
struct thread_prefix history_final(const struct history *h, struct wide range,
                                   const uint32_t *writers);

/* The number of the value that the read saw. */
static inline uint64_t history_seen(const struct history *h, uint32_t read)
{
	return h->seen[read];
}
/* The number for uses after the end of life. */
enum { SEEN_AFTER_END = 13 };
/* The number of the value that the read would see with these last writes (NONE: initial
 * value) of each of event_variables. */
uint64_t history_would_see(const struct history *h, uint32_t read, const uint32_t *writers);
/* The same, of an integer that is no address. */
uint64_t history_would_hold(const struct history *h, uint32_t read, uint64_t integer);
/* The same, of an integer that a read of at most eight bytes would see. */
uint64_t history_would_read(const struct history *h, uint32_t read, uint64_t integer);
/* The initial value of a variable, as an integer of at most eight bytes; false: it is not
 * known. */
bool history_begins_with(const struct history *h, uint32_t variable, uint64_t *integer);
/* Is the event an addition whose result the code does not use? Its outcome is the same whatever
 * it adds to. */
static inline bool history_is_unseen(const struct history *h, uint32_t event)
{
	return h->sums != NULL && h->sums[event] == SUM_UNSEEN;
}
/* The number of its thread's history including `event` with outcome `seen`. */
uint64_t history_after(const struct history *h, uint32_t event, uint64_t seen);
/* history_after where the history before it has this number. */
uint64_t history_after_prefix(const struct history *h, uint64_t prefix, uint32_t event,
                              uint64_t seen);
/* history_after with another operation. */
uint64_t history_after_as(const struct history *h, uint32_t event, enum op op, uint64_t seen);
/* The number of a thread's whole history, whose last wait is `wait`, when that ends without a
 * signal. */
uint64_t history_after_wait(const struct history *h, uint32_t wait);
/* Was the departing thread the last to arrive? */
bool history_last_at_barrier(const struct history *h, uint32_t depart);
/* Does the code after the wait ignore whether it was the last? */
bool history_last_unseen(const struct history *h, uint32_t depart);
/* The number of an invocation's outcome with these results. */
uint64_t history_would_return(const struct history *h, const struct view_call *call,
                              const struct val *results, uint32_t count);
/* Numbers of histories are added as these: the thread's identity is a summand of them
 * (alike.h), so that their own sum would be the same whichever thread does what. */
/* The receipt of a signal, whose handler may run at any other event of its thread? */
bool history_handles(const struct history *h, uint32_t event);
/* The number of a thread's steps, if another step than such a receipt follows, or its end. */
uint64_t history_later(uint64_t prefix);
uint64_t history_summand(uint64_t prefix);
/* The number of the class, a sum; what a thread with this number of its history, or of this
 * many steps, adds to it. */
uint64_t history_class(const struct history *h);
uint64_t history_class_number(const struct history *h, uint32_t thread, uint64_t prefix);
uint64_t history_class_part(const struct history *h, uint32_t thread, uint32_t steps);
/* The number of an object's address, or a variable's, as the thread sees it at the event. */
uint64_t history_place(const struct history *h, uint64_t address, uint32_t event);

#endif
