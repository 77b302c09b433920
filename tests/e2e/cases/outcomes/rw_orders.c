#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
TH(rd)
{
	pthread_rwlock_rdlock(&l);
	r = x;
	pthread_rwlock_unlock(&l);
	return p;
}
TH(wr)
{
	pthread_rwlock_wrlock(&l);
	x = ID;
	pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	go(wr);
	go(wr);
	go(rd);
	join();
	return r * 10 + x;
}

//: explore
//= complete yes
//= outcomes 1 11 12 2 21 22
