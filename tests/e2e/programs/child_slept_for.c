/* A parent that sleeps until its child has done its work, what a child is told of its handlers,
 * and sleeps by clocks that cannot be slept by.  Prints what is not as it is alone. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void handler(int number) { (void)number; }

int main(void)
{
	struct sigaction action = { .sa_handler = handler }, was;
	struct timespec second = { 1, 0 };
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		usleep(300000);
		_exit(7);
	}
	sleep(2);
	if (waitpid(child, &status, WNOHANG) != child || WEXITSTATUS(status) != 7)
		puts("the sleep ended before the child");

	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (child == 0) {
		sigaction(SIGUSR1, NULL, &was);
		int first = was.sa_handler == handler;
		signal(SIGUSR1, SIG_IGN);
		sigaction(SIGUSR1, NULL, &was);
		_exit(first && was.sa_handler == SIG_IGN ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		puts("the child is told of another handler");

	if (clock_nanosleep(9999, 0, &second, NULL) != EINVAL ||
	    clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &second, NULL) != EINVAL)
		puts("a sleep by no clock");
	return 0;
}
