/* running_private.h - shared by running.c, which takes the records, and running_pair.c. */
#ifndef HEDDLE_RUNNING_PRIVATE_H
#define HEDDLE_RUNNING_PRIVATE_H

#include "engine/record/import/import_private.h"
#include "engine/record/import/running_points.h"
#include "engine/record/import/running_ranges.h"
#include "engine/record/import/running.h"
#include "engine/record/import/so_far.h"

/* The last access of a slot of the log's sites; the life is a dead one where it is not known.
 */
struct recent_access {
	uint64_t key; /* the site's */
	const struct block_life *life;
	uint32_t place, size, plain; /* plain: the size of a plain access, or 0 */
	struct flow_kind of;
	uint8_t flags;
};

struct calling { /* a thread */
	uint32_t context, depth, missing;
};

/* The place where a block was allocated. */
struct allocated {
	uint32_t thread, context; /* the runtime's number */
	uint64_t pc, words[3];
};

/* An event of an invocation. */
struct invoked {
	uint32_t number, event; /* event: in the importer's builder */
};

enum { RUN = 256 }; /* accesses that are passed on at once */

struct running {
	struct running_sink sink;
	struct so_far *log;
	char *path;
	struct record_facts facts;
	struct log_header header;
	struct import *im; /* NULL: the log has no header yet */
	uint32_t thread;   /* thread of the next record, the runtime's number */
	uint32_t lane;     /* the number of that thread in the events */
	uint32_t events;   /* so far */
	GArray *threads;   /* struct calling, by the runtime's number */
	struct running_points *points;
	struct ranges ranges;
	struct recent_access sites[LOG_SITES];
	struct flow_event access;    /* the last access; fields that stay are not set again */
	struct flow_access run[RUN]; /* accesses of the lane that are not passed on yet */
	uint32_t run_count;
	GHashTable *allocated; /* life -> struct allocated, owned */
	GPtrArray *kept;       /* struct log_record, with words: of modules and threads */
	GArray *invoked;       /* struct invoked, ascending */
	GArray *values;        /* struct value: of the present invocation */
	GArray *addresses;     /* uint64_t: address of an object, by its number */
};

#endif
