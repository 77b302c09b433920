/* Signals, jumps out of their handlers, cancellation. */
#include "two_threads.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile sig_atomic_t hits;
static sigjmp_buf back;
static void counts(int s) { hits++; }
static void jumps(int s) { siglongjmp(back, 1); }
static int deep(int n)
{
	volatile char room[4096];
	room[0] = (char)n;
	return deep(n + 1) + room[0];
}
static void *pauses(void *p)
{
	for (;;)
		pause();
}
static void *computes(void *p)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (volatile long i = 0;; i++)
		;
}
static int cancelled(void *(*routine)(void *))
{
	pthread_t t;
	void *result;
	pthread_create(&t, NULL, routine, NULL);
	usleep(20000);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("%d\n", result == PTHREAD_CANCELED);
	return 0;
}

static int cancel_computes(void) { return cancelled(computes); }
static int cancel_waits(void) { return cancelled(pauses); }
static int own_stack(void)
{
	stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction a = { .sa_handler = jumps, .sa_flags = SA_ONSTACK };
	sigaltstack(&s, NULL);
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(back, 1))
		deep(0);
	two(20);
	say();
	return 0;
}
static int jump_alarm(void)
{
	struct sigaction a = { .sa_handler = jumps };
	sigaction(SIGALRM, &a, NULL);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1)) {
			ualarm(20000, 0);
			for (;;)
				pause();
		}
	two(20);
	say();
	return 0;
}
static int jump_crash(void)
{
	signal(SIGSEGV, jumps);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)0 = 1;
	two(20);
	say();
	return 0;
}
static int storm(void)
{
	signal(SIGUSR1, counts);
	pid_t p = fork();
	if (p == 0) {
		for (int i = 0; i < 500; i++) {
			kill(getppid(), SIGUSR1);
			usleep(50);
		}
		_exit(0);
	}
	two(3000);
	while (waitpid(p, NULL, 0) < 0 && errno == EINTR)
		;
	printf("x=%d hit %d\n", x, hits > 0);
	return 0;
}
static int timer(int number, int which)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	signal(number, counts);
	setitimer(which, &every, NULL);
	two(5000);
	say();
	return 0;
}
static int profiled(void) { return timer(SIGPROF, ITIMER_PROF); }
static int alarmed(void) { return timer(SIGALRM, ITIMER_REAL); }

static const struct way ways[] = {
	{ "cancel-computes", cancel_computes }, { "cancel-waits", cancel_waits },
	{ "own-stack", own_stack }, { "jump-alarm", jump_alarm }, { "jump-crash", jump_crash },
	{ "storm", storm }, { "profiled", profiled }, { "alarmed", alarmed }, { NULL, NULL },
};
int main(int argc, char **argv) { return run_way(ways, argv[1]); }

//: record -q --mode {controlled,free} --max-size 200 -o t.hdl @ cancel-computes
//= exit 0
//~ out ^1$
//: record -q --mode {controlled,free} -o t.hdl @ cancel-waits
//= exit 0
//~ out ^1$
//: record -q --mode {controlled,free} -o t.hdl @ own-stack
//= exit 0
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ jump-alarm
//= exit 0
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ jump-crash
//= exit 0
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ storm
//= exit 0
//~ out ^x=6000 hit 1$
//: record -q --mode {controlled,free} -o t.hdl @ profiled
//= exit 0
//~ out ^x=10000$
//: record -q --mode {controlled,free} -o t.hdl @ alarmed
//= exit 0
//~ out ^x=10000$
