#include "sets.h"
#include <threads.h>
static mtx_t l;
static int h(void *p)
{
	mtx_lock(&l);
	x = 1;
	mtx_unlock(&l);
	return 0;
}
int main(void)
{
	thrd_t u;
	mtx_init(&l, mtx_timed);
	thrd_create(&u, h, 0);
	thrd_detach(u);
	struct timespec at = in(1);
	if (mtx_timedlock(&l, &at) == thrd_success) {
		r = x;
		mtx_unlock(&l);
	} else
		r = 0;
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
