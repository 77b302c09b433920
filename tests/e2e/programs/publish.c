/*
 * publish.c N [late]: N threads put a node each into a list; a node is filled before the lock is
 * taken and linked under it.  With "late" something is written to it after the lock was given
 * back, when others may already see it.
 */
#include <pthread.h>
#include <stdlib.h>

struct node {
	int key, extra;
	struct node *next;
};
struct set {
	pthread_mutex_t mutex;
	struct node *first;
};
static struct set set = { PTHREAD_MUTEX_INITIALIZER, NULL };
static int late;

int set_add(struct set *s, int key);
int set_add(struct set *s, int key)
{
	struct node *n = malloc(sizeof *n);
	n->key = key;
	n->extra = 0;
	pthread_mutex_lock(&s->mutex);
	int found = 0;
	for (struct node *at = s->first; at; at = at->next)
		found |= (at->key == key) & (at->extra == 0);
	n->next = s->first;
	s->first = n;
	pthread_mutex_unlock(&s->mutex);
	if (late)
		n->extra = 1;
	return !found;
}

static void *run(void *key)
{
	set_add(&set, *(int *)key);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	int keys[8], count = atoi(argv[1]);
	late = argc > 2;
	for (int i = 0; i < count; i++) {
		keys[i] = i + 1;
		pthread_create(&threads[i], NULL, run, &keys[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
