/* Main looks between the joins, and between the creations of others. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static int look(int *at)
{
	pthread_mutex_lock(&m);
	int n = (*at)++;
	pthread_mutex_unlock(&m);
	return n;
}
static void *one(void *u) { look(&x); return u; }
static void *other(void *u) { look(&y); return u; }
int main(void)
{
	pthread_t a, b, c, d;
	pthread_create(&a, 0, one, 0);
	pthread_create(&b, 0, one, 0);
	pthread_join(a, 0);
	int first = look(&x);
	pthread_join(b, 0);
	pthread_create(&c, 0, other, 0);
	int second = look(&y);
	pthread_create(&d, 0, other, 0);
	pthread_join(c, 0);
	pthread_join(d, 0);
	assert(first != 1 || second != 1);
	return 0;
}

//: explore {--symmetry,}
//= complete yes
//= errors signal@alike_joins.c:28
//: explore --symmetry
//~ said T1, T2 run the same, and are told apart: main does what others may notice between their joins \(alike_joins.c:8\)
//~ said T3, T4 run the same, and are told apart: main does what others may notice between their creations \(alike_joins.c:8\)
