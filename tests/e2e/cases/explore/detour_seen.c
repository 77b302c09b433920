/* A failed try of a lock that is a counter, which another thread sees: the second thread's first try fails by the first
 * thread's, which has failed by the third's. Only then has it failed before the first thread has the lock,
 * which still reads any of three values. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock, done, failed, x;
static int try_lock(void)
{
	if (atomic_fetch_add(&lock, 1) == 0)
		return 1;
	atomic_fetch_sub(&lock, 1);
	return 0;
}
static void *first(void *p)
{
	while (!try_lock())
		while (atomic_load(&lock) != 0)
			;
	int now = atomic_load(&x), seen = atomic_load(&failed);
	assert(!seen || now != 0);
	assert(!seen || now != 1);
	assert(!seen || now != 2);
	atomic_fetch_sub(&lock, 1);
	return p;
}
static void *second(void *p)
{
	if (!atomic_load(&done))
		return p;
	int fails = !try_lock();
	if (!fails || try_lock()) {
		atomic_fetch_sub(&lock, 1);
		atomic_store(&failed, fails);
	}
	return p;
}
static void *third(void *p)
{
	if (try_lock()) {
		atomic_fetch_sub(&lock, 1);
		atomic_store(&done, 1);
	}
	return p;
}
int main(void)
{
	void *(*all[])(void *) = { first, second, third };
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, all[i], 0);
	atomic_store(&x, 1);
	atomic_store(&x, 2);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore
//= complete yes
//= errors signal@detour_seen.c:21 signal@detour_seen.c:22 signal@detour_seen.c:23
