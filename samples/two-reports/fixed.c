/*
 * two-reports: both counted under the lock.
 *
 * A cashier counts sales in `sold` and writes the day's `total` under a lock; an office begins
 * a new day and counts, too. ThreadSanitizer's report of another run (tsan.txt) names two races.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static int sold, total;

static void *cashier(void *unused)
{
	pthread_mutex_lock(&book);
	sold = sold + 1;
	total = 25;
	pthread_mutex_unlock(&book);
	return NULL;
}

static void *office(void *unused)
{
	pthread_mutex_lock(&book);
	total = 0; /* a new day */
	sold = sold + 1;
	pthread_mutex_unlock(&book);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, cashier, NULL);
	pthread_create(&b, NULL, office, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("sold %s\n", sold > 0 ? "something" : "nothing");
	return 0;
}
