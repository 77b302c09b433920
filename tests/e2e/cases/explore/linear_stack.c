/* Treiber's stack. With "again" nodes that were popped are pushed again, and a pop that was interrupted takes
 * the head of before for the one of now (ABA): not linearizable. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { struct node *_Atomic next; atomic_int v; };
struct stack { _Atomic(struct node *) top; };
static struct stack s;
static struct node nodes[4];
static struct node *_Atomic spare;
static int again;
__attribute__((noipa)) void stack_push(struct stack *s, int v)
{
	struct node *n = again ? atomic_exchange(&spare, NULL) : NULL;
	if (n == NULL)
		n = &nodes[v];
	n->v = v;
	n->next = s->top;
	struct node *next = n->next;
	while (!atomic_compare_exchange_strong(&s->top, &next, n))
		n->next = next;
}
__attribute__((noipa)) int stack_pop(struct stack *s)
{
	struct node *n = s->top;
	do
		if (n == NULL)
			return 0;
	while (!atomic_compare_exchange_strong(&s->top, &n, n->next));
	int v = n->v;
	if (again && spare == NULL)
		spare = n;
	return v;
}
static void *one(void *p) { stack_pop(&s); return p; }
static void *two(void *p) { stack_pop(&s); stack_pop(&s); stack_push(&s, 3); return p; }
int main(int argc, char **argv)
{
	pthread_t t, u;
	again = argc > 1;
	stack_push(&s, 1);
	stack_push(&s, 2);
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	stack_pop(&s);
	stack_pop(&s);
	return 0;
}

//: explore --linearizable --spec $here/linear_stack.spec
//= exit 0
//= complete yes
//= errors
//: explore --linearizable --spec $here/linear_stack.spec --format json @ again
//= exit 1
//= complete yes
