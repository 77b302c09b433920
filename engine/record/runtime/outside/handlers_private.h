/* handlers_private.h - the program's handlers: shared by the files that install and that run
 * them. */
#ifndef HEDDLE_RUNTIME_HANDLERS_PRIVATE_H
#define HEDDLE_RUNTIME_HANDLERS_PRIVATE_H

#include <string.h>

#include "engine/record/runtime/core/rt.h"

enum { SIGNALS = 65, REMINDER = 63 };

extern struct sigaction signal_handlers[SIGNALS]; /* as the program has set them */
extern uint64_t signal_timer_message[SIGNALS];    /* message of the thread that set the signal's
                                                   * timer */

static inline bool signal_is_handler(const struct sigaction *a)
{
	return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

/* May the signal come at any instruction, unlike a fault? */
static inline bool signal_asynchronous(int number)
{
	return number != SIGSEGV && number != SIGBUS && number != SIGFPE && number != SIGILL &&
	       number != SIGABRT && number != SIGTRAP && number != SIGSYS && number != SIGPIPE;
}

/* A mask in the kernel's format. */
static inline uint64_t signal_kernel_mask(const sigset_t *set)
{
	uint64_t mask;
	memcpy(&mask, set, sizeof(mask));
	return mask;
}

/* Signal handler that the kernel has in the place of all handlers of the program. */
void signal_comes(int number, siginfo_t *info, void *context);
/* The handler of REMINDER: a thread has come to no hook for long. */
void signal_reminder(int number, siginfo_t *info, void *context);
/* A message with a signal; none when `message` is 0. */
void signal_log_message(struct thread *t, enum log_tag tag, unsigned flags, uint64_t message,
                        uintptr_t pc);

/* ---- faults.c ---- */
/* Is it a signal of a crash? The action that replaces its default one notes the place. */
bool fault_is(int number);
void fault_action(struct sigaction *action);
bool fault_is_ours(const struct sigaction *action);
/* Of SIGTRAP: is it sched_endless.c's? */
bool endless_is_ours(const struct sigaction *action);

#endif
