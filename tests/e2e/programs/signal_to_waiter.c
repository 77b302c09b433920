/* signal_to_waiter.c - a signal that only a waiting thread takes, while all others are in calls
 * that are not modelled: main waits for SIGUSR2, which the thread sends after five SIGUSR1 from
 * the child process. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t posted;
static pthread_t first;

static void on_usr(int number)
{
	(void)number;
	sem_post(&posted);
}

static void *waiter(void *p)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < 5; i++)
		while (sem_wait(&posted) != 0 && errno == EINTR)
			;
	pthread_kill(first, SIGUSR2);
	return p;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr };
	sigset_t set;
	pthread_t t;
	int number;
	first = pthread_self();
	sem_init(&posted, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		while (getppid() == parent) {
			kill(parent, SIGUSR1);
			usleep(20000);
		}
		_exit(0);
	}
	pthread_create(&t, NULL, waiter, NULL);
	sigdelset(&set, SIGUSR1);
	sigwait(&set, &number);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	pthread_join(t, NULL);
	puts("DONE");
	return number != SIGUSR2;
}
