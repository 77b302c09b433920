/*
 * A work-stealing pool: each worker has a deque (Chase-Lev, as in chaselev.c), takes from its
 * own end, and steals from the other worker when its own is empty. A task may add another; the
 * pool is done when all are. -DWEAK: a task is counted as done by a relaxed operation, so that
 * what it made is not seen by who waits for all.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef WEAK
#define DONE memory_order_relaxed
#else
#define DONE memory_order_release
#endif

enum { WORKERS = 2, SIZE = 4, NONE = 0, TASKS = 2 };
static struct deque {
	atomic_long top, bottom;
	atomic_int tasks[SIZE];
} deques[WORKERS];
static atomic_int left = TASKS;
static int made[TASKS + 1];

static void push(struct deque *d, int task)
{
	long b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
	atomic_store_explicit(&d->tasks[b % SIZE], task, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
}

static bool is_empty(struct deque *d)
{
	return atomic_load_explicit(&d->bottom, memory_order_relaxed) <=
	       atomic_load_explicit(&d->top, memory_order_relaxed);
}

static bool advance(struct deque *d, long t)
{
	return atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst,
	                                               memory_order_relaxed);
}

static int take(struct deque *d)
{
	if (is_empty(d))
		return NONE;
	long b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
	atomic_store_explicit(&d->bottom, b, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	long t = atomic_load_explicit(&d->top, memory_order_relaxed);
	int task =
	        t <= b ? atomic_load_explicit(&d->tasks[b % SIZE], memory_order_relaxed) : NONE;
	if (t < b)
		return task;
	if (t == b && !advance(d, t))
		task = NONE;
	atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
	return task;
}

static int steal(struct deque *d)
{
	long t = atomic_load_explicit(&d->top, memory_order_acquire);
	atomic_thread_fence(memory_order_seq_cst);
	long b = atomic_load_explicit(&d->bottom, memory_order_acquire);
	if (t >= b)
		return NONE;
	int task = atomic_load_explicit(&d->tasks[t % SIZE], memory_order_relaxed);
	return advance(d, t) ? task : NONE;
}

/* Task 1 adds task 2. */
static void perform(struct deque *mine, int task)
{
	made[task]++;
	if (task < TASKS)
		push(mine, task + 1);
	atomic_fetch_sub_explicit(&left, 1, DONE);
}

static void *work(void *arg)
{
	long me = (long)arg;
	while (atomic_load_explicit(&left, memory_order_acquire) > 0) {
		int task = take(&deques[me]);
		if (task == NONE)
			task = steal(&deques[1 - me]);
		if (task != NONE)
			perform(&deques[me], task);
	}
	return (void *)(long)(made[1] == 1 && made[2] == 1);
}

int main(void)
{
	pthread_t other;
	void *good;
	push(&deques[0], 1);
	pthread_create(&other, NULL, work, (void *)1);
	bool mine = work(NULL) != NULL;
	pthread_join(other, &good);
	return !mine || good == NULL;
}
