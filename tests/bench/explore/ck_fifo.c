/* Concurrency Kit's queue of one writer and one reader: all that is put in comes, in order. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <ck_fifo.h>
static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t stub, entries[3];
static void *writer(void *p)
{
	for (int i = 0; i < 3; i++)
		ck_fifo_spsc_enqueue(&fifo, &entries[i], (void *)(long)(i + 1));
	return p;
}
int main(void)
{
	pthread_t t;
	long last = 0;
	void *got;
	ck_fifo_spsc_init(&fifo, &stub);
	pthread_create(&t, 0, writer, 0);
	for (int i = 0; i < 4; i++)
		if (ck_fifo_spsc_dequeue(&fifo, &got)) {
			assert((long)got == last + 1);
			last = (long)got;
		}
	pthread_join(t, 0);
	return 0;
}
