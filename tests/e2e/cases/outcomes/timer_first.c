/* Timers that are set before there are threads: their ends are no steps that exploration orders. */
#include "sets.h"
#include <sys/time.h>
static sem_t ended;
static void on(int n)
{
	(void)n;
	x++;
	sem_post(&ended);
}
static void on_thread(union sigval v)
{
	(void)v;
	on(0);
}
TH(add)
{
	x++;
	return p;
}
int main(int argc, char **argv)
{
	(void)argv;
	struct itimerval in = { { 0, 0 }, { 0, 1000 } };
	struct sigevent by = { .sigev_notify = SIGEV_THREAD };
	timer_t timer;
	sem_init(&ended, 0, 0);
	if (argc == 1) {
		signal(SIGALRM, on);
		setitimer(ITIMER_REAL, &in, 0);
	} else {
		by.sigev_notify_function = on_thread;
		timer_create(CLOCK_MONOTONIC, &by, &timer);
		timer_settime(timer, 0, &(struct itimerspec){ .it_value = { 0, 1000000 } }, 0);
	}
	go(add);
	while (sem_wait(&ended) != 0)
		;
	join();
	return 0;
}

//: explore --format json @ {,thread}
//= complete no
//~ said a timer
