/* Nobody looks at what the barrier returns, though the next call is one of the recording runtime's: two rounds of a
 * lock by compare and exchange, each in two orders. */
#include <pthread.h>
#include <stdatomic.h>
static pthread_barrier_t b;
static atomic_int lock;
static int x;
static void *run(void *p)
{
	for (int i = 0; i < 2; i++) {
		pthread_barrier_wait(&b);
		int free = 0;
		while (!atomic_compare_exchange_strong(&lock, &free, 1))
			free = 0;
		x++;
		lock = 0;
	}
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_barrier_init(&b, 0, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//= states 4
