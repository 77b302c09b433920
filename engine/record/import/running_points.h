/*
 * running_points.h - the places of events in a program that is running, as numbers: an
 * instruction, in the upper half the calls that lead to it (flow_event.point).
 */
#ifndef HEDDLE_RUNNING_POINTS_H
#define HEDDLE_RUNNING_POINTS_H

#include <glib.h>

#include "engine/record/import/decode.h"

/* A call, as a node of the tree of calling contexts. Number 0: none. */
struct call {
	uint64_t function, pc, frame; /* as in LOG_ENTER */
	uint32_t parent;
};
/* An instruction that accesses or frees memory, or that synchronises. */
struct access_place {
	enum log_tag tag;
	unsigned flags;
	uint64_t pc;
};

struct running_points;
struct running_points *running_points_new(void);
void running_points_free(struct running_points *p);

/* The number of a call; `frame` is that of the first such call. */
uint32_t running_points_call(struct running_points *p, const struct call *call);
const struct call *running_points_call_at(const struct running_points *p, uint32_t call);
/* The number of a record's place. Two places with one hash are taken for one: the chance is 1
 * in 2^64. */
uint32_t running_points_place(struct running_points *p, const struct log_record *record);
const struct access_place *running_points_place_at(const struct running_points *p,
                                                   uint32_t place);

static inline uint64_t point_of(uint32_t call, uint32_t place)
{
	return (uint64_t)call << 32 | place;
}
static inline uint32_t point_call(uint64_t point)
{
	return (uint32_t)(point >> 32);
}

#endif
