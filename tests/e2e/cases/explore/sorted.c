/* qsort calls the program's comparison, which reads the elements: what it reads was written by
 * the program. Another thread sees the array as it was, or sorted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct item {
	int key, place;
};
static struct item a[] = { { 5, 0 }, { 3, 1 }, { 9, 2 }, { 3, 3 }, { 1, 4 }, { 7, 5 }, { 0, 6 } };
static int turns;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int compare(const void *x, const void *y)
{
	const struct item *p = x, *q = y;
	pthread_mutex_lock(&m);
	turns++;
	pthread_mutex_unlock(&m);
	return (p->key > q->key) - (p->key < q->key);
}
static int reversed(const void *x, const void *y, void *with)
{
	return *(int *)with * compare(x, y);
}
static void *run(void *p)
{
	qsort(a, 7, sizeof *a, compare);
	return p;
}
int main(void)
{
	static const int wanted[] = { 6, 4, 1, 3, 0, 5, 2 }, back[] = { 2, 5, 0, 1, 3, 4, 6 };
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_mutex_lock(&m);
	int seen = turns > 0;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	for (int i = 0; i < 7; i++)
		if (a[i].place != wanted[i])
			abort();
	qsort_r(a, 7, sizeof *a, reversed, &(int){ -1 });
	for (int i = 0; i < 7; i++)
		if (a[i].place != back[i])
			abort();
	qsort(a, 1, sizeof *a, compare);
	qsort(a, 0, sizeof *a, compare);
	return seen;
}
//: explore
//= complete yes
//= outcomes 0 1
//= errors exit-status=1
//- said code that is not recorded
