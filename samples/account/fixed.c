/* account, fixed: the read and the write of the balance are one critical section. */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account acct = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };

static void *teller(void *amount)
{
	pthread_mutex_lock(&acct.lock);
	acct.balance += *(long *)amount;
	pthread_mutex_unlock(&acct.lock);
	return NULL;
}

int main(void)
{
	pthread_t tellers[2];
	long amounts[2] = { 10, -25 };

	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], NULL, teller, &amounts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], NULL);
	printf("balance %ld\n", acct.balance);
	return 0;
}
