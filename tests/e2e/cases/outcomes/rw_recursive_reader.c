#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
TH(rd)
{
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	pthread_rwlock_unlock(&l);
	return p;
}
TH(wr)
{
	pthread_rwlock_wrlock(&l);
	pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	go(rd);
	go(wr);
	join();
	return 0;
}

//: explore
//= complete yes
//= outcomes 0
