/* manager, fixed: a resource moves in one step. */
#include <pthread.h>
#include <stdio.h>

struct manager {
	pthread_mutex_t lock;
	int free;
	int used;
};

static struct manager manager = { .lock = PTHREAD_MUTEX_INITIALIZER, .used = 3 };
static int wrong;

void manager_release(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	m->used--;
	m->free++;
	pthread_mutex_unlock(&m->lock);
}

int manager_total(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	int total = m->free + m->used;
	pthread_mutex_unlock(&m->lock);
	return total;
}

static void *worker(void *unused)
{
	for (int i = 0; i < 3; i++)
		manager_release(&manager);
	return NULL;
}

static void *auditor(void *unused)
{
	for (int i = 0; i < 3; i++)
		wrong += manager_total(&manager) != 3;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, worker, NULL);
	pthread_create(&threads[1], NULL, auditor, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d free, %d used\n", manager.free, manager.used);
	return 0;
}
