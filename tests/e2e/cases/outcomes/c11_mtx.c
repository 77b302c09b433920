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
static int t(void *p)
{
	if (mtx_trylock(&l) == thrd_success) {
		r = x;
		mtx_unlock(&l);
	} else
		r = 9;
	return 0;
}
int main(void)
{
	thrd_t u, v;
	mtx_init(&l, mtx_plain);
	thrd_create(&u, h, 0);
	thrd_create(&v, t, 0);
	thrd_join(u, 0);
	thrd_join(v, 0);
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 9
