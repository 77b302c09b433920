#include "sets.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
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
//= complete no
//~ said a waiting writer go first
//~ outcomes ^(0|deadlock|blocked)( (0|deadlock|blocked))*$
//: record -q -o t.hdl
//= exit 0
//: deadlocks t.hdl
//= complete no
//~ said a waiting writer go before readers
