/* Two threads, a locked and an unlocked counter; dies as its argument says. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct account {
	int id;
	long balance;
};
static struct account bank;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int unlocked;

__attribute__((noinline)) static void deposit(long amount)
{
	pthread_mutex_lock(&m);
	bank.balance += amount;
	pthread_mutex_unlock(&m);
	unlocked++;
}

static void *run(void *amount)
{
	for (int i = 0; i < 3; i++)
		deposit((long)amount);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	pthread_create(&a, NULL, run, (void *)10);
	pthread_create(&b, NULL, run, (void *)5);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(how, "_exit") == 0)
		_exit(9);
	if (strcmp(how, "close") == 0)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	if (strcmp(how, "fork") == 0 && fork() == 0) {
		run((void *)100);
		_exit(0);
	}
	fprintf(stderr, "on standard error\n");
	printf("balance %ld\n", bank.balance);
	return 5;
}
