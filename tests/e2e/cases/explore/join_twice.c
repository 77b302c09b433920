/* Two threads that find a third one not joined yet both join it, in some schedules; C and POSIX leave the second
 * join undefined. Which of the two comes first is not explored. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_t worker;
static atomic_int joined;

static void *work(void *unused)
{
	return unused;
}

static void *await(void *unused)
{
	if (!joined && pthread_join(worker, NULL) == 0)
		joined = 1;
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&worker, NULL, work, NULL);
	pthread_create(&t, NULL, await, NULL);
	await(NULL);
	return pthread_join(t, NULL);
}

//: explore
//= exit 1
//= statuses 0 0
//= complete no
//~ said a.join.or.detachment.of.a.thread
//= errors lock-misuse@join_twice.c:16
//~ join(",",map{$_->{story}}@{$d->{errors}}) joins.a.thread.that.was.joined
