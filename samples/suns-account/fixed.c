/* suns-account, fixed: both locks for the whole transfer, always in one order. */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account a = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };
static struct account b = { .lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100 };
static int wrong;

void account_transfer(struct account *from, struct account *to, long amount)
{
	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->balance -= amount;
	to->balance += amount;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
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
