/* account, fixed: the read and the write of the balance are one critical section. */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account acct = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };

__attribute__((noinline)) void account_add(struct account *a, long amount)
{
	pthread_mutex_lock(&a->lock);
	a->balance += amount;
	pthread_mutex_unlock(&a->lock);
}

static void *teller(void *amount)
{
	for (int i = 0; i < 8; i++)
		account_add(&acct, *(long *)amount);
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
