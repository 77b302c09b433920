/* A thread's number is another one in each run, as is the process's, and runs are not told apart
 * by them. */
#include <sys/syscall.h>
#include <unistd.h>
#include "two_threads.h"

static int n;
static volatile long threads[2], processes[2];
static void add(int k)
{
	pthread_mutex_lock(&m);
	threads[k] = syscall(SYS_gettid);
	processes[k] = getpid();
	pthread_mutex_unlock(&m);
	if (processes[k] <= 0 || threads[k] <= 0)
		abort();
	pthread_mutex_lock(&m);
	n++;
	if (threads[k] == threads[1 - k])
		abort();
	pthread_mutex_unlock(&m);
}
static void one(void) { add(0); }
static void two(void) { add(1); }
static int result(void) { return n != 2; }

//: explore --runs 50
//= exit 0
//= states 4
//= complete yes
