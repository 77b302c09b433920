#include "sets.h"
#include <threads.h>
static tss_t k;
static void d(void *q)
{
	x = (int)(long)q;
}
static int h(void *p)
{
	tss_set(k, (void *)1);
	thrd_exit(0);
}
static int o(void *p)
{
	r = x;
	return 0;
}
int main(void)
{
	thrd_t u, v;
	tss_create(&k, d);
	thrd_create(&u, h, 0);
	thrd_create(&v, o, 0);
	thrd_join(u, 0);
	thrd_join(v, 0);
	return r * 10 + x;
}

//: explore
//= complete yes
//= outcomes 1 11
