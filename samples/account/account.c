/*
 * account: two tellers and no lock at all.
 */
#include <pthread.h>
#include <stdio.h>

struct account {
	long balance;
};

static struct account acct = { .balance = 100 };

__attribute__((noinline)) void account_add(struct account *a, long amount)
{
	long balance = a->balance;
	balance += amount;
	a->balance = balance;
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
