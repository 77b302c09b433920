/* printed.c - values that the explorer prints: fields, elements, pointers, locals. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum state { IDLE, BUSY };
struct job { int n; enum state state; struct job *next; };
struct job cells[4];
struct { pthread_mutex_t m; int head; struct job *first; } q = { PTHREAD_MUTEX_INITIALIZER };
static int total;
static void add(int *sum, int n)
{
	int local = n * 2;
	*sum += local;
	cells[n].n = local;
	cells[n].state = BUSY;
}
static void *worker(void *arg)
{
	int sum = 0;
	int n = (int)(long)arg;
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&q.m);
		add(&sum, n);
		total += n;
		q.head = n;
		struct job *j = malloc(sizeof *j);
		j->n = i;
		j->next = q.first;
		q.first = j;
		pthread_mutex_unlock(&q.m);
	}
	return NULL;
}
static int last(void)
{
	return q.first->n;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d %d\n", total, last());
}
