#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
TH(wr)
{
	pthread_rwlock_wrlock(&l);
	int e = pthread_rwlock_wrlock(&l), f = pthread_rwlock_rdlock(&l);
	r += e == EDEADLK && f == EDEADLK;
	pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	go(wr);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 1
