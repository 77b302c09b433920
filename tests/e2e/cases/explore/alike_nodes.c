/* Each thread adds a block of its own to a list that the others look at. */
#include <pthread.h>
#include <stdlib.h>
static struct node {
	struct node *next;
	int value;
} *top;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *u)
{
	struct node *n = malloc(sizeof *n);
	n->value = 1;
	pthread_mutex_lock(&m);
	n->next = top;
	top = n;
	pthread_mutex_unlock(&m);
	return u;
}
int main(void)
{
	pthread_t t[2];
	int sum = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	for (const struct node *n = top; n != NULL; n = n->next)
		sum += n->value;
	return sum != 2;
}

//: explore --symmetry
//= complete yes
//= states 2
//~ said are told apart: T[12] reads an address of memory of one of them \(alike_nodes.c:14\)
