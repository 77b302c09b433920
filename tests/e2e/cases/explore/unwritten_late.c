/* A value is read before the other thread has written it, in the same block as one that is always
 * written: --until-error goes on to that schedule, as the other read is in all runs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slot {
	int always, value;
};
static struct slot *slot;
static atomic_int ready;
static int above;

static void *fill(void *none)
{
	slot->value = 1;
	atomic_store(&ready, 1);
	return none;
}

int main(void)
{
	pthread_t t;
	slot = malloc(sizeof *slot);
	above += slot->always > 3;
	pthread_create(&t, NULL, fill, NULL);
	if (!atomic_load(&ready))
		abort();
	above += slot->value > 3;
	pthread_join(t, NULL);
	return 0;
}

//: explore --until-error
//= exit 1
//~ errors signal@unwritten_late.c:27
//: explore
//= errors signal@unwritten_late.c:27 uninitialised-read@unwritten_late.c:25
//= complete yes
