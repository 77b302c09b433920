/*
 * broadcast: the lock is right, and the signal is lost all the same.  (After CockroachDB's
 * simulation cycles, figure 3.4 of Sun's thesis.)
 *
 * The receiver waits for the cycle's broadcast.  When the cycle broadcasts before the
 * receiver waits, nobody hears it, and the receiver sleeps for ever.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cycler = PTHREAD_COND_INITIALIZER;
static int received;

static void *gossip_receiver(void *unused)
{
	pthread_mutex_lock(&mu);
	pthread_cond_wait(&cycler, &mu);
	received++;
	pthread_mutex_unlock(&mu);
	return NULL;
}

static void *simulation_cycle(void *unused)
{
	pthread_mutex_lock(&mu);
	pthread_cond_broadcast(&cycler);
	pthread_mutex_unlock(&mu);
	return NULL;
}

int main(void)
{
	pthread_t server, gossip;

	pthread_create(&server, NULL, gossip_receiver, NULL);
	pthread_create(&gossip, NULL, simulation_cycle, NULL);
	pthread_join(gossip, NULL);
	pthread_join(server, NULL);
	printf("received %d\n", received);
	return 0;
}
