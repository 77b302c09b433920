/*
 * random_ways.cc FILE MIX PROGRAM...: the operations of random_sync.c, of which random_oracle.c
 * has the meaning, by other means of C and C++: plain accesses by copies, bit-fields and parts
 * of bytes, atomics by other functions, locks and conditions by the standard library, threads
 * that end in destructors and handlers. What an operation does and returns is the same, so that
 * the oracle's outcomes are. MIX, the thread and the place in its program say which means each
 * operation takes.
 *
 * A program's last operations are made by destructors of thread-local variables and of a key,
 * after pthread_exit in a nested function; those of main by functions of atexit. Threads may be
 * detached: their join is a semaphore then.
 *
 * Not here: futexes, objects, parts of atomics, signals, counters that are locks.
 */
#include "random_log.h"

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <signal.h>
#include <sys/syscall.h>
#include <thread>
#include <threads.h>
#include <unistd.h>

enum { OPERATION = 3, THREADS = 9 };

static inline __attribute__((always_inline)) void tell(int thread, int result)
{
	log_line(thread, result);
}

/* -- the state */

struct pair { /* both cells, as one object; their neighbours keep what they are */
	uint8_t before;
	uint8_t first;
	uint16_t second;
};
static union {
	pair cells;
	uint32_t both;
	uint8_t bytes[4];
	struct {
		uint32_t before : 8, first : 8, second : 16;
	} bits;
} memory;

static std::atomic<uint8_t> small_atom;
static std::atomic<int64_t> large_atom;

/* Of the heap, as none is destroyed at the end. */
static std::timed_mutex *mutex[2];
static std::condition_variable *condition[2];
static std::shared_timed_mutex *shared;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static std::once_flag flag;
static sem_t semaphore, over[THREADS];
static volatile int *block;
static int freed; /* not by instrumented code */
static __attribute__((no_sanitize("thread"), noinline)) void note_freed()
{
	freed = 1;
}
static int mix;
static const struct timespec far = { 4000000000, 0 };
static const auto far_from_now = std::chrono::hours(100000);

/* -- cells */

static volatile size_t one = 1, two = 2, four = 4; /* sizes that the compiler does not know */

static int read_cell(int n, int way)
{
	switch (way % 6) {
	case 0:
		return n ? memory.cells.second : memory.cells.first;
	case 1: {
		uint16_t value = 0;
		if (n)
			memcpy(&value, &memory.cells.second, two);
		else
			memcpy(&value, &memory.cells.first, one);
		return value;
	}
	case 2:
		return n ? memory.bits.second : memory.bits.first;
	case 3: {
		pair copy = memory.cells;
		__asm__ volatile("" : "+m"(copy));
		return n ? copy.second : copy.first;
	}
	case 4:
		return (int)(memory.both >> (n ? 16 : 8) & 0xff);
	default:
		return n ? __atomic_load_n(&memory.cells.second, __ATOMIC_RELAXED)
		         : __atomic_load_n(&memory.cells.first, __ATOMIC_RELAXED);
	}
}

static void write_cell(int n, int value, int way)
{
	uint16_t wide = (uint16_t)value;
	switch (way % 5) {
	case 0:
		if (n)
			memory.cells.second = wide;
		else
			memory.cells.first = (uint8_t)value;
		return;
	case 1:
		if (n)
			memcpy(&memory.cells.second, &wide, two);
		else
			memmove(&memory.cells.first, &value, one);
		return;
	case 2: /* its low byte: no value is larger */
		memset(&memory.bytes[n ? 2 : 1], value, one);
		return;
	case 3:
		if (n)
			new (&memory.cells.second) uint16_t(wide);
		else
			std::swap(memory.bytes[1], *std::make_unique<uint8_t>(value));
		return;
	default:
		if (n)
			__atomic_store_n(&memory.cells.second, wide, __ATOMIC_RELEASE);
		else
			__atomic_store_n(&memory.cells.first, (uint8_t)value, __ATOMIC_SEQ_CST);
	}
}

static int read_both(int way)
{
	pair copy;
	switch (way % 3) {
	case 0:
		copy = memory.cells;
		break;
	case 1:
		memcpy(&copy, &memory, four);
		break;
	default: {
		uint32_t both = __atomic_load_n(&memory.both, __ATOMIC_ACQUIRE);
		memcpy(&copy, &both, sizeof copy);
	}
	}
	__asm__ volatile("" : "+m"(copy));
	return 'A' - '0' + copy.first + 4 * copy.second;
}

static void write_both(int value, int way)
{
	pair copy = { 0, (uint8_t)value, (uint16_t)value };
	switch (way % 3) {
	case 0:
		memory.cells = copy;
		return;
	case 1:
		memcpy(&memory, &copy, four);
		return;
	default:
		memory.both = (uint32_t)value << 16 | (uint32_t)value << 8;
	}
}

