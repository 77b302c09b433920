/* critical-section, fixed: seeing and saying are one step. */
#include <pthread.h>
#include <stdio.h>

struct gate {
	pthread_mutex_t lock;
	int inside;
	int entered;
};

static struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER };

int gate_enter(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	int free = !g->inside;
	if (free) {
		g->inside = 1;
		g->entered++;
	}
	pthread_mutex_unlock(&g->lock);
	return free;
}

void gate_leave(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->inside = 0;
	pthread_mutex_unlock(&g->lock);
}

static void *visitor(void *unused)
{
	for (int i = 0; i < 3; i++)
		if (gate_enter(&gate))
			gate_leave(&gate);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, visitor, NULL);
	pthread_create(&threads[1], NULL, visitor, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d entered\n", gate.entered);
	return 0;
}
