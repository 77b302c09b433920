/* bank.c - what the screen tests' trace was "recorded" from: a balance read after the
 * unlock.  Only its lines matter. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long balance;
} acct = { 100 };
static int audit;

static void deposit(long n)
{
	pthread_mutex_lock(&m);
	audit = 1;
	acct.balance += n;
	pthread_mutex_unlock(&m);
}

static long report(void)
{
	/* looks under the lock ... */
	pthread_mutex_lock(&m);
	audit = 0;
	pthread_mutex_unlock(&m);
	return acct.balance; /* ... and reads after it */
}

static void *worker(void *arg)
{
	deposit(50);
	return arg;
}

static void *reader(void *arg)
{
	return (void *)report();
}

int main(void)
{
	pthread_t one, two;
	pthread_create(&one, NULL, worker, NULL);
	pthread_create(&two, NULL, reader, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
}
