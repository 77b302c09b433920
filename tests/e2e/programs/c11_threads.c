/* <threads.h>: everything in it that synchronises; `unguarded` alone races. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

static once_flag once = ONCE_FLAG_INIT;
static mtx_t m;
static cnd_t c;
static tss_t key;
static int guarded, ready, unguarded;

static void init(void)
{
	mtx_init(&m, mtx_timed | mtx_recursive);
	cnd_init(&c);
	tss_create(&key, NULL);
}

static int work(void *own)
{
	call_once(&once, init);
	tss_set(key, own);
	mtx_lock(&m);
	mtx_lock(&m);
	guarded++;
	ready++;
	cnd_signal(&c);
	mtx_unlock(&m);
	mtx_unlock(&m);
	unguarded++;
	return *(int *)tss_get(key);
}

int main(void)
{
	thrd_t threads[2];
	int numbers[2] = { 3, 4 }, sum = 0;
	struct timespec at;
	call_once(&once, init);
	for (int i = 0; i < 2; i++)
		thrd_create(&threads[i], work, &numbers[i]);
	mtx_lock(&m);
	while (ready < 2)
		cnd_wait(&c, &m);
	mtx_unlock(&m);
	for (int i = 0; i < 2; i++) {
		int result;
		thrd_join(threads[i], &result);
		sum += result;
	}
	timespec_get(&at, TIME_UTC);
	if (mtx_trylock(&m) == thrd_success && cnd_timedwait(&c, &m, &at) == thrd_timedout)
		mtx_unlock(&m);
	mtx_destroy(&m);
	cnd_destroy(&c);
	tss_delete(key);
	printf("%d %d\n", guarded, sum);
	return 0;
}
