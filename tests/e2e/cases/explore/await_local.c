/* A loop that counts its rounds in thread-local memory: each number of looks is an outcome. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static _Thread_local int rounds;
static int out;

static void *run(void *unused)
{
	while (!flag && rounds < 3)
		rounds++;
	out = rounds;
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	flag = 1;
	pthread_join(t, 0);
	return out;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 1
//= complete yes
//= statuses 0 1 2 3 3
//: explore --seed 2
//= exit 1
//= complete yes
//= statuses 0 1 2 3 3
