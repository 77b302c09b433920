#include <pthread.h>
#include <stdio.h>
enum { EVENTS = 3 };
int next;
static int mine[EVENTS];
static void *count(void *own)
{
	for (int i = 0; i < EVENTS; i++) {
		int place = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);
		if (own)
			mine[i] = place;
	}
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, count, mine);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d %d %d\n", mine[0], mine[1], mine[2]);
	return 0;
}
