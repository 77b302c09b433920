/*
 * letter: a program without a race, half of which was compiled by the ordinary compiler.
 *
 * The letter is handed over through mailbox.c.  When that is not recorded, nothing in the
 * recording says that the reader waits for the writer.
 */
#include <pthread.h>
#include <stdio.h>

#include "mailbox.h"

static int letter;

static void *writer(void *unused)
{
	letter = 42;
	mailbox_announce();
	return NULL;
}

static void *reader(void *unused)
{
	mailbox_await();
	printf("letter %d\n", letter);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
