/* A queue with many writers and one reader (after Vyukov's): put exchanges the tail and then links the
 * node. A reader that comes in between finds it empty, though a put after that one has returned: not
 * linearizable. With "waits" it waits for the link, and is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { _Atomic(struct node *) next; int v; };
struct queue { struct node stub; _Atomic(struct node *) tail; struct node *head; };
static struct queue q = { .tail = &q.stub, .head = &q.stub };
static struct node nodes[3];
static int waits;
__attribute__((noipa)) void queue_put(struct queue *q, int v)
{
	struct node *n = &nodes[v];
	n->v = v;
	struct node *last = atomic_exchange(&q->tail, n);
	atomic_store(&last->next, n);
}
__attribute__((noipa)) int queue_get(struct queue *q)
{
	struct node *next = atomic_load(&q->head->next);
	if (next == NULL && waits && atomic_load(&q->tail) != q->head)
		while ((next = atomic_load(&q->head->next)) == NULL)
			;
	if (next == NULL)
		return 0;
	q->head = next;
	return next->v;
}
static void *one(void *p) { queue_put(&q, 1); return p; }
static void *two(void *p) { queue_put(&q, 2); queue_get(&q); return p; }
int main(int argc, char **argv)
{
	pthread_t t, u;
	waits = argc > 1;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --linearizable --spec $here/linear_queue.spec
//= exit 1
//= complete yes
//= errors linearizability@linear_queue.c:31
//: explore --linearizable --spec $here/linear_queue.spec --format json @ waits
//= exit 0
//= complete yes
//= errors
