/*
 * bank: a balance that is read after the lock was given up.
 *
 * One thread pays in, the other prints a report.  Both take the lock, so most runs (and
 * every detector that follows the observed order of the lock) see nothing wrong.
 */
#include <pthread.h>
#include <stdio.h>

struct account {
	long balance;
	long deposits;
};

static struct account acct = { .balance = 100 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int audit; /* who looked last */

static void deposit(long n)
{
	pthread_mutex_lock(&m);
	audit = 1;
	acct.balance += n;
	acct.deposits++;
	pthread_mutex_unlock(&m);
}

static long report(void)
{
	pthread_mutex_lock(&m);
	audit = 0;
	pthread_mutex_unlock(&m);
	return acct.balance; /* too late: the lock is gone */
}

static void *worker(void *unused)
{
	deposit(50);
	return NULL;
}

static void *reporter(void *unused)
{
	printf("balance %ld\n", report());
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;
	pthread_create(&t1, NULL, worker, NULL);
	pthread_create(&t2, NULL, reporter, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
