/*
 * again.c - one thread that does the same again in many ways: loops, calls from here and there,
 * recursion, blocks at addresses that were others' before, ranges, between synchronisation of
 * all kinds.  What free mode does not write again must be only that (tests/e2e/record_free.t).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 12000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;
static int counters[4], many[MANY], far[1 << 22];
static uint8_t bytes[300], copy[300];
static uint64_t words[64];

static __attribute__((noinline)) void add(int *to, int what)
{
	*to += what;
}

static __attribute__((noinline)) int depth_first(int depth, int *here)
{
	int local[3] = { depth, *here, 1 };
	*here += 1;
	if (depth > 0) {
		local[1] += depth_first(depth - 1, &local[2]);
		local[1] += depth_first(depth - 1, here);
	}
	return local[0] + local[1] + local[2];
}

static __attribute__((noinline)) void sweep(int from, int to)
{
	for (int i = from; i < to; i++) {
		many[i] += i;
		add(&counters[i & 3], 1);
	}
}

static __attribute__((noinline)) void ranges(size_t size)
{
	memset(bytes, (int)size, size);
	memcpy(copy, bytes + size / 2, size / 2);
	bytes[size % 7] = copy[size % 5];
	words[size % 64] += bytes[0];
}

static __attribute__((noinline)) void blocks(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int *block = malloc(40);
		for (int k = 0; k < 30; k++)
			block[k % 10] = k;
		add(&counters[0], block[i % 10]);
		free(block);
	}
}

static __attribute__((noinline)) void leaps(void)
{
	int near = 0;
	for (int i = 0; i < 64; i++) {
		int *places[] = { &near, &far[i * 60000], &counters[i % 4] };
		for (int k = 0; k < 3; k++)
			*places[k] += i;
	}
}

int main(void)
{
	static void (*const chosen[])(int *, int) = { add };
	int here = 0;
	for (int round = 0; round < 3; round++) {
		sweep(0, MANY);
		sweep(MANY / 2, MANY / 2 + 50);
		depth_first(7, &here);
		for (int i = 0; i < 100; i++) {
			if (i % 10 == 0 && atomic_load(&turn) == round)
				chosen[0](&counters[1], 2);
			ranges(i % 20 * 13 + 1);
		}
		leaps();
		pthread_mutex_lock(&lock);
		leaps();
		for (int i = 0; i < 200; i++)
			add(&counters[2], i);
		pthread_mutex_unlock(&lock);
		atomic_store(&turn, round + 1);
		blocks(5);
	}
	return here == 0;
}
