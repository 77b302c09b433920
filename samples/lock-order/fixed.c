/* lock-order, fixed: whoever pays, the lock with the lower address is taken first. */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account alice = { PTHREAD_MUTEX_INITIALIZER, 100 };
static struct account bob = { PTHREAD_MUTEX_INITIALIZER, 100 };

static void transfer(struct account *from, struct account *to, long amount)
{
	struct account *first = from < to ? from : to;
	struct account *second = from < to ? to : from;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	from->balance -= amount;
	to->balance += amount;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static void *alice_pays(void *unused)
{
	transfer(&alice, &bob, 10);
	return NULL;
}

static void *bob_pays(void *unused)
{
	transfer(&bob, &alice, 25);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, alice_pays, NULL);
	pthread_create(&b, NULL, bob_pays, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("alice %ld, bob %ld\n", alice.balance, bob.balance);
	return 0;
}
