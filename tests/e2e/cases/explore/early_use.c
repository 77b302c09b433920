/* A pointer to a new block is published by an atomic that orders nothing: nothing orders the write
 * after the allocation. With ORDERED it acquires, with LOCKED a lock may order them or not, with
 * WRITTEN the block's contents race. (After GenMC's malloc-not-hb2.) */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) place;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#ifdef ORDERED
enum { HOW = memory_order_acquire };
#else
enum { HOW = memory_order_relaxed };
#endif

static void section(void)
{
#ifdef LOCKED
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
#endif
}

static void *owner(void *none)
{
	int *block = malloc(sizeof *block);
#ifdef WRITTEN
	*block = 1;
#endif
	atomic_store(&place, block);
	section();
	return none;
}

static void *stranger(void *none)
{
	section();
	int *block = atomic_load_explicit(&place, HOW);
	if (block != NULL)
		*block = 18;
	return none;
}

int main(void)
{
	pthread_t t1, t2;
	pthread_create(&t1, NULL, owner, NULL);
	pthread_create(&t2, NULL, stranger, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}

//: explore {--memory sc,--memory rc11}
//= exit 1
//= complete yes
//= racy early_use.c:26+early_use.c:40
//: sh $HEDDLE cc -g -O1 -DORDERED $here/early_use.c -o ordered -pthread
//: explore --format json {--memory sc,--memory rc11} -- ./ordered
//= exit 0
//= racy
//= complete yes
//: sh $HEDDLE cc -g -O1 -DWRITTEN $here/early_use.c -o written -pthread
//: explore --format json -- ./written
//= racy early_use.c:28+early_use.c:40
//: sh $HEDDLE cc -g -O1 -DLOCKED $here/early_use.c -o locked -pthread
//: explore --format json -- ./locked
//= complete yes
//~ said an access of a block comes after its
