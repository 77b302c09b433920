/* What ThreadSanitizer's own tests call: a barrier that orders nothing, hooks with an address of
 * the program's choice, and locks that are given up at once. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
void __tsan_testonly_barrier_init(uint64_t *, unsigned), __tsan_testonly_barrier_wait(uint64_t *);
void __tsan_write4_pc(void *, void *), __tsan_read8_pc(void *, void *);
void __tsan_write_range_pc(void *, unsigned long, void *);
void __tsan_java_mutex_lock(uintptr_t), __tsan_java_mutex_unlock(uintptr_t);
void __tsan_java_mutex_lock_rec(uintptr_t, int);
int __tsan_java_mutex_unlock_rec(uintptr_t);
static uint64_t barrier;
static int order[3];
static long range[4];
static void *second(void *p)
{
	__tsan_testonly_barrier_wait(&barrier);
	order[2] = order[1] + 1;
	__tsan_write_range_pc(range, sizeof(range), (void *)(uintptr_t)second);
	return p;
}
int main(void)
{
	pthread_t t;
	long lock[2];
	uintptr_t l = (uintptr_t)&lock;
	__tsan_testonly_barrier_init(&barrier, 2);
	pthread_create(&t, 0, second, 0);
	order[1] = 1;
	__tsan_write4_pc(&range[2], (void *)(uintptr_t)main);
	__tsan_read8_pc(&range[0], (void *)(uintptr_t)main);
	__tsan_testonly_barrier_wait(&barrier);
	pthread_join(t, 0);
	__tsan_java_mutex_lock(l);
	__tsan_java_mutex_lock_rec(l, 2);
	int times = __tsan_java_mutex_unlock_rec(l);
	printf("%d %d\n", order[2], times);
	return 0;
}
