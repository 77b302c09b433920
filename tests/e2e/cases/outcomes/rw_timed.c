#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
TH(h)
{
	pthread_rwlock_rdlock(&l);
	x = 1;
	pthread_rwlock_unlock(&l);
	return p;
}
TH(t)
{
	struct timespec at = in(1);
	r = pthread_rwlock_timedwrlock(&l, &at) == 0;
	if (r)
		pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
