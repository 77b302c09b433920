/*
 * history.h - what tells runs apart: for each thread what it did and the values that it read,
 * as one number for each prefix of it; and which runs begin with a given history.
 *
 * Threads are known by their ancestry (the n-th child of the m-th child ...), memory that was
 * allocated by who allocated it, so that a number is the same in every run.
 */
#ifndef HEDDLE_HISTORY_H
#define HEDDLE_HISTORY_H

#include "engine/explore/lifetimes.h"
#include "engine/explore/view.h"

/* Part of a run: of each thread that has begun, how it began, and in how many steps. */
struct part {
	uint64_t who, prefix;
	uint32_t steps;
};

struct thread_history {
	uint64_t who;     /* the thread's ancestry */
	GArray *prefixes; /* uint64_t: after 0, 1, 2, ... of its steps; that it ended the
	                   * program is one more */
	GArray *events;   /* uint32_t: its steps, events of the trace */
};
/* Initial contents of the modules' data, by the variable's name.  What a run's first reads saw
 * is entered; else the memory is read, when it is asked for. */
struct initials {
	GHashTable *known; /* char * -> uint64_t *, the number of the value; both owned */
	/* False where it is not known.  May be NULL. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};

/* Of one run; owned by the caller. */
struct history {
	const struct view *view;        /* borrowed */
	const struct trace *trace;      /* the view's reading */
	struct thread_history *threads; /* by thread of the trace */
	uint32_t threads_count;
	GArray *step_of; /* uint32_t by event: its number among its thread's steps, or NONE */
	struct life *lives; /* blocks by address, for values that are addresses */
	uint32_t lives_count;
	struct lifetimes *lifetimes; /* of the reading; owned */
	struct initials *initials;   /* borrowed */
	GArray *finals; /* struct part: what variables hold at the end, as numbers */
};
/* `initials` (from histories_initials) is asked, and learns what this run's reads tell. */
struct history *history_new(const struct view *view, struct initials *initials);
void history_free(struct history *h);

/* The program ended there by `thread`: a step of it, which no event stands for. */
void history_add_end(struct history *h, uint32_t thread);
/* At its end the run's class is told by what these variables (char *) hold, too. */
void history_add_finals(struct history *h, const GPtrArray *names);
/* What a variable would hold were `write` (NONE: nobody's) the last, as a part of its own. */
struct part history_final(const struct history *h, uint32_t variable, uint32_t write);

/* An integer, as a number; one that is an address by its block. */
uint64_t history_integer(const struct history *h, uint64_t integer, uint32_t event);
/* What a read sees, as a number: its value; where it is not known, the writes. */
uint64_t history_seen(const struct history *h, uint32_t read);
/* What a use of memory or of an object is seen as that comes after its end. */
enum { SEEN_AFTER_END = 13 };
/* What it would see if `write` (NONE: nobody) were the last write there. */
uint64_t history_would_see(const struct history *h, uint32_t read, uint32_t write);
/* As history_seen, of an access of several variables where each had the writer given (NONE: its
 * initial content), one for every variable of event_variables. */
uint64_t history_would_see_all(const struct history *h, uint32_t read, const uint32_t *writers);
/* The number of its thread's history up to and with `event`, which sees `seen`. */
uint64_t history_after(const struct history *h, uint32_t event, uint64_t seen);
/* The same had it been this operation. */
uint64_t history_after_as(const struct history *h, uint32_t event, enum op op, uint64_t seen);
/* Did the departure's thread arrive last of its round? */
bool history_last_at_barrier(const struct history *h, uint32_t depart);
/* What an invocation would be seen as, did it return these. */
uint64_t history_would_return(const struct history *h, const struct view_call *call,
                              const struct val *results, uint32_t count);
/* The whole run's. */
uint64_t history_class(const struct history *h);

/* All runs so far. */
struct histories;
struct histories *histories_new(void);
void histories_free(struct histories *all);
struct initials *histories_initials(struct histories *all);
/* False when there was one of its class. */
bool histories_add(struct histories *all, const struct history *h);
/* The number of the run added last. */
uint32_t histories_last(const struct histories *all);
/* How many steps of a thread of `h` are as in a run (by that number). */
uint32_t histories_common(const struct histories *all, const struct history *h, uint32_t thread,
                          uint32_t run);
/* Is there a run in which every one of these threads begins so?  parts[0] is asked first. */
bool histories_have(const struct histories *all, const struct part *parts, uint32_t count);
/* And in which the next step of parts[0]'s thread is one of a specified object, before which
 * it has, of those that do not commute with it, none beyond the parts? */
bool histories_have_call(const struct histories *all, const struct part *parts, uint32_t count);
/* Is there one of this class? */
bool histories_have_class(const struct histories *all, uint64_t class_);
/* And in which parts[0]'s thread went on? */
bool histories_have_further(const struct histories *all, const struct part *parts,
                            uint32_t count);
/* Did the run do more in this thread of `h` than `steps` steps? */
bool histories_goes_on(const struct histories *all, const struct history *h, uint32_t thread,
                       uint32_t steps, uint32_t run);

#endif
