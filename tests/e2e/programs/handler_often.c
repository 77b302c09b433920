/* handler_often.c - a timer's signal comes all the time while the program accesses memory. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static int cells[4096];
static volatile int came;

static void on_alarm(int number)
{
	came += number == SIGALRM;
}

int main(void)
{
	struct itimerval each = { { 0, 200 }, { 0, 200 } };
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; came < 40; i++)
		cells[i * 7 % 4096] += i;
	puts("DONE");
	return 0;
}
