#include "sets.h"
#include <threads.h>
static mtx_t l;
static cnd_t q;
static int w(void *p)
{
	struct timespec at = in(1);
	mtx_lock(&l);
	r = cnd_timedwait(&q, &l, &at) == thrd_success;
	mtx_unlock(&l);
	return 0;
}
static int s1(void *p)
{
	mtx_lock(&l);
	cnd_signal(&q);
	mtx_unlock(&l);
	return 0;
}
int main(void)
{
	thrd_t t[2];
	mtx_init(&l, mtx_plain);
	cnd_init(&q);
	thrd_create(t, w, 0);
	thrd_create(t + 1, s1, 0);
	for (int i = 0; i < 2; i++)
		thrd_join(t[i], 0);
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
