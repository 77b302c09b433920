/*
 * filtered.c - SEED: threads that do what a random number says, whatever they read, so that a
 * seed of the scheduler is one run: accesses of several sizes at several places, alone and in
 * loops, in functions that are called from here and there, to globals, to heap blocks that are
 * freed and come again, handed on without synchronisation as well, and used after that, and to
 * a variable on another's stack; under mutexes, spin locks and reader-writer locks, beside
 * atomics, fences, semaphores, conditions, once-functions and pipes, and with threads of
 * threads.  What `record --filter` leaves out of it must be only what other accesses say as
 * well (tests/e2e/record_filter.t).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 3, LOCKS = 3, STEPS = 30, CHILDREN = 3, DEEPEST = 2 };

static volatile uint32_t words[WORDS];
static volatile uint8_t bytes[8];
static volatile uint64_t wide;
static char from[24], to[24];
static pthread_mutex_t mutexes[LOCKS];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int flags[2];
static sem_t semaphore;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int pipes[2]; /* neither end waits */
static uint32_t *_Atomic block;
static volatile uint32_t *volatile shown; /* a block */
static volatile uint32_t *_Atomic lent;   /* a word on somebody's stack, while main lives */

struct chance {
	uint64_t state;
	int depth;
};

static __attribute__((no_sanitize_thread)) unsigned draw(struct chance *c, unsigned below)
{
	c->state = c->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(c->state >> 33) % below;
}

static __attribute__((noinline)) void add(volatile uint32_t *word)
{
	*word += 1;
}

static __attribute__((noinline)) uint32_t deep(int depth, volatile uint32_t *word)
{
	volatile uint32_t local = *word;
	if (depth > 0)
		local += deep(depth - 1, word);
	return local;
}

static void access_one(struct chance *c)
{
	unsigned which = draw(c, WORDS), times = draw(c, 4) ? 1 : 1 + draw(c, 12);
	unsigned how = draw(c, 10);
	for (unsigned i = 0; i < times; i++) {
		switch (how) {
		case 0:
			words[which] = i;
			break;
		case 1:
			(void)words[(which + i) %
			            WORDS]; /* not one again and again, which spins */
			break;
		case 2:
			words[(which + i) % WORDS] = 1;
			break;
		case 3:
			bytes[i % 8] = 1;
			break;
		case 4:
			(void)bytes[i % 8];
			break;
		case 5:
			wide += i;
			break;
		case 6:
			add(&words[which]);
			break;
		case 7:
			deep(2, &words[which]);
			break;
		case 8:
			memcpy(to + which, from, 16);
			break;
		default:
			*lent = i;
		}
	}
}

static void accesses(struct chance *c)
{
	for (unsigned n = 1 + draw(c, 4); n > 0; n--)
		access_one(c);
}

/* A block of one size: an address comes again soon. */
static void blocks(struct chance *c)
{
	uint32_t *mine = malloc(32), *old = atomic_load(&block);
	unsigned at = draw(c, 3);
	((volatile uint32_t *)mine)[at] = 1;
	((volatile uint32_t *)old)[at] += 1;
	((volatile uint32_t *)old)[at] += 1;
	if (draw(c, 2))
		atomic_store_explicit(&block, mine, memory_order_relaxed);
	else
		free(mine);
}

static __attribute__((noinline)) void touch(volatile uint32_t *p, unsigned at)
{
	p[at] += 1;
}

/* Takes the right to end the block, which nobody sees; false: another thread has it. */
static __attribute__((no_sanitize_thread)) int takes_shown(int take)
{
	static int taken;
	int free = !taken;
	taken = take;
	return free;
}

/* A block that others find by a plain pointer, and use after it was freed, but for its first
 * bytes, where the allocator has its own by then. */
static void plain_blocks(struct chance *c)
{
	volatile uint32_t *old = shown;
	unsigned at = 8 + draw(c, 3);
	if (draw(c, 2) && takes_shown(1)) {
		old = shown;
		if (draw(c, 2)) {
			free((void *)old);
			old = malloc(64);
		} else {
			old = realloc((void *)old, 64);
		}
		shown = old;
		takes_shown(0);
	}
	touch(old, at);
	touch(old, at);
}

