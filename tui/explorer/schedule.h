/*
 * schedule.h - a sequence of events as a schedule of its own: who holds what and which values
 * there are after its first n events, and picking the next event by hand.
 */
#ifndef HEDDLE_SCHEDULE_H
#define HEDDLE_SCHEDULE_H

#include "engine/witness/witness.h"
#include "tui/explorer/session.h"

/*
 * A sequence of events, ready for questions about any of its steps: "at step n" is after its
 * first n events.  Every question costs a few binary searches, however long the sequence is
 * (one of a real program has millions of events, and is drawn anew for every key).
 */
struct stage {
	const struct session *session; /* borrowed */
	GArray *events;                /* borrowed; uint32_t */
	GArray **positions; /* by thread: uint32_t, ascending: where its events stand */
	bool grows;         /* more events are still to come */
};
void stage_init(struct stage *stage, const struct session *s, GArray *events, bool grows);
void stage_release(struct stage *stage);
/* One event more, one less: of the sequence, too. */
void stage_push(struct stage *stage, uint32_t event);
void stage_pop(struct stage *stage);
/* The thread's last event at that step, and the one it stands before; NONE: there is none. */
uint32_t stage_last(const struct stage *stage, uint32_t thread, guint step);
uint32_t stage_next(const struct stage *stage, uint32_t thread, guint step);
/* The index of an event in the sequence, or NONE. */
uint32_t stage_position(const struct stage *stage, uint32_t event);
/* The value of a variable at that step (index of trace.values, 0 when it is not known);
 * *writer is the event it is from, or NONE for the initial value. */
uint32_t stage_value(const struct stage *stage, guint step, uint32_t variable,
                     uint32_t *writer);
/* An event in words, done at that step: a write with the value that it finds there. */
void stage_describe(const struct stage *stage, uint32_t event, guint step, GString *out);
/* The acquires of all locks held at that step, by thread: GArray of uint32_t, owned by the
 * caller. */
GArray *stage_locks(const struct stage *stage, guint step);
/* The pair's variables and the last few touched, with their values. */
void stage_append_values(const struct stage *stage, guint step, GString *out);
/* What of each thread that takes part is left out: "T1 432…". */
void stage_append_cut(const struct stage *stage, GString *out);
/* Events that came earlier or later than in the recording, beyond what the moves of others
 * explain: for each index 0, +1 (moved up: earlier) or -1.  Caller frees. */
int8_t *schedule_moves(const GArray *events);

/* Being the scheduler. */
struct choice {
	uint32_t thread, event; /* the thread's next event; NONE: it has none */
	bool enabled;
	char *reason; /* owned; why not */
};
struct chooser {
	const struct session *session; /* borrowed */
	struct checker *checker;
	GArray *events;     /* uint32_t: chosen so far */
	struct stage stage; /* of them */
	GArray *choices;    /* struct choice, by thread */
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
