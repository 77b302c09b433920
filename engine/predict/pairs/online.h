/*
 * online.h - happens-before, its races and its uses after free, event by event, while a trace
 * is being made: the pairs of stream_sites (pairs.h) for happens-before, and accesses that are
 * unordered with a free of their block (rd2.h for the type `memory`; of each thread's accesses
 * before the free only the last), named as soon as their second event is there. Each event is
 * taken once, and none is kept; memory is that of the variables, objects and blocks.
 *
 * Threads, objects, messages, instances, blocks and variables are numbers, which may come in
 * any order and grow. Not for traces where reads need not see the last write (weak.h).
 */
#ifndef HEDDLE_ONLINE_H
#define HEDDLE_ONLINE_H

#include "engine/trace/flow.h"

struct online;

/* An access that a later one may race with. */
struct online_access {
	uint32_t time; /* number of the event + 1; 0: none */
	uint32_t thread;
	uint64_t point;
};
/* An invocation of an object, or a wait or signal of a condition. */
struct online_call {
	struct online_access at; /* where it begins */
	uint32_t end;            /* event at which it takes effect */
	uint32_t object, method; /* object: instance or condition; method: flow_event.method */
	bool condition;
};
struct online_sink {
	void *context;
	/* The second access, `x`, is not ordered after the first. */
	void (*race)(void *context, const struct online_access *first,
	             const struct flow_event *x, uint32_t variable);
	/* An access of the block and a free of it, or two frees: the second is not ordered
	 * after the first. `variable`: a part of the block that the access covers; for two
	 * frees NONE. */
	void (*use_after_free)(void *context, const struct online_access *first,
	                       const struct online_access *second, uint32_t block,
	                       uint32_t variable);
	/* By EDC: two calls that do not commute, the one that begins first first. */
	void (*turn)(void *context, const struct online_call *first,
	             const struct online_call *second);
	/* By EDC: is this order of the two calls in question, or wrong already? */
	bool (*asks)(void *context, const struct online_call *first,
	             const struct online_call *second);
	/* By EDC, to save work: is a pair with these points known, so that it need not be
	 * reported? Or NULL. */
	bool (*known)(void *context, const struct online_access *first,
	              const struct online_access *second, uint32_t block);
};

struct online *online_new(const struct online_sink *sink); /* copied */
/* The analysis by EDC (semantics.md), without races: accesses and frees, and calls that do
 * not commute, that are not ordered by program order, the must-order and edges between
 * critical sections (the second's own sections do not count). A pair under a common lock is
 * reported when the second has left its sections, if they clash in nothing else. `most`: how
 * many sections are kept for each item that sections touch (edc_sections.h): with a bound
 * there may be more pairs. */
struct online *online_new_edc(const struct online_sink *sink, uint32_t most);
struct online_items;
/* The table of items, to which the caller may add its own. */
struct online_items *online_items(struct online *o);
/* The end: reports pairs whose second event never left its sections. */
void online_end(struct online *o);
void online_free(struct online *o); /* NULL is allowed */
void online_event(struct online *o, const struct flow_event *x);
/* The run's accesses, each by `o` (happens-before) and by `edc` (NULL: not), before the next.
 */
void online_run(struct online *o, struct online *edc, const struct flow_run *run);
/* -- accesses that the caller compares itself, by happens-before -- */
/* The thread's next event will have this number at least: accesses from here on have it as
 * time,
 * + 1, up to an event that may order the thread before others. Uses of blocks before their
 * frees are from now on those that online_used tells. */
void online_segment(struct online *o, uint32_t thread, uint32_t number);
/* EDC: the same of the thread's present sections, which have this number, ascending from one
 * to the next. */
void online_stay(struct online *o, uint32_t thread, uint32_t number, uint32_t stay);
/* EDC: the thread, in its present sections, accesses variables of a block (or NONE), before the
 * next event, which will have this number. `late`: NONE, or it has accessed them before the
 * event of this number, and no other thread had left a section on the locks that it held. */
void online_touch(struct online *o, uint32_t thread, uint32_t number, uint32_t late,
                  struct event_list variables, uint32_t block, bool writes);
/* Is the access `first` not before the event `x`, which is none of the analysis? */
bool online_unordered(struct online *o, const struct online_access *first,
                      const struct flow_event *x);
/* A thread's last use of a block before its free, which is the next event; EDC: its stay. (One
 * inside of sections that thousands came after is not compared.) */
void online_used(struct online *o, const struct online_access *use, uint32_t stay,
                 uint32_t block, uint32_t variable);

/* An access has covered a part of variable `from`: from now on the rest is variable `to`, with
 * the same past. */
void online_split(struct online *o, uint32_t from, uint32_t to);
/* The variable is other memory from now on. */
void online_renew(struct online *o, uint32_t variable);

#endif
