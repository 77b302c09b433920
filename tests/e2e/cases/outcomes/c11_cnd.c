#include "sets.h"
#include <threads.h>
static mtx_t l;
static cnd_t q;
static int w(void *p)
{
	mtx_lock(&l);
	while (!y) {
		r++;
		cnd_wait(&q, &l);
	}
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
static int s2(void *p)
{
	mtx_lock(&l);
	y = 1;
	cnd_signal(&q);
	mtx_unlock(&l);
	return 0;
}
int main(void)
{
	thrd_t t[3];
	mtx_init(&l, mtx_plain);
	cnd_init(&q);
	thrd_create(t, w, 0);
	thrd_create(t + 1, s1, 0);
	thrd_create(t + 2, s2, 0);
	for (int i = 0; i < 3; i++)
		thrd_join(t[i], 0);
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2
