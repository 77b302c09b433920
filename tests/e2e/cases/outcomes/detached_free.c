#include "sets.h"
TH(h)
{
	x = 1;
	return p;
}
int main(void)
{
	pthread_attr_t at;
	pthread_attr_init(&at);
	pthread_attr_setdetachstate(&at, PTHREAD_CREATE_DETACHED);
	pthread_create(T, &at, h, 0);
	return x;
}

//: explore
//= complete yes
//= outcomes 0 1