static void ran_once(void)
{
	words[0] = 7;
}

static void wait_a_little(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec = (now.tv_nsec + 1000) % 1000000000;
	pthread_cond_timedwait(&condition, &mutexes[0], &now);
}

static void synchronise_otherwise(struct chance *c)
{
	char byte = 0;
	switch (draw(c, 8)) {
	case 0:
		pthread_spin_lock(&spin);
		accesses(c);
		pthread_spin_unlock(&spin);
		break;
	case 1:
		pthread_mutex_lock(&mutexes[0]);
		accesses(c);
		wait_a_little();
		accesses(c);
		pthread_mutex_unlock(&mutexes[0]);
		break;
	case 2:
		pthread_cond_signal(&condition);
		break;
	case 3:
		pthread_cond_broadcast(&condition);
		break;
	case 4:
		pthread_once(&once, ran_once);
		break;
	case 5:
		(void)!write(pipes[1], &byte, 1);
		break;
	case 6:
		(void)!read(pipes[0], &byte, 1);
		break;
	default:
		atomic_thread_fence(draw(c, 2) ? memory_order_seq_cst : memory_order_release);
	}
}

static void synchronise(struct chance *c)
{
	unsigned which = draw(c, LOCKS);
	switch (draw(c, 13)) {
	case 0:
	case 1:
		pthread_mutex_lock(&mutexes[which]);
		accesses(c);
		pthread_mutex_unlock(&mutexes[which]);
		break;
	case 2:
		pthread_rwlock_rdlock(&rwlock);
		accesses(c);
		pthread_rwlock_unlock(&rwlock);
		break;
	case 3:
		pthread_rwlock_wrlock(&rwlock);
		accesses(c);
		pthread_rwlock_unlock(&rwlock);
		break;
	case 4:
		atomic_store_explicit(&flags[which % 2], 1, memory_order_release);
		break;
	case 5:
		(void)atomic_load_explicit(&flags[which % 2], memory_order_acquire);
		break;
	case 6:
		atomic_fetch_add_explicit(&flags[which % 2], 1,
		                          which ? memory_order_acq_rel : memory_order_relaxed);
		break;
	case 7:
		sem_post(&semaphore);
		break;
	case 8:
		sem_trywait(&semaphore);
		break;
	case 9:
		if (pthread_mutex_trylock(&mutexes[which]) == 0) {
			accesses(c);
			pthread_mutex_unlock(&mutexes[which]);
		}
		break;
	case 10:
	case 11:
		synchronise_otherwise(c);
		break;
	case 12:
		atomic_store_explicit(&flags[which % 2], 2, memory_order_relaxed);
	}
}

static void *run(void *p)
{
	struct chance c = *(struct chance *)p;
	struct chance children[CHILDREN];
	pthread_t threads[CHILDREN];
	unsigned begun = 0;
	volatile uint32_t local = 0;
	for (unsigned i = 0; i < STEPS / (c.depth + 1); i++) {
		unsigned what = draw(&c, 10);
		if (what < 5)
			accesses(&c);
		else if (what < 8)
			synchronise(&c);
		else if (what < 9 && draw(&c, 2))
			plain_blocks(&c);
		else if (what < 9)
			blocks(&c);
		else
			local += 1;
		if (c.depth < DEEPEST && begun < CHILDREN &&
		    (c.depth == 0 || draw(&c, 20) == 0)) {
			children[begun] = (struct chance){ c.state + 77 * begun, c.depth + 1 };
			pthread_create(&threads[begun], NULL, run, &children[begun]);
			begun++;
		}
	}
	while (begun > 0)
		pthread_join(threads[--begun], NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	struct chance c = { argc > 1 ? strtoull(argv[1], NULL, 10) * 7919 : 1, 0 };
	volatile uint32_t local = 0;
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&mutexes[i], NULL);
	sem_init(&semaphore, 0, 1);
	pthread_spin_init(&spin, 0);
	if (pipe2(pipes, O_NONBLOCK) != 0)
		return 1;
	shown = malloc(64);
	atomic_store(&block, calloc(1, 32));
	atomic_store(&lent, &local);
	run(&c);
	return 0;
}
