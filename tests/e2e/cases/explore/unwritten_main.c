/* A condition's count of waiting threads on main's stack is never set to 0. (After SCTBench's
 * boundedBuffer.) */
#include <pthread.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	int open;
	int waiting;
};

static void *enter(void *argument)
{
	struct gate *gate = argument;
	pthread_mutex_lock(&gate->lock);
	gate->waiting++;
	while (!gate->open)
		pthread_cond_wait(&gate->opened, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
	return NULL;
}

int main(void)
{
	struct gate gate;
	pthread_t thread;
	pthread_mutex_init(&gate.lock, NULL);
	pthread_cond_init(&gate.opened, NULL);
	gate.open = 0;
	pthread_create(&thread, NULL, enter, &gate);
	pthread_mutex_lock(&gate.lock);
	gate.open = 1;
	if (gate.waiting > 0)
		pthread_cond_signal(&gate.opened);
	pthread_mutex_unlock(&gate.lock);
	pthread_join(thread, NULL);
	return 0;
}

//: explore
//= exit 1
//= errors uninitialised-read@unwritten_main.c:16 uninitialised-read@unwritten_main.c:33
//= complete yes
//~ $d->{errors}[0]{story} to.which.nothing.was.written,.on.a.thread's.stack$
