/*
 * parcels: a library that came without its instrumentation.  It hands parcels over by an atomic
 * of its own, and whoever does not look inside sees two threads that never meet.
 */
#include "parcels.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
	atomic_int full;
	void *parcel;
};

struct box *box_new(void)
{
	return calloc(1, sizeof(struct box));
}

void box_put(struct box *box, void *parcel)
{
	while (atomic_load(&box->full))
		sched_yield();
	box->parcel = parcel;
	atomic_store(&box->full, 1);
}

void *box_take(struct box *box)
{
	while (!atomic_load(&box->full))
		sched_yield();
	void *parcel = box->parcel;
	atomic_store(&box->full, 0);
	return parcel;
}
