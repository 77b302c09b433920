/*
 * suns-account: money that is nowhere for a moment.
 *
 * A transfer locks one account after the other; the bank adds up both.
 */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account a = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };
static struct account b = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };
static int wrong;

static void account_add(struct account *x, long amount)
{
	pthread_mutex_lock(&x->lock);
	x->balance += amount;
	pthread_mutex_unlock(&x->lock);
}

void account_transfer(struct account *from, struct account *to, long amount)
{
	account_add(from, -amount);
	account_add(to, amount);
}

long account_total(struct account *x, struct account *y)
{
	pthread_mutex_lock(&x->lock);
	pthread_mutex_lock(&y->lock);
	long total = x->balance + y->balance;
	pthread_mutex_unlock(&y->lock);
	pthread_mutex_unlock(&x->lock);
	return total;
}

static void *customer(void *unused)
{
	for (int i = 0; i < 3; i++)
		account_transfer(&a, &b, 10);
	return NULL;
}

static void *bank(void *unused)
{
	for (int i = 0; i < 3; i++)
		wrong += account_total(&a, &b) != 200;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, customer, NULL);
	pthread_create(&threads[1], NULL, bank, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld in all\n", account_total(&a, &b));
	return 0;
}
