/* The first run frees before the write; written first, the value is seen after both joins by
 * nobody: only the order tells the runs apart.  The other thread's assertion fails only when
 * the write came first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static int *volatile p;
static atomic_int freed, wrote;
static void *one(void *u) { if (atomic_load(&wrote)) assert(!"written first"); free(p); atomic_store(&freed, 1); return u; }
static void *two(void *u) { *p = 42; atomic_store(&wrote, 1); return u; }
int main(void)
{
	pthread_t t[2];
	p = malloc(64);
	pthread_create(t, 0, one, 0);
	pthread_create(t + 1, 0, two, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: explore
//= errors signal@alive_after.c:10 use-after-free@alive_after.c:11
