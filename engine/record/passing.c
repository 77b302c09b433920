/*
 * passing.c - signals to this process while a recorded program runs: they are passed to it.
 */
#include <signal.h>

#include "engine/record/run_private.h"

/* Signals to this process are passed to the program and reported to the caller. A terminal's
 * Ctrl-C reaches both. */
static volatile sig_atomic_t child_to_tell, received;
static volatile int *noted_in;
static void pass_on(int number)
{
	received = number;
	if (noted_in)
		*noted_in = number;
	if (child_to_tell && number != SIGINT)
		kill(child_to_tell, number);
}

void record_note_signals(volatile int *flag)
{
	noted_in = flag;
}

void run_begin_passing(struct passing *p)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN },
	                 forward = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	child_to_tell = received = 0;
	sigaction(SIGINT, &forward, &p->old[0]);
	sigaction(SIGQUIT, &ignore, &p->old[1]);
	sigaction(SIGTERM, &forward, &p->old[2]);
	sigaction(SIGHUP, &forward, &p->old[3]);
}

void run_pass_to(pid_t pid)
{
	child_to_tell = pid;
	if (pid && received)
		kill(pid, received);
}

void run_end_passing(const struct passing *p)
{
	child_to_tell = 0;
	sigaction(SIGINT, &p->old[0], NULL);
	sigaction(SIGQUIT, &p->old[1], NULL);
	sigaction(SIGTERM, &p->old[2], NULL);
	sigaction(SIGHUP, &p->old[3], NULL);
}

int run_signal(void)
{
	return received;
}
