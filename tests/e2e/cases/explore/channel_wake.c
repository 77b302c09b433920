/* A loop that polls a self-pipe, woken for a job and for the end; wrong: it is woken before the job is there. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int wake_fd[2], wrong, stop, jobs;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void wake(void) { write(wake_fd[1], "x", 1); }
static void *loop(void *none)
{
	for (int over = 0, todo; !over;) {
		struct pollfd f = { .fd = wake_fd[0], .events = POLLIN };
		char c;
		poll(&f, 1, -1);
		read(wake_fd[0], &c, 1);
		pthread_mutex_lock(&m);
		over = stop;
		todo = jobs;
		jobs = 0;
		pthread_mutex_unlock(&m);
		assert(todo || over);
	}
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t;
	wrong = argc > 1;
	pipe(wake_fd);
	pthread_create(&t, NULL, loop, NULL);
	if (wrong)
		wake();
	pthread_mutex_lock(&m);
	jobs++;
	pthread_mutex_unlock(&m);
	if (!wrong)
		wake();
	pthread_mutex_lock(&m);
	stop = 1;
	pthread_mutex_unlock(&m);
	wake();
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= states 2
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_wake.c:21
//= complete yes
