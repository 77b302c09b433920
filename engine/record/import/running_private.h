/* running_private.h - shared by running.c, which takes the events, and the other files. */
#ifndef HEDDLE_RUNNING_PRIVATE_H
#define HEDDLE_RUNNING_PRIVATE_H

#include "engine/record/import/import_private.h"
#include "engine/record/import/running_ranges.h"
#include "engine/record/import/running.h"

/* An instruction that accesses or frees memory, or that synchronises. */
struct running_place {
	uint64_t head; /* of its events, without the thread: event_head */
	uint32_t site; /* its number */
};

/* A call, by its calling context in the builder: as in LOG_ENTER. */
struct call {
	uint64_t function, pc, frame; /* frame: of the first such call */
};

/* The place where a block was allocated; `pc` 0: not known. */
struct allocated {
	uint64_t pc, address, size;
	uint32_t thread, stack; /* the builder's */
};

/* An event of an invocation. */
struct invoked {
	uint32_t number;
	struct event event;
};

/* A part of a thread without an event that may order others after it (LOG_SEGMENT). */
struct segment {
	uint32_t thread, number;
};

/* Calls and places by the program's numbers (LOG_CONTEXT, LOG_POINT). */
struct told_call {
	struct call call;
	uint32_t caller;
};
struct told_point {
	uint32_t site;
	enum op op;
};
enum { TOLD_CONTEXT = 1u << 31 }; /* set in the calling context of a point of these */

enum { RUN = 256 }; /* accesses that are passed on at once */

struct running {
	struct running_sink sink;
	struct running_sink before; /* of the ranges: passes the run on before the sink */
	struct import *im;
	uint32_t lane; /* thread of the run */
	struct ranges ranges;
	GArray *latest;      /* struct running_place, by site_slot: the last one there */
	GArray *sites;       /* uint64_t: heads, by number */
	GHashTable *site_of; /* head -> number */
	struct flow_access run[RUN]; /* accesses of the lane that are not passed on yet */
	uint32_t run_count;
	GArray *calls;         /* struct call, by calling context */
	GArray *allocated;     /* struct allocated, by block */
	GArray *segments;      /* struct segment, by number, as are these */
	GArray *told_contexts; /* struct told_call */
	GArray *told_points;   /* struct told_point */
	GPtrArray *kept;       /* struct log_record, with words: of modules and threads */
	GArray *invoked;       /* struct invoked, ascending */
	GArray *values;        /* struct value: of the present invocation */
};

/* The place among the latest sites of an event: a location may read and write. */
static inline uint32_t running_site_slot(const struct event *e)
{
	return 2 * (uint32_t)e->location + (e->op & 1);
}
/* running_sites.c: the number of an event's instruction, which is the latest there from now on.
 */
uint32_t running_site_of(struct running *r, const struct event *e);

/* running_shadow.c: a record of what the program compares itself. */
void running_shadow(struct running *r, uint32_t thread, const struct log_record *record);

static inline uint64_t point_of(uint32_t stack, uint32_t site)
{
	return (uint64_t)stack << 32 | site;
}
static inline uint32_t point_stack(uint64_t point)
{
	return (uint32_t)(point >> 32);
}
/* The site's event, without thread, target and value. */
static inline struct event running_event_at(const struct running *r, uint32_t site)
{
	struct event e = { .target = 0 };
	memcpy((char *)&e + sizeof(uint64_t), &g_array_index(r->sites, uint64_t, site),
	       sizeof(uint64_t));
	return e;
}

#endif
