/*
 * shop: sold, and not yet paid.
 *
 * A sale takes the stock and the money in two critical sections; the owner looks at both.
 */
#include <pthread.h>
#include <stdio.h>

struct shop {
	pthread_mutex_t lock;
	int stock;
	int cash;
};

static struct shop shop = { .lock = PTHREAD_MUTEX_INITIALIZER, .stock = 5 };
static int wrong;

void shop_sell(struct shop *s)
{
	pthread_mutex_lock(&s->lock);
	s->stock--;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	s->cash += 10;
	pthread_mutex_unlock(&s->lock);
}

int shop_worth(struct shop *s)
{
	pthread_mutex_lock(&s->lock);
	int worth = s->stock * 10 + s->cash;
	pthread_mutex_unlock(&s->lock);
	return worth;
}

static void *seller(void *unused)
{
	for (int i = 0; i < 3; i++)
		shop_sell(&shop);
	return NULL;
}

static void *owner(void *unused)
{
	for (int i = 0; i < 3; i++)
		wrong += shop_worth(&shop) != 50;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, seller, NULL);
	pthread_create(&threads[1], NULL, owner, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("worth %d\n", shop_worth(&shop));
	return 0;
}
