/*
 * schedule.h - a sequence of events as a schedule: locks and values after its first n events,
 * and manual choice of the next event.
 */
#ifndef HEDDLE_SCHEDULE_H
#define HEDDLE_SCHEDULE_H

#include "engine/witness/witness.h"
#include "tui/explorer/session.h"

/* A sequence of events with queries on its steps: "at step n" is after its first n events. A
 * query costs a few binary searches, since sequences may have millions of events and are drawn
 * after every key. */
struct stage {
	const struct session *session; /* borrowed */
	GArray *events;                /* borrowed; uint32_t */
	GArray **positions; /* by thread: uint32_t, ascending: indices of its events */
	bool grows;         /* more events will follow */
};
void stage_init(struct stage *stage, const struct session *s, GArray *events, bool grows);
void stage_release(struct stage *stage);
/* Add or remove the last event, in the sequence, too. */
void stage_push(struct stage *stage, uint32_t event);
void stage_pop(struct stage *stage);
/* The thread's last event at that step, and its next one; NONE: none. */
uint32_t stage_last(const struct stage *stage, uint32_t thread, guint step);
uint32_t stage_next(const struct stage *stage, uint32_t thread, guint step);
/* The index of an event in the sequence, or NONE. */
uint32_t stage_position(const struct stage *stage, uint32_t event);
/* The value of a variable at that step (index of trace.values, 0: unknown); *writer is its
 * event, or NONE for the initial value. */
uint32_t stage_value(const struct stage *stage, guint step, uint32_t variable,
                     uint32_t *writer);
/* The initial value of a variable if known: that of a read before the first write; else 0. */
uint32_t schedule_initial_value(const struct session *s, uint32_t variable);
/* The value that a write leaves behind; 0: unknown. */
uint32_t schedule_written_value(const struct trace *t, const struct event *e);
/* Append the event's description at that step: a write with the value it overwrites. */
void stage_describe(const struct stage *stage, uint32_t event, guint step, GString *out);
/* The acquires of all locks held at that step, by thread: GArray of uint32_t, owned by the
 * caller. */
GArray *stage_locks(const struct stage *stage, guint step);
/* Append the locks that the thread holds and its wait, "holds m, waits for l of T2"; `locks`
 * from stage_locks, `next` its next event or NONE (stage_pane.c). */
void stage_append_status(const struct stage *stage, uint32_t thread, guint step,
                         const GArray *locks, uint32_t next, GString *out);
/* Append the values of the pair's variables and the last accessed ones. */
void stage_append_values(const struct stage *stage, guint step, GString *out);
/* Append the omitted events of each participating thread: "T1 432…". */
void stage_append_cut(const struct stage *stage, GString *out);
/* For each index: +1 when the event comes earlier than in the recording, -1 later, 0 unmoved; a
 * minimal set of events is marked. Caller frees. */
int8_t *schedule_moves(const GArray *events);

/* Manual scheduling. */
struct choice {
	uint32_t thread, event; /* by thread: its next event; NONE: none */
	bool enabled;
	char *why;    /* owned: why it is not enabled, in the program's terms (refusal.h) */
	char *reason; /* owned: the checker's, with its rule */
};
struct chooser {
	const struct session *session; /* borrowed */
	struct checker *checker;
	GArray *events;     /* uint32_t: chosen so far */
	struct stage stage; /* of them */
	GArray *choices;    /* struct choice, by thread */
};
/* Begin with the first `count` of `events`; false when the checker rejects one. */
bool chooser_init(struct chooser *c, const struct session *s, const GArray *events, guint count,
                  GString *reason);
void chooser_release(struct chooser *c);
bool chooser_take(struct chooser *c, uint32_t thread, GString *reason);
void chooser_undo(struct chooser *c);
/* Are both events of the pair next in their threads, and enabled but for each other? */
bool chooser_is_at_pair(const struct chooser *c, const uint32_t pair[2]);

#endif
