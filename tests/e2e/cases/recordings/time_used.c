/* The processor time that the process has used is virtual, too, and its other usage is not shown: one seed
 * is one run, byte for byte.  The answers are written to the caller's memory, which another thread reads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
static struct rusage usage, own;
static struct tms spent;
static struct timespec process, thread;
static volatile long sink, other;
static void *looks(void *p)
{
	sink = usage.ru_utime.tv_usec + spent.tms_utime;
	return p;
}
int main(void)
{
	pthread_t t;
	char *block = malloc(5000000);
	for (int i = 0; i < 5000000; i += 4096)
		block[i] = (char)i;
	pthread_create(&t, 0, looks, 0);
	if (getrusage(RUSAGE_SELF, &usage) || getrusage(RUSAGE_THREAD, &own) || times(&spent) < 0 ||
	    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process) || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread))
		return 1;
	other = own.ru_maxrss + own.ru_minflt + process.tv_nsec + thread.tv_nsec + clock();
	pthread_join(t, 0);
	return usage.ru_utime.tv_usec > process.tv_nsec / 1000 || getrusage(99, &own) != -1;
}

//: record -q -o t.hdl
//= exit 0
//: races t.hdl
//= lines data-race:26:16
//: sh cp t.hdl first.hdl && sleep 0.01
//: record -q -o t.hdl
//= exit 0
//: sh cmp first.hdl t.hdl
//: replay --trace t.hdl @
//= exit 0
//: record -q --mode free -o t.hdl
//= exit 0
