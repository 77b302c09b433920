/* SIGTERM during sleep(): the sleep ends at once (EINTR) */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t quit;
static volatile int stop_flag;	/* races: read by the worker, written by main */
static void on_term(int s) { quit = s; }
#include <poll.h>
#include <sys/socket.h>
#include <netinet/in.h>
static void *worker(void *a) { int fd = socket(AF_INET, SOCK_STREAM, 0); listen(fd, 5); struct pollfd p = { fd, POLLIN, 0 }; while (!stop_flag) poll(&p, 1, 300); return a; }
int main(void) {
	pthread_t t;
	signal(SIGTERM, on_term);
	pthread_create(&t, 0, worker, 0);
	printf("ready\n"); fflush(stdout);
	while (!quit) sleep(15);
	stop_flag = 1;
	pthread_join(t, 0);
	printf("stopped by %d\n", (int)quit);
	return 0;
}