/* -- atomics */

template <class T>
static int update_atomic(std::atomic<T> &a, char operation, int value, int way)
{
	T seen;
	switch (operation) {
	case 'R':
		switch (way % 4) {
		case 0:
			return (int)a;
		case 1:
			return (int)a.load(std::memory_order_relaxed);
		case 2:
			__atomic_load(reinterpret_cast<T *>(&a), &seen, __ATOMIC_ACQUIRE);
			return (int)seen;
		default:
			return (int)*reinterpret_cast<volatile T *>(&a);
		}
	case 'W':
		switch (way % 4) {
		case 0:
			a = (T)value;
			return 0;
		case 1:
			a.store((T)value, std::memory_order_release);
			return 0;
		case 2:
			a.exchange((T)value);
			return 0;
		default:
			*reinterpret_cast<volatile T *>(&a) = (T)value;
			return 0;
		}
	case 'a':
		if (value == 9) {
			way % 2 ? a-- : a.fetch_add((T)-1, std::memory_order_relaxed);
			return 0;
		}
		switch (way % 4) {
		case 0:
			seen = a++;
			break;
		case 1:
			seen = (T)(__sync_add_and_fetch(reinterpret_cast<T *>(&a), 1) - 1);
			break;
		case 2:
			seen = a.load();
			while (!a.compare_exchange_weak(seen, (T)(seen + 1)))
				;
			break;
		default:
			seen = a.fetch_sub((T)-1);
		}
		return value == 0 ? (int)seen : 0;
	default: /* x */
		seen = (T)value;
		switch (way % 3) {
		case 0:
			return a.compare_exchange_strong(seen, (T)(1 - value)) ? '+' - '0'
			                                                       : (int)seen;
		case 1:
			return a.compare_exchange_weak(seen, (T)(1 - value),
			                               std::memory_order_release,
			                               std::memory_order_relaxed)
			               ? '+' - '0'
			               : (int)seen;
		default:
			seen = __sync_val_compare_and_swap(reinterpret_cast<T *>(&a), (T)value,
			                                   (T)(1 - value));
			return seen == (T)value ? '+' - '0' : (int)seen;
		}
	}
}

template <class T> static int wait_atomic(std::atomic<T> &a, char operation, int value, int way)
{
	T seen;
	switch (operation) {
	case 'L':
		if (way % 2)
			while (a.load(std::memory_order_acquire) != (T)value)
				sched_yield();
		while (a != (T)value)
			std::this_thread::yield();
		return value;
	case 'X':
		do
			while (a)
				__builtin_ia32_pause();
		while (a.exchange(1));
		return 0;
	case 'Z':
		seen = 0;
		while (!a.compare_exchange_weak(seen, 1))
			seen = 0;
		return 0;
	default: /* M */
		seen = a;
		if (value == 0)
			while (!a.compare_exchange_weak(seen, (T)(seen + 1)))
				seen = a;
		else
			while (!a.compare_exchange_strong(seen,
			                                  (T)(value == 2 ? !seen : seen + 1)))
				if (value == 3 &&
				    (sizeof a == 1 ? large_atom == 1 : small_atom == 1))
					return 7;
		return (int)seen;
	}
}

/* -- locks */

static void lock_mutex(int n, int way)
{
	switch (way % 3) {
	case 0:
		mutex[n]->lock();
		return;
	case 1:
		pthread_mutex_lock(mutex[n]->native_handle());
		return;
	default: {
		std::unique_lock<std::timed_mutex> lock(*mutex[n], std::defer_lock);
		lock.lock();
		lock.release();
	}
	}
}

static void unlock_mutex(int n, int way)
{
	if (way % 2)
		std::lock_guard<std::timed_mutex>(*mutex[n], std::adopt_lock);
	else
		pthread_mutex_unlock(mutex[n]->native_handle());
}

static bool try_mutex(int n, bool timed, int way)
{
	switch (way % 2 + 2 * timed) {
	case 0:
		return mutex[n]->try_lock();
	case 1:
		return pthread_mutex_trylock(mutex[n]->native_handle()) == 0;
	case 2:
		return way % 4 < 2 ? mutex[n]->try_lock_for(far_from_now)
		                   : mutex[n]->try_lock_until(std::chrono::system_clock::now() +
		                                              far_from_now);
	default:
		return way % 4 < 2
		               ? pthread_mutex_clocklock(mutex[n]->native_handle(),
		                                         CLOCK_MONOTONIC, &far) == 0
		               : pthread_mutex_timedlock(mutex[n]->native_handle(), &far) == 0;
	}
}

