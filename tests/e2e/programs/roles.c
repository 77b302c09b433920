/* Threads with arguments of each kind: numbers, objects, a block, nothing. */
#include <pthread.h>
#include <stdlib.h>

struct job {
	int id, done;
};
static struct job jobs[3];
static int sum;

static void *book(void *p)
{
	sum += (int)(long)p;
	return NULL;
}
static void *finish(void *p)
{
	struct job *job = p;
	job->done = 1;
	return NULL;
}
static void *look(void *p)
{
	return sum ? p : NULL;
}

int main(void)
{
	struct job *made = malloc(sizeof *made);
	void *(*const starts[])(void *) = { book, finish, finish, look, book };
	void *arguments[] = { (void *)6L, &jobs[1], made, NULL, (void *)-4L };
	made->id = jobs[1].id = 1;
	for (int i = 0; i < 5; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, starts[i], arguments[i]);
		pthread_join(thread, NULL);
	}
	free(made);
	return 0;
}
