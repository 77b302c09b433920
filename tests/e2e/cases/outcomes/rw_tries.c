#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
TH(h)
{
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	return p;
}
TH(t)
{
	a = pthread_rwlock_tryrdlock(&l) == 0;
	if (a)
		pthread_rwlock_unlock(&l);
	return p;
}
TH(u)
{
	b = pthread_rwlock_trywrlock(&l) == 0;
	if (b)
		pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	go(h);
	go(t);
	go(u);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 1 10 11
