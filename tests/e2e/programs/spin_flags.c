/* Two threads that spin until the other has set its flag; both flags race. */
#include <pthread.h>
static volatile int ready[2];
static void *run(void *p)
{
	ready[0] = 1;
	while (!ready[1])
		;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	while (!ready[0])
		;
	ready[1] = 1;
	return pthread_join(t, 0);
}
