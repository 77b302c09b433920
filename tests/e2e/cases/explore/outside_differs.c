/* The name that mkstemp makes is another one in each run, and main reads it: what were called complete would hold for the
 * names of these runs alone. */
#include <unistd.h>
#include "two_threads.h"

static int n;
static volatile char seen;
static char name[] = "/tmp/heddle-case-XXXXXX";
static void add(void)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
}
static void one(void) { add(); }
static void two(void) { add(); }
static int result(void) { return n != 2; }

__attribute__((constructor)) static void early(void)
{
	int file = mkstemp(name);
	close(file);
	unlink(name);
	for (const char *c = name; *c; c++)
		seen = *c;
}

//: explore --runs 50
//= exit 3
//= errors
//= complete no
//~ said a run followed its schedule and read other values: what it reads from outside is not the same