/* '1': the time was up. */
static int wait(int which, int n, bool timed, int way)
{
	pthread_mutex_t *handle = mutex[n]->native_handle();
	/* a std::timed_mutex is no std::mutex; both are this alone */
	static_assert(sizeof(std::timed_mutex) == sizeof(std::mutex));
	std::unique_lock<std::mutex> held(*reinterpret_cast<std::mutex *>(mutex[n]),
	                                  std::adopt_lock);
	int result = 0;
	if (!timed && way % 2)
		condition[which]->wait(held);
	else if (!timed)
		pthread_cond_wait(condition[which]->native_handle(), handle);
	else if (way % 3 == 0)
		result = condition[which]->wait_for(held, far_from_now) ==
		         std::cv_status::timeout;
	else if (way % 3 == 1)
		result = pthread_cond_clockwait(condition[which]->native_handle(), handle,
		                                CLOCK_MONOTONIC, &far) != 0;
	else
		result = pthread_cond_timedwait(condition[which]->native_handle(), handle,
		                                &far) != 0;
	held.release();
	return result;
}

/* -- once */

static thread_local int ran;

static int run_once(int n)
{
	ran = 1;
	write_cell(0, n ? read_cell(1, 0) + 1 : 1, 0);
	return 1;
}

/* By one means in a run: the function's static, or the flag. */
static int once(int n)
{
	ran = 0;
	if (mix % 2) {
		static int made = run_once(n);
		(void)made;
	} else {
		std::call_once(flag, run_once, n);
	}
	return ran;
}

/* -- the rest */

static int use(int writes)
{
	int was;
	if (writes)
		*block = 1;
	else
		(void)*block;
	__asm__ volatile("movl %1, %0" : "=r"(was) : "m"(freed));
	return was ? 'f' - '0' : 0;
}

[[noreturn]] static void fail(int way)
{
	switch (way % 5) {
	case 0:
		abort();
	case 1:
		std::terminate();
	case 2:
		assert(way < 0);
		abort();
	case 3:
		raise(SIGABRT);
		abort();
	default:
		_exit(3);
	}
}

static int operate(char operation, int n, int value, int way)
{
	int result = 0;
	switch (operation) {
	case 'r':
		return read_cell(n, way);
	case 'w':
		write_cell(n, value, way);
		return 0;
	case 'P':
		return read_both(way);
	case 'Q':
		write_both(value, way);
		return 0;
	case 'B':
		write_cell(n, value, 2);
		return 0;
	case 'R':
	case 'W':
	case 'a':
	case 'x':
		return n ? update_atomic(large_atom, operation, value, way)
		         : update_atomic(small_atom, operation, value, way);
	case 'L':
	case 'X':
	case 'Z':
	case 'M':
		return n ? wait_atomic(large_atom, operation, value, way)
		         : wait_atomic(small_atom, operation, value, way);
	case 'v':
		return use(n);
	case 'V':
		if (mix % 2)
			delete block;
		else
			::operator delete((void *)block);
		note_freed();
		return 0;
	case 'l':
		lock_mutex(n, way);
		return 0;
	case 'u':
		unlock_mutex(n, way);
		return 0;
	case 't':
	case 'T':
		return try_mutex(n, operation == 'T', way);
	case 'i':
		shared->lock_shared();
		return 0;
	case 'o':
		shared->lock();
		return 0;
	case 'I': /* by whoever has it: the kinds differ in name alone */
		if (way % 2)
			shared->unlock();
		else
			shared->unlock_shared();
		return 0;
	case 'e':
		return shared->try_lock_shared();
	case 'f':
		return shared->try_lock();
	case 'E':
		return way % 2 ? shared->try_lock_shared_for(far_from_now)
		               : shared->try_lock_shared_until(
		                         std::chrono::system_clock::now() + far_from_now);
	case 'F':
		return way % 2 ? shared->try_lock_for(far_from_now)
		               : shared->try_lock_until(std::chrono::steady_clock::now() +
		                                        far_from_now);
	case 's':
		pthread_spin_lock(&spin);
		return 0;
	case 'd':
		return pthread_spin_trylock(&spin) == 0;
	case 'S':
		pthread_spin_unlock(&spin);
		return 0;
	case 'p':
		sem_post(&semaphore);
		return 0;
	case 'z':
		sem_wait(&semaphore);
		return 0;
	case 'y':
		return sem_trywait(&semaphore) == 0;
	case 'Y':
		return way % 2 ? sem_timedwait(&semaphore, &far) == 0
		               : sem_clockwait(&semaphore, CLOCK_MONOTONIC, &far) == 0;
	case 'g':
		sem_getvalue(&semaphore, &result);
		return result;
	case 'c':
	case 'C':
		return wait(n > 0, n == 1, operation == 'C', way);
	case 'n':
		if (way % 2)
			condition[n > 0]->notify_one();
		else
			pthread_cond_signal(condition[n > 0]->native_handle());
		return 0;
	case 'N':
		if (way % 2)
			condition[n > 0]->notify_all();
		else
			pthread_cond_broadcast(condition[n > 0]->native_handle());
		return 0;
	case 'b':
		if (n == 0)
			return pthread_barrier_wait(&barrier) != 0;
		pthread_barrier_wait(&barrier);
		return 0;
	case 'O':
		return once(n);
	default:
		abort();
	}
}

