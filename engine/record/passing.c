/*
 * passing.c - signals to this process while a recorded program runs: they are passed to it.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/record/run_private.h"

/* Signals to this process are passed to the program and reported to the caller. A terminal's
 * Ctrl-C reaches both. */
static volatile sig_atomic_t child_to_tell, received, late;
static volatile int *noted_in;

/* Has it ended, whether we have taken note of that or not? */
static bool has_ended(pid_t pid)
{
	siginfo_t end = { 0 };
	return kill(pid, 0) < 0 ||
	       (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	        end.si_pid == pid);
}

static void pass_on(int number)
{
	int error = errno;
	received = number;
	late += child_to_tell && has_ended(child_to_tell);
	if (noted_in)
		*noted_in = number;
	if (child_to_tell && number != SIGINT)
		kill(child_to_tell, number);
	errno = error;
}

void record_note_signals(volatile int *flag)
{
	noted_in = flag;
}

void run_begin_passing(struct passing *p)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN },
	                 forward = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	child_to_tell = received = late = 0;
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

int run_late_signals(void)
{
	return late;
}
