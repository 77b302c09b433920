/* A child's number is another one in each run, and runs are not told apart by it. */
#include <spawn.h>
#include <sys/wait.h>
#include "two_threads.h"

static int n;
static void add(void) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }
static void one(void)
{
	static pid_t child;
	int status;
	char *words[] = { "true", 0 };
	if (posix_spawn(&child, "/bin/true", 0, 0, words, 0) != 0 || waitpid(child, &status, 0) != child)
		abort();
	add();
}
static void two(void) { add(); }
static int result(void) { return n != 2; }

//: explore --runs 50
//= exit 3
//= states 2
//= said a child process, and its number: what comes of it may depend on the order, which is not explored
