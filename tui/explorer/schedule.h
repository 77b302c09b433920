/*
 * schedule.h - a sequence of events as a schedule of its own: who holds what and which values
 * there are after its first n events, and picking the next event by hand.
 */
#ifndef HEDDLE_SCHEDULE_H
#define HEDDLE_SCHEDULE_H

#include "engine/witness/witness.h"
#include "tui/explorer/session.h"

/* The value of the variable after the first `count` events (index of trace.values, 0 when
 * it is not known); *writer is the event it is from, or NONE for the initial value. */
uint32_t schedule_value(const struct session *s, const GArray *events, guint count,
                        uint32_t variable, uint32_t *writer);
/* "T1 holds m, T2 holds l" after the first `count` events. */
void schedule_append_locks(const struct session *s, const GArray *events, guint count,
                           GString *out);
/* The last few variables written, with their values in this schedule. */
void schedule_append_values(const struct session *s, const GArray *events, guint count,
                            GString *out);
/* Events that came earlier or later than in the recording, beyond what the moves of others
 * explain: for each index 0, +1 (moved up: earlier) or -1.  Caller frees. */
int8_t *schedule_moves(const GArray *events);
/* What of each thread that takes part is left out: "T1 432…". */
void schedule_append_cut(const struct session *s, const GArray *events, GString *out);

/* Being the scheduler. */
struct choice {
	uint32_t thread, event; /* the thread's next event; NONE: it has none */
	bool enabled;
	char *reason; /* owned; why not */
};
struct chooser {
	const struct session *session; /* borrowed */
	struct checker *checker;
	GArray *events;  /* uint32_t: chosen so far */
	GArray *choices; /* struct choice, by thread */
};
/* Begin with the first `count` of `events`; false when the checker refuses one of them. */
bool chooser_init(struct chooser *c, const struct session *s, const GArray *events, guint count,
                  GString *reason);
void chooser_release(struct chooser *c);
bool chooser_take(struct chooser *c, uint32_t thread, GString *reason);
void chooser_undo(struct chooser *c);
/* Are both events of the pair the next ones of their threads, and enabled but for the pair
 * itself? */
bool chooser_is_at_pair(const struct chooser *c, const uint32_t pair[2]);

#endif
