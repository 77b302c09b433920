/* Main ends the program while threads run that it does not wait for: by each strategy they come to their end in most
 * schedules (status 3), and by chance they are cut off in some. A thread that never ends does not keep main. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 3, ROUNDS = 20 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int done;
static volatile int x;
static atomic_int y;

static void *work(void *p)
{
	int last = 0;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&m);
		last = i == ROUNDS - 1 && ++done == N;
		pthread_mutex_unlock(&m);
	}
	if (last)
		exit(3);
	return p;
}
static void *locks(void *p)
{
	for (;;) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
static void *counts(void *p)
{
	for (;;)
		x++;
	return p;
}
static void *sleeps(void *p)
{
	for (;;)
		usleep(10);
	return p;
}
static void *looks(void *p)
{
	while (y == 0)
		;
	return p;
}
static void *pauses(void *p)
{
	for (;;)
		pause();
	return p;
}

int main(int argc, char **argv)
{
	static void *(*const ways[])(void *) = { work, locks, counts, sleeps, looks, pauses };
	pthread_t t;
	for (int i = 0; i < N; i++)
		pthread_create(&t, 0, ways[argc > 1 ? atoi(argv[1]) : 0], 0);
	return 0;
}
//: shake --runs 40 --tries 0 --strategy {random,pct,pos,pause,surw,pairs,auto,rr}
//= (grep{$_->{status}==3}@{$d->{outcomes}})[0]{count}>=20 1
//= (grep{$_->{status}==0}@{$d->{outcomes}})[0]{count}>0 1
//: explore --until-error
//= errors exit-status=3
//: shake --runs 10 --tries 0 --timeout 60 --strategy {random,pct,pos,pause,surw,pairs,auto,rr} @ {1,2,3,4,5}
//~ out 10 runs, 1 outcome
//~ out exit status 0
//: explore --until-error --runs 20 @ {1,3,5}
//~ out 0 findings
