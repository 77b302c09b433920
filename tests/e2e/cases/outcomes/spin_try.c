#include "sets.h"
static pthread_spinlock_t l;
TH(h)
{
	pthread_spin_lock(&l);
	x++;
	pthread_spin_unlock(&l);
	return p;
}
TH(t)
{
	if (pthread_spin_trylock(&l) == 0) {
		r = x + 1;
		pthread_spin_unlock(&l);
	}
	return p;
}
int main(void)
{
	pthread_spin_init(&l, 0);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2
