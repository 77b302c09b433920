/*
 * urcu-queue: two threads hand items to a third through liburcu's wait-free queue, whose
 * functions are in a library that is not instrumented; what they count together is a race.
 *
 *   heddle cc -g -O1 urcu-queue.c -o urcu-queue -lurcu-common -pthread
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/wfcqueue.h>

enum { EACH = 20 };

struct item {
	struct cds_wfcq_node node;
	int value;
};

static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static int made, total;

static void *producer(void *unused)
{
	for (int i = 0; i < EACH; i++) {
		struct item *n = malloc(sizeof *n);
		cds_wfcq_node_init(&n->node);
		n->value = i;
		made++;
		cds_wfcq_enqueue(&head, &tail, &n->node);
	}
	return NULL;
}

static void *consumer(void *unused)
{
	for (int got = 0; got < 2 * EACH;) {
		struct item *i = (struct item *)cds_wfcq_dequeue_blocking(&head, &tail);
		if (!i) {
			sched_yield();
			continue;
		}
		total += i->value;
		free(i);
		got++;
	}
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	cds_wfcq_init(&head, &tail);
	pthread_create(&t[0], NULL, producer, NULL);
	pthread_create(&t[1], NULL, producer, NULL);
	pthread_create(&t[2], NULL, consumer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d %d\n", made, total);
	return 0;
}
