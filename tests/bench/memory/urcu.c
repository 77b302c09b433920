/*
 * liburcu's structures without its grace periods (0.13), for `heddle explore --memory rc11`:
 * one of -DWFCQUEUE, -DWFSTACK, -DLFSTACK. The exit status is 1 when something came wrong.
 *
 *     heddle cc -g -O1 -include urcu_port.h -DWFCQUEUE urcu.c -o urcu -pthread
 */
#include <pthread.h>
#include <stddef.h>

static int wrong;
enum { ITEMS = 2 };

#ifdef WFCQUEUE
#include <urcu/wfcqueue.h>
static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static struct item {
	struct cds_wfcq_node node;
	int value;
} items[ITEMS];
static void put(int i)
{
	items[i].value = i + 1;
	cds_wfcq_node_init(&items[i].node);
	cds_wfcq_enqueue(&head, &tail, &items[i].node);
}
/* The queue is looked through: a dequeue resets the head's link plainly, which is a data race
 * in C11, as nothing orders it with the relaxed store that it read before. */
static struct cds_wfcq_node *last;
static struct item *get(void)
{
	struct cds_wfcq_node *n = last ? __cds_wfcq_next_nonblocking(&head, &tail, last)
	                               : __cds_wfcq_first_nonblocking(&head, &tail);
	if (n == NULL || n == CDS_WFCQ_WOULDBLOCK)
		return NULL;
	last = n;
	return (struct item *)n;
}
static void make(void)
{
	cds_wfcq_init(&head, &tail);
}
#elif defined WFSTACK
#include <urcu/wfstack.h>
static struct cds_wfs_stack stack;
static struct item {
	struct cds_wfs_node node;
	int value;
} items[ITEMS];
static void put(int i)
{
	items[i].value = i + 1;
	cds_wfs_node_init(&items[i].node);
	cds_wfs_push(&stack, &items[i].node);
}
static struct item *get(void)
{
	struct cds_wfs_node *n = __cds_wfs_pop_nonblocking(&stack);
	return n == CDS_WFS_WOULDBLOCK ? NULL : (struct item *)n;
}
static void make(void)
{
	cds_wfs_init(&stack);
}
#else
#include <urcu/lfstack.h>
static struct cds_lfs_stack stack;
static struct item {
	struct cds_lfs_node node;
	int value;
} items[ITEMS];
static void put(int i)
{
	items[i].value = i + 1;
	cds_lfs_node_init(&items[i].node);
	cds_lfs_push(&stack, &items[i].node);
}
static struct item *get(void)
{
	return (struct item *)__cds_lfs_pop(&stack);
}
static void make(void)
{
	cds_lfs_init(&stack);
}
#endif

static void *one(void *p)
{
	put(0);
	return p;
}

int main(void)
{
	pthread_t t;
	make();
	pthread_create(&t, NULL, one, NULL);
	put(1);
	struct item *a = get(), *b = get();
	wrong = (a != NULL && a->value != a - items + 1) ||
	        (b != NULL && b->value != b - items + 1) || (a != NULL && a == b);
	pthread_join(t, NULL);
	return wrong;
}
