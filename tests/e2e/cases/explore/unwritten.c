/* Members of a block are read before anything was written to them: by every schedule, by one, and
 * by an update. Not: what calloc, realloc or code that is not recorded has written; bits beside
 * those of a bit-field; copies. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct job {
	int count, late, total, flags;
	unsigned low : 3, high : 5;
	char text[8];
	struct pair {
		int a, b;
	} pair;
	long outside;
};
static struct job *job, *cleared, *grown;
static int above;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *none)
{
	pthread_mutex_lock(&m);
	job->late = 1;
	pthread_mutex_unlock(&m);
	return none;
}

static void others(void)
{
	cleared = calloc(1, sizeof *cleared);
	above += cleared->count > 3;
	grown = malloc(4);
	grown->count = 5;
	grown = realloc(grown, sizeof *grown);
	above += grown->count > 3;
	job->low = 2;
	above += job->low > 3;
	struct job copy;
	memcpy(&copy, job, sizeof copy);
	cleared->pair = job->pair;
	__asm__ volatile("movq $7, %0" : "=m"(job->outside)); /* no hook sees it */
	above += job->outside > 3;
	job->flags = (job->flags & 7) | 8; /* as a store to a bit-field: not known */
	free(cleared);
	free(grown);
}

int main(void)
{
	pthread_t t;
	job = malloc(sizeof *job);
	pthread_create(&t, NULL, writer, NULL);
	above += job->count > 3; /* always */
	pthread_mutex_lock(&m);
	above += job->late > 3; /* if the thread comes later */
	pthread_mutex_unlock(&m);
	job->total++;
	pthread_join(t, NULL);
	others();
	free(job);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 1
//= errors uninitialised-read@unwritten.c:54 uninitialised-read@unwritten.c:56 uninitialised-read@unwritten.c:58
//= complete yes
//= states 2
//~ $d->{errors}[1]{story} ^main.reads.job->late,.to.which.nothing.was.written.since.main.allocated.its.block.at.unwritten.c:52$
//= $d->{errors}[1]{count} 1
//: explore --format text @
//= exit 1
//~ out except for what its reads of uninitialised memory allow
//: explore --memory rc11
//= errors uninitialised-read@unwritten.c:54 uninitialised-read@unwritten.c:56 uninitialised-read@unwritten.c:58
