/*
 * running.h - the events of a program that is running, as its trace has them, each once and
 * soon after it is recorded: for analyses that keep no trace (flow.h). They come from the
 * import (live.c), which makes the trace meanwhile.
 *
 * Memory is divided as it is accessed: a variable of the sink may be split later, when an
 * access covers a part of it, and be other memory when its block is allocated again.
 */
#ifndef HEDDLE_RUNNING_H
#define HEDDLE_RUNNING_H

#include "engine/record/record.h"
#include "engine/trace/flow.h"

struct import;
struct running;

/* An access or free as the sink gets it, an operation on a condition, or an invocation, which
 * begins at event `number` and ends at `end` (unused for the others). */
struct running_access {
	uint32_t thread;
	uint64_t point;
	uint32_t number, end;
};
/* Some bytes in a row, at the log's address. */
struct running_bytes {
	uint64_t address;
	uint32_t size;
};

/* Variables that a thread accesses, or (`late`: NONE, or up to which number) has accessed, and
 * their block or NONE: online_touch. */
struct running_touch {
	uint32_t thread, number, late, block, count;
	const uint32_t *variables;
	bool writes;
};

struct running_sink {
	void *context;
	/* Most accesses come in runs, all other events one by one, in the order of the trace.
	 */
	void (*run)(void *context, const struct flow_run *run);
	void (*event)(void *context, const struct flow_event *x);
	/* Where the program itself compares plain accesses (LOG_SHADOW), in place of most
	 * runs: from here on the thread's accesses have this number and are of this segment,
	 * up to its next event that may order others after it, or enters a critical section
	 * or a call; two accesses that only synchronisation may order, the second of which is
	 * `x`; the last use of a block by a thread before the free of it, the next event, and
	 * the use's segment. */
	void (*segment)(void *context, uint32_t thread, uint32_t number, uint32_t segment);
	void (*pair)(void *context, const struct running_access *first,
	             const struct flow_event *x, struct running_bytes memory);
	void (*used)(void *context, const struct running_access *use, uint32_t segment,
	             uint32_t block, struct running_bytes memory);
	/* An access inside of critical sections, before the next event, which has this number.
	 */
	void (*touch)(void *context, const struct running_touch *touch);
	void (*split)(void *context, uint32_t from, uint32_t to);
	void (*renew)(void *context, uint32_t variable);
	/* After the last event, or when none have come. */
	void (*end)(void *context);
};
/* The receiver of the events: `begin` fills in the sink. `running` is for running_pair and
 * running_text, until the sink's end. */
struct running_watch {
	void *context;
	void (*begin)(void *context, struct running *running, struct running_sink *sink);
};

/* For the import; the watch is begun. */
struct running *running_new(struct import *im, const struct running_watch *watch);
/* Its builder is there, and no event yet. */
void running_begin(struct running *r);
/* A record that was imported, other than those of import_shorts. */
struct log_record;
void running_record(struct running *r, uint32_t thread, const struct log_record *record);
/* Passes the last events on, and ends; NULL is allowed. */
void running_free(struct running *r);
/* The place of an access or free (flow_event.point) without its callers: equal for one
 * instruction. */
static inline uint32_t running_site(uint64_t point)
{
	return (uint32_t)point;
}

/* The variable that these bytes are, or the first of several. */
uint32_t running_variable(struct running *r, struct running_bytes memory);

/* The number of a string in the values of invocations (struct texts of engine/commute). */
int64_t running_text(void *running, const char *text, size_t length);

/* The object of two events: a variable and, if one of them frees it, its block (else NONE);
 * for two frees only the block; for conditions `object`; none of these for invocations. */
struct running_memory {
	uint32_t variable, block, object;
};
/* Makes a trace of these two accesses alone, with their callers and names, for reports;
 * `events`: their ids in it. `facts`: the caller fills in the fields that record_import
 * needs, and releases it. NULL and `error`. */
struct trace *running_pair(struct running *r, struct running_memory memory,
                           const struct running_access pair[2], struct record_facts *facts,
                           uint32_t events[2], struct error *error);

#endif
