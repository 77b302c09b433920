/* A child that is made while the program has one thread orders no threads: the run that follows a schedule, or a
 * recording, makes the same events. Calls made then are in one order alone. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "two_threads.h"

static int n;
static void add(void) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }
static void one(void) { add(); }
static void two(void) { add(); }
static int result(void) { return n != 2; }

__attribute__((constructor)) static void early(void)
{
	static volatile int drawn;
	int ends[2];
	char byte = 1;
	if (pipe(ends) != 0 || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
		abort();
	if (fork() == 0)
		_exit(0);
	wait(0);
	drawn = rand();
}

//: explore
//= exit 3
//= states 2
//~ said child processes are not explored
//: record -q -o F.hdl
//= exit 0
//: replay --trace F.hdl @
//= exit 0
//- err left the witness
