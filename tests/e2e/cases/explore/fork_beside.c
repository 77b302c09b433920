/* A child that is made beside a running thread. main takes the free token again after its wait for the child, the
 * thread having ended meanwhile, and ends the program: it has no further steps for another run. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int x;

static void *write_x(void *unused)
{
	x = 1;
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, write_x, NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	int seen = x;
	pthread_join(t, NULL);
	return seen > 1;
}

//: explore
//= exit 3
//= statuses 0 0
//= executions 2
//= said child processes are not explored
