/* Ways in which a program ends: its status and output are as alone. */
#include "two_threads.h"
#include <signal.h>
#include <sys/resource.h>

static int zero;
static int deep(int n)
{
	volatile char room[4096];
	room[0] = (char)n;
	return deep(n + 1) + room[0];
}
static void *exits(void *p) { exit(7); }
static void *pauses(void *p)
{
	for (;;)
		pause();
}

static int plain(void) { two(20); say(); return 3; }
static int crash(void) { two(20); *(volatile int *)0 = 1; return 0; }
static int aborts(void) { two(20); abort(); }
static int overflow(void) { two(20); return deep(0); }
static int division(void) { two(20); return 100 / *(volatile int *)&zero; }
static int killed(void) { two(20); return kill(getpid(), SIGKILL); }
static int interrupted(void) { two(20); return raise(SIGINT); }
static int quick(void) { two(20); quick_exit(11); }
static int of_thread(void)
{
	pthread_t t;
	pthread_create(&t, NULL, exits, NULL);
	pthread_join(t, NULL);
	return 0;
}
static int main_first(void)
{
	pthread_t t;
	pthread_create(&t, NULL, count, (void *)20);
	pthread_exit(NULL);
}
static int detached(void)
{
	pthread_t t;
	pthread_create(&t, NULL, pauses, NULL);
	pthread_detach(t);
	usleep(1000);
	printf("bye\n");
	return 0;
}
static int execs(void) { two(20); return execl("/bin/echo", "echo", "execed", NULL); }
static int execs_itself(void) { two(20); return execl("/proc/self/exe", "ends", "plain", NULL); }
static int cleared(void) { clearenv(); return execs_itself(); }

static const struct way ways[] = {
	{ "plain", plain }, { "crash", crash }, { "abort", aborts }, { "overflow", overflow },
	{ "division", division }, { "killed", killed }, { "interrupted", interrupted },
	{ "quick", quick }, { "of-thread", of_thread }, { "main-first", main_first },
	{ "detached", detached }, { "exec", execs }, { "exec-itself", execs_itself },
	{ "cleared", cleared }, { NULL, NULL },
};
int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	return run_way(ways, argv[1]);
}

//: record -q --mode {controlled,free} -o t.hdl @ plain
//= exit 3
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ crash
//= exit 139
//: record -q --mode {controlled,free} -o t.hdl @ abort
//= exit 134
//: record -q --mode {controlled,free} -o t.hdl @ overflow
//= exit 139
//: record -q --mode {controlled,free} -o t.hdl @ division
//= exit 136
//: record -q --mode {controlled,free} -o t.hdl @ killed
//= exit 137
//: record -q --mode {controlled,free} -o t.hdl @ interrupted
//= exit 130
//: record -q --mode {controlled,free} -o t.hdl @ quick
//= exit 11
//: record -q --mode {controlled,free} -o t.hdl @ of-thread
//= exit 7
//: record -q --mode {controlled,free} -o t.hdl @ main-first
//= exit 0
//: record -q --mode {controlled,free} -o t.hdl @ detached
//= exit 0
//~ out ^bye$
//: record -q --mode {controlled,free} -o t.hdl @ exec
//= exit 0
//~ out ^execed$
//: record -q --mode {controlled,free} -o t.hdl @ exec-itself
//= exit 3
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ cleared
//= exit 3
//~ out ^x=40$
