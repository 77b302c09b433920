/* Concurrency Kit's lock-free stack (ck_stack_pop_upmc), with an entry that is put back while
 * another thread is about to take it: an entry with two owners. */
#include <assert.h>
#include <pthread.h>
#include <ck_stack.h>
static ck_stack_t stack = CK_STACK_INITIALIZER;
static struct ck_stack_entry nodes[2];
static ck_stack_entry_t *mine, *first, *second;
static void *pops(void *p)
{
	mine = ck_stack_pop_upmc(&stack);
	return p;
}
static void *changes(void *p)
{
	first = ck_stack_pop_upmc(&stack);
	second = ck_stack_pop_upmc(&stack);
	if (first)
		ck_stack_push_upmc(&stack, first);
	return p;
}
int main(void)
{
	pthread_t t, u;
	ck_stack_push_upmc(&stack, &nodes[1]);
	ck_stack_push_upmc(&stack, &nodes[0]);
	pthread_create(&t, 0, pops, 0);
	pthread_create(&u, 0, changes, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	for (ck_stack_entry_t *e = stack.head; e; e = e->next)
		assert(e != mine && e != second); /* one owner each */
	return 0;
}
