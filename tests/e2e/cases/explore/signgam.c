/* lgamma stores the sign of its result in one place for all threads. */
#include <math.h>
#include <pthread.h>
static void *run(void *p)
{
	volatile double x = -0.5;
	x = lgamma(x);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	int sign = signgam;
	pthread_join(t, 0);
	return sign < 0;
}
//: build -lm
//: explore
//= outcomes 0 1
//= racy signgam.c:14+signgam.c:7
