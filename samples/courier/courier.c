/*
 * courier: two senders and two receivers, each pair with a box of its own.
 *
 * A letter goes from one thread to the other through the box, so its text is no race.  The stamp
 * counter is one: the senders share it, and no box stands between them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "parcels.h"

struct letter {
	int text;
};

static int stamps;

static void *sender(void *box)
{
	struct letter *letter = malloc(sizeof(*letter));

	letter->text = 42;
	stamps++;
	box_put(box, letter);
	return NULL;
}

static void *receiver(void *box)
{
	struct letter *letter = box_take(box);

	printf("letter %d\n", letter->text);
	free(letter);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 2; i++) {
		struct box *box = box_new();

		pthread_create(&threads[2 * i], NULL, sender, box);
		pthread_create(&threads[2 * i + 1], NULL, receiver, box);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d stamps\n", stamps);
	return 0;
}
