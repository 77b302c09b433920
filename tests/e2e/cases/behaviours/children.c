/* Ways to make a child, which is not recorded; the parent and the child do as they do alone. */
#include "two_threads.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int status_of(pid_t child)
{
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 97;
	printf("ended with %d\n", WEXITSTATUS(status));
	return 0;
}
static void *pauses(void *p)
{
	for (;;)
		pause();
}
static int five(void *p) { _exit(5); }

static int forks(void)
{
	two(20);
	pid_t p = fork();
	if (p == 0) {
		two(20);
		say();
		exit(4);
	}
	return status_of(p);
}
static int many(void)
{
	int n = 0;
	for (int i = 0; i < 60; i++)
		if (fork() == 0) {
			two(20);
			_exit(0);
		}
	while (wait(NULL) > 0)
		n++;
	printf("n=%d\n", n);
	return 0;
}
static int with_thread(void)
{
	pthread_t t;
	pthread_create(&t, NULL, pauses, NULL);
	pid_t p = fork();
	if (p == 0)
		_exit(2);
	exit(status_of(p));
}
static int by_vfork(void)
{
	pid_t p = vfork();
	if (p == 0)
		_exit(6);
	return status_of(p);
}
static int by_clone(void)
{
	char *stack = malloc(65536);
	return status_of(clone(five, stack + 65536, SIGCHLD, NULL));
}
static int by_clone3(void)
{
	struct clone_args a = { .exit_signal = SIGCHLD };
	long p = syscall(SYS_clone3, &a, sizeof a);
	if (p == 0)
		_exit(8);
	return status_of((pid_t)p);
}
static int becomes_daemon(void)
{
	two(20);
	if (daemon(1, 1) != 0)
		return 96;
	int f = open("daemon.out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	two(20);
	dprintf(f, "x=%d\n", x);
	return rename("daemon.out", "daemon.done");
}
static int traced(void)
{
	printf("r=%ld\n", ptrace(PTRACE_TRACEME, 0, 0, 0));
	two(20);
	say();
	return 0;
}
static int stopped(void)
{
	pid_t self = getpid(), p = fork();
	if (p == 0) {
		char path[64], state = 0;
		snprintf(path, sizeof path, "/proc/%d/stat", self);
		while (state != 'T') { /* stopped, and not before */
			FILE *f = fopen(path, "r");
			if (f == NULL || fscanf(f, "%*d %*s %c", &state) != 1)
				_exit(1);
			fclose(f);
			usleep(1000);
		}
		kill(self, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	two(20);
	say();
	return status_of(p);
}

static const struct way ways[] = {
	{ "fork", forks }, { "many", many }, { "with-thread", with_thread }, { "vfork", by_vfork },
	{ "clone", by_clone }, { "clone3", by_clone3 }, { "daemon", becomes_daemon },
	{ "traced", traced }, { "stopped", stopped }, { NULL, NULL },
};
int main(int argc, char **argv) { return run_way(ways, argv[1]); }

//: record -q --mode {controlled,free} -o t.hdl @ fork
//= exit 0
//~ out ^x=80\nended with 4\n$
//: record -q --mode {controlled,free} -o t.hdl @ many
//= exit 0
//~ out ^n=60$
//: record -q --mode {controlled,free} -o t.hdl @ with-thread
//= exit 0
//~ out ^ended with 2$
//: record -q --mode {controlled,free} -o t.hdl @ vfork
//= exit 0
//~ out ^ended with 6$
//: record -q --mode {controlled,free} -o t.hdl @ clone
//= exit 0
//~ out ^ended with 5$
//: record -q --mode {controlled,free} -o t.hdl @ clone3
//= exit 0
//~ out ^ended with 8$
//: record -q --mode {controlled,free} -o t.hdl @ traced
//= exit 0
//~ out ^r=0\nx=40\n$
//: record -q --mode {controlled,free} -o t.hdl @ stopped
//= exit 0
//~ out ^x=40\nended with 0\n$
//: record -q -o t.hdl @ daemon
//= exit 0
//: sh for i in $(seq 600); do [ -e daemon.done ] && break; sleep 0.1; done; grep -qx x=80 daemon.done && rm daemon.done
//: record -q --mode free -o t.hdl @ daemon
//= exit 0
//: sh for i in $(seq 600); do [ -e daemon.done ] && break; sleep 0.1; done; grep -qx x=80 daemon.done
