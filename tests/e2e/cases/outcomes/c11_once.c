#include "sets.h"
#include <threads.h>
static once_flag o = ONCE_FLAG_INIT;
static thread_local int me;
static void init(void)
{
	r = me;
}
static int h(void *p)
{
	me = ID;
	call_once(&o, init);
	return 0;
}
int main(void)
{
	thrd_t u, v;
	thrd_create(&u, h, (void *)1);
	thrd_create(&v, h, (void *)2);
	thrd_join(u, 0);
	thrd_join(v, 0);
	return r;
}

//: explore
//= complete yes
//= outcomes 1 2
