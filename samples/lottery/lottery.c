/*
 * lottery: the ticket says another number than the book.
 *
 * The number is drawn in one critical section and read back for the book in another.
 */
#include <pthread.h>
#include <stdio.h>

struct lottery {
	pthread_mutex_t lock;
	int number;
	int booked;
};

static struct lottery lottery = { .lock = PTHREAD_MUTEX_INITIALIZER };

void lottery_draw(struct lottery *l)
{
	pthread_mutex_lock(&l->lock);
	l->number = (l->number * 5 + 3) % 49;
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_lock(&l->lock);
	l->booked += l->number;
	pthread_mutex_unlock(&l->lock);
}

static void *player(void *unused)
{
	for (int i = 0; i < 3; i++)
		lottery_draw(&lottery);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, player, NULL);
	pthread_create(&threads[1], NULL, player, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("booked %d\n", lottery.booked);
	return 0;
}