/* -- threads */

struct thread_state {
	const char *program, *at;
	int thread, last;
	pthread_t children[THREADS];
};
static thread_state all[THREADS];
static pthread_key_t key;
static void *begin(void *argument);

static void create(thread_state *s, int n)
{
	if (n % 2 != mix / 2 % 2) {
		pthread_create(&s->children[n], nullptr, begin, &all[n]);
		return;
	}
	std::thread thread(begin, &all[n]);
	thread.detach();
}

static void join(thread_state *s, int n)
{
	if (n % 2 != mix / 2 % 2)
		pthread_join(s->children[n], nullptr);
	else
		sem_wait(&over[n]);
}

/* Makes the operations up to `end`, or all. */
static void go_on(thread_state *s, const char *end)
{
	for (; *s->at && (!end || s->at < end); s->at += OPERATION) {
		int n = s->at[1] - '0', value = s->at[2] - '0';
		int way = (int)(s->at - s->program) / OPERATION * 7 + s->thread * 3 + mix;
		switch (*s->at) {
		case 'j': /* where the last result was 0: leave out so many */
			if (s->last == 0)
				s->at += OPERATION * n;
			continue;
		case 'J':
			if (s->last != 0)
				s->at += OPERATION * n;
			continue;
		case '!':
			if (s->last == n) {
				tell(s->thread, '!');
				fail(way);
			}
			continue;
		case 'k':
			create(s, n);
			continue;
		case 'h':
			join(s, n);
			continue;
		case 'q': /* the usual loop around a wait */
			while ((s->last = read_cell(n, way)) == 0) {
				tell(s->thread, '0');
				wait(0, 0, false, way);
			}
			break;
		default:
			s->last = operate(*s->at, n, value, way);
		}
		tell(s->thread, '0' + s->last);
	}
}

/* The length of a program's share for one of the four phases of a thread. */
static const char *until(const thread_state *s, int phase)
{
	size_t operations = strlen(s->program) / OPERATION;
	return s->program + operations * (size_t)phase / 4 * OPERATION;
}

static void end_in_key(void *argument)
{
	thread_state *s = static_cast<thread_state *>(argument);
	if (s->at < until(s, 3)) {
		go_on(s, until(s, 3));
		pthread_setspecific(key, s); /* once more */
		return;
	}
	go_on(s, nullptr);
	if (s->thread % 2 == mix / 2 % 2)
		sem_post(&over[s->thread]);
}

struct last_words {
	thread_state *s = nullptr;
	~last_words()
	{
		if (s)
			go_on(s, until(s, 2));
	}
};
static thread_local last_words words;

static __attribute__((noinline)) void leave(thread_state *s)
{
	go_on(s, until(s, 1));
	if (s->thread % 2)
		pthread_exit(nullptr);
}

static void *begin(void *argument)
{
	thread_state *s = static_cast<thread_state *>(argument);
	pthread_setspecific(key, s);
	if ((s->thread + mix) % 3)
		words.s = s;
	leave(s);
	return nullptr;
}

static void end_of_main()
{
	go_on(&all[0], nullptr);
	tell(0, '$');
}

int main(int argc, char **argv)
{
	log_open(argv[1]);
	tell(0, '#');
	mix = atoi(argv[2]);
	for (int i = 3; i < argc; i++) {
		thread_state *s = &all[i - 3];
		s->program = s->at = argv[i] + (i == 3);
		s->thread = i - 3;
		sem_init(&over[i - 3], 0, 0);
	}
	block = new int(0);
	for (auto &m : mutex)
		m = new std::timed_mutex;
	for (auto &c : condition)
		c = new std::condition_variable;
	shared = new std::shared_timed_mutex;
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, nullptr, 2);
	sem_init(&semaphore, 0, (unsigned)(argv[3][0] - '0'));
	pthread_key_create(&key, end_in_key);
	if (mix % 3 == 0)
		atexit(end_of_main);
	go_on(&all[0], mix % 3 ? nullptr : until(&all[0], 2));
	if (mix % 3)
		tell(0, '$');
	return 0;
}
