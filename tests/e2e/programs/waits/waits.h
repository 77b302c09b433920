/* waits.h - small programs of one kind of waiting each; -DFIXED builds those without the mistake. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#ifdef FIXED
#define BUG(mistake, fix) fix
#else
#define BUG(mistake, fix) mistake
#endif
#define LOCK(m)   pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
                       c = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;

typedef void *thread_function(void *);

static void run(thread_function *first, thread_function *second, thread_function *third)
{
	thread_function *all[] = { first, second, third };
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		if (all[i])
			pthread_create(&t[i], NULL, all[i], NULL);
	for (int i = 0; i < 3; i++)
		if (all[i])
			pthread_join(t[i], NULL);
}

struct way {
	const char *name;
	thread_function *thread[3];
	void (*whole)(void);
};
static const struct way ways[];

int main(int argc, char **argv)
{
	for (const struct way *w = ways; w->name; w++)
		if (argc > 1 && strcmp(w->name, argv[1]) == 0) {
			if (w->whole)
				w->whole();
			else
				run(w->thread[0], w->thread[1], w->thread[2]);
			return 0;
		}
	return 2;
}
