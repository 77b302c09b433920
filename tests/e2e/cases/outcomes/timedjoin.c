#include "sets.h"
static sem_t e;
TH(h)
{
	sem_wait(&e);
	return p;
}
TH(po)
{
	sem_post(&e);
	return p;
}
int main(void)
{
	sem_init(&e, 0, 0);
	go(h);
	go(po);
	struct timespec at = in(1);
	r = pthread_timedjoin_np(T[0], 0, &at) == 0;
	if (!r)
		pthread_join(T[0], 0);
	pthread_join(T[1], 0);
	return r;
}

//: explore
//= complete no
//~ said a join that does not wait
//~ outcomes ^(0|1)( (0|1))*$
