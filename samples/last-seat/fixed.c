/* last-seat, fixed: asking and selling are one critical section. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1;

static void *agent(void *unused)
{
	pthread_mutex_lock(&lock);
	if (seats > 0)
		seats--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, agent, NULL);
	pthread_create(&b, NULL, agent, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("seats %d\n", seats);
	return seats < 0;
}
