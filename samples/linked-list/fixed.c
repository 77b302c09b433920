/* linked-list, fixed: head and length change together. */
#include <pthread.h>
#include <stdio.h>

#include <stdlib.h>

struct node {
	struct node *next;
};

struct list {
	pthread_mutex_t lock;
	struct node *head;
	int length;
};

static struct list list = { .lock = PTHREAD_MUTEX_INITIALIZER };

void list_push(struct list *l, struct node *n)
{
	pthread_mutex_lock(&l->lock);
	n->next = l->head;
	l->head = n;
	l->length++;
	pthread_mutex_unlock(&l->lock);
}

int list_right(struct list *l)
{
	pthread_mutex_lock(&l->lock);
	int right = (l->head == NULL) == (l->length == 0);
	pthread_mutex_unlock(&l->lock);
	return right;
}

static struct node nodes[3];

static void *pusher(void *unused)
{
	for (int i = 0; i < 3; i++)
		list_push(&list, &nodes[i]);
	return NULL;
}

static void *checker(void *unused)
{
	for (int i = 0; i < 3; i++)
		if (!list_right(&list))
			puts("the list lies");
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, pusher, NULL);
	pthread_create(&threads[1], NULL, checker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d nodes\n", list.length);
	return 0;
}
