/* handed_on.c - two locks in two orders, but a parcel orders the threads: no deadlock.  Link with parcels.c. */
#include <pthread.h>

#include "parcels.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int parcel, sum;

static void *first(void *box)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	sum++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	box_put(box, &parcel);
	return NULL;
}

static void *second(void *box)
{
	box_take(box);
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	sum++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

int main(void)
{
	struct box *box = box_new();
	pthread_t t, u;

	pthread_create(&t, NULL, first, box);
	pthread_create(&u, NULL, second, box);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
