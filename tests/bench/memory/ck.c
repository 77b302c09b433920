/*
 * Concurrency Kit's structures (0.7), for `heddle explore --memory rc11`: one of -DFIFO,
 * -DRING, -DSTACK, -DSEQUENCE, -DTICKET, -DFAS. The exit status is 1 when something came wrong.
 *
 *     heddle cc -g -O1 -include ck_port.h -DFIFO ck.c -o ck -pthread
 */
#include <pthread.h>
#include <stddef.h>

static int wrong;

#ifdef FIFO
#include <ck_fifo.h>
static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t stub, entries[2];
static int items[2];
static void *one(void *p)
{
	for (int i = 0; i < 2; i++) {
		items[i] = i + 1;
		ck_fifo_spsc_enqueue(&fifo, &entries[i], &items[i]);
	}
	return p;
}
static void other(void)
{
	int *got, last = 0;
	for (int i = 0; i < 2; i++)
		if (ck_fifo_spsc_dequeue(&fifo, &got))
			wrong |= *got != ++last;
}
static void make(void)
{
	ck_fifo_spsc_init(&fifo, &stub);
}
#elif defined RING
#include <ck_ring.h>
static ck_ring_t ring;
static ck_ring_buffer_t slots[4];
static int items[2];
static void *one(void *p)
{
	for (int i = 0; i < 2; i++) {
		items[i] = i + 1;
		ck_ring_enqueue_spsc(&ring, slots, &items[i]);
	}
	return p;
}
static void other(void)
{
	int *got, last = 0;
	for (int i = 0; i < 2; i++)
		if (ck_ring_dequeue_spsc(&ring, slots, &got))
			wrong |= *got != ++last;
}
static void make(void)
{
	ck_ring_init(&ring, 4);
}
#elif defined STACK
#include <ck_stack.h>
static ck_stack_t stack = CK_STACK_INITIALIZER;
static struct item {
	ck_stack_entry_t entry;
	int value;
} items[2];
static void push(int i)
{
	items[i].value = i + 1;
	ck_stack_push_upmc(&stack, &items[i].entry);
}
static void *one(void *p)
{
	push(0);
	return p;
}
static void other(void)
{
	push(1);
	ck_stack_entry_t *e = ck_stack_batch_pop_upmc(&stack);
	int sum = 0;
	for (; e != NULL; e = e->next)
		sum += ((struct item *)e)->value;
	wrong |= sum < 2 || sum > 3;
}
static void make(void)
{
}
#elif defined SEQUENCE
#include <ck_sequence.h>
static ck_sequence_t sequence = CK_SEQUENCE_INITIALIZER;
static int first, second;
static void *one(void *p)
{
	ck_sequence_write_begin(&sequence);
	ck_pr_store_int(&first, 1);
	ck_pr_store_int(&second, 1);
	ck_sequence_write_end(&sequence);
	return p;
}
static void other(void)
{
	unsigned version;
	int a, b;
	do {
		version = ck_sequence_read_begin(&sequence);
		a = ck_pr_load_int(&first);
		b = ck_pr_load_int(&second);
	} while (ck_sequence_read_retry(&sequence, version));
	wrong |= a != b;
}
static void make(void)
{
}
#else
#include <ck_spinlock.h>
#ifdef TICKET
#define LOCK(name) ck_spinlock_ticket_##name
static ck_spinlock_ticket_t lock = CK_SPINLOCK_TICKET_INITIALIZER;
#else
#define LOCK(name) ck_spinlock_fas_##name
static ck_spinlock_fas_t lock = CK_SPINLOCK_FAS_INITIALIZER;
#endif
static int count;
static void *one(void *p)
{
	LOCK(lock)(&lock);
	count++;
	LOCK(unlock)(&lock);
	return p;
}
static void other(void)
{
	one(NULL);
}
static void make(void)
{
}
#endif

int main(void)
{
	pthread_t t;
	make();
	pthread_create(&t, NULL, one, NULL);
	other();
	pthread_join(t, NULL);
	return wrong;
}
