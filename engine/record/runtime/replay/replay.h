/*
 * replay.h - a run that follows a plan: the events of a witness, in their order.
 *
 * replay_load reads the plan from the config.  From then on every scheduling point ends in
 * replay_point, which keeps the thread back until its next event is the plan's next, and every
 * event in replay_event, which compares it with the plan and moves on.  A call that is no event
 * but has a place in the order (the end of a wait, a call from outside) asks with replay_call.
 *
 * Guarantees: while replay_strict() is true every thread does its part of the
 * recording; an event that is not the plan's makes the run diverge (LOG_DIVERGED, with a note
 * that names it), which ends the plan.  After the plan, or a divergence, the strategy decides.
 * A thread is known by its place among its parent's children and an event by its number in its
 * thread, so that addresses need not be the same.  All of it is under the token.
 */
#ifndef HEDDLE_RUNTIME_REPLAY_H
#define HEDDLE_RUNTIME_REPLAY_H

#include "engine/record/runtime/core/base.h"

/* State of a thread whose next event is not the plan's next. */
struct thread_replay {
	uint64_t pauses; /* how often it gave way since its `ordinal` + 1 became `paused` */
	uint64_t paused;
	uint64_t pause_start; /* its processor time, in nanoseconds, when that began */
	uint64_t released;    /* its `ordinal` + 1 when the plan last ended its futex wait */
};

bool replay_load(int fd, uint64_t offset);
void replay_point(struct thread *t);
void replay_pause(struct thread *t); /* no event follows: it gives way */
void replay_event(struct thread *t, enum log_tag tag, uintptr_t pc);
bool replay_answer(struct thread *t, uint32_t clock, struct timespec *answer);
uint32_t replay_child(uint32_t parent, uint32_t ordinal);
/* The thread's recorded inputs; an empty range without inputs. */
void replay_inputs(uint32_t id, const struct log_input **from, const struct log_input **end);
/* Before a call that is no event: waits for the thread's turn. */
void replay_call(struct thread *t);
/* Waits until the plan's arrivals of its stores before its next event are done. */
void replay_arrivals(struct thread *t);
/* Is this the thread's next event in the plan? */
bool replay_expects(const struct thread *t, enum log_tag tag, uintptr_t pc);
/* May an access by the call before `pc` be its next event: is it in the plan, or is there none
 * of the thread any more? */
bool replay_may_access(const struct thread *t, uintptr_t pc);
/* The message of the thread's next step, if that has this tag, SND or RCV; 0: not known. */
uint64_t replay_message(const struct thread *t, enum log_tag tag);
/* The step of the thread's next event, or NULL when it has none now; its number. */
const struct log_step *replay_step(const struct thread *t);
uint32_t replay_step_number(const struct log_step *step);
/* STEP_STORE + the step of the last event, while the plan is followed; else 0. */
uint32_t replay_made(void);
/* Reports that the event before `pc` is not the plan's. */
void replay_refuse(struct thread *t, uintptr_t pc);
/* Are all threads still before the pair, so that nothing may differ? */
bool replay_strict(void);
/* Is the plan not strict any more, or is nothing left of it but a thread's going on, if it can?
 */
bool replay_lets_go(void);
/* The thread asked for another input than in the recording, which `text` names. */
void replay_left(struct thread *t, const char *text);
/* Should the block that was just freed stay, filled, for the use after its free? */
bool replay_poisons(void);
uint64_t replay_turn(uint32_t thread);
uint64_t replay_wake_turn(uint32_t thread); /* when it comes next in the plan */
/* Is the thread's next step the beginning of a signal's handler? */
bool replay_runs_handler(uint32_t thread);
/* Is the thread's next step the end of a wait that no signal ends? */
bool replay_ends_early(uint32_t thread);
uint32_t replay_next(void); /* the thread whose turn it is; UINT32_MAX: none's */

/* ---- clock.c: rt.clocked; data for a debugger to go back (struct log_debug) ---- */

void clock_init(void);
/* `t` has made an event, or begins; it continues at `pc`. */
void clock_tick(struct thread *t, uintptr_t pc);
/* The token's holder is a thread of this process. */
void clock_thread(const struct thread *t);
/* Both threads stand before the pair. */
void clock_pair(void);
/* The process is about to end. */
void clock_end(void);
/* Before any code of the program: waits for the debugger. */
void clock_hold(const void *program_main);

#endif
