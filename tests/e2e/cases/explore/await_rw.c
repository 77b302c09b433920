/* Two threads look under a reader-writer lock, shared; then each changes the sum: two orders. */
#include <pthread.h>
static pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;
static int ready;
int sum;
static void *look(void *p)
{
	for (;;) {
		pthread_rwlock_rdlock(&m);
		int now = ready;
		pthread_rwlock_unlock(&m);
		if (now)
			break;
	}
	pthread_rwlock_wrlock(&m);
	sum = sum * 3 + (int)(long)p;
	pthread_rwlock_unlock(&m);
	return 0;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, look, (void *)1);
	pthread_create(&b, 0, look, (void *)2);
	pthread_rwlock_wrlock(&m);
	ready = 1;
	pthread_rwlock_unlock(&m);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}

//: explore --check 'sum == 5 || sum == 7'
//= exit 0
//= states 2
//= complete yes
//= errors
//: explore --check 'sum != 5'
//= exit 1
//: explore --check 'sum != 7'
//= exit 1
