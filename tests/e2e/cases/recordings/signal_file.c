/* A signal that one thread sends and another reads from a signalfd: what was before the sending is before
 * the read; what comes after it is not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>
static volatile int before, after;
static int file;
static void *reader(void *p)
{
	struct signalfd_siginfo got;
	if (read(file, &got, sizeof got) != sizeof got || got.ssi_signo != SIGUSR1)
		abort();
	before++;
	after++;
	return p;
}
int main(void)
{
	pthread_t t;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	file = signalfd(-1, &set, 0);
	pthread_create(&t, 0, reader, 0);
	before = 1;
	kill(getpid(), SIGUSR1);
	after = 1;
	pthread_join(t, 0);
	return before - 2;
}

//: record {,--strategy pause,--mode free} -o t.hdl
//= exit 0
//: races --analysis hb t.hdl
//~ lines ^data-race:(17:31|31:17)$
//: record -q --seed 2 -o t.hdl
//= exit 0
//: replay --trace t.hdl @
//= exit 0
