/* The futex called by its number: what it returns, another process that wakes, and (with an
 * argument) a race of two threads beside it. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int turn, before, after, late;

static long futex(int *word, int operation, int value, const struct timespec *time)
{
	long status =
	        syscall(SYS_futex, word, operation, value, time, NULL, FUTEX_BITSET_MATCH_ANY);
	return status < 0 ? -errno : status;
}

static void *waiter(void *unused)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 0)
		futex(&turn, FUTEX_WAIT_PRIVATE, 0, NULL);
	before++;
	after++;
	return NULL;
}

static void race(void)
{
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	before = 1;
	__atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
	after = 1; /* the waiter need not wait for the wake */
	futex(&turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	pthread_join(t, NULL);
}

static void *nobody(void *unused)
{
	return &late;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		race();
		return 0;
	}
	int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0) {
		usleep(50000);
		__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
		futex(word, FUTEX_WAKE, 1, NULL);
		_exit(0);
	}
	pthread_t t;
	pthread_create(&t, NULL, nobody, NULL);
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
		futex(word, FUTEX_WAIT, 0, NULL);
	pthread_join(t, NULL);
	waitpid(child, NULL, 0);

	struct timespec length = { 500, 0 }, wrong = { 0, -1 }, end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 500;
	int own = 0;
	printf("%d", futex(&own, FUTEX_WAIT, 0, &length) == -ETIMEDOUT);
	printf("%d", futex(&own, FUTEX_WAIT_BITSET_PRIVATE, 0, &end) == -ETIMEDOUT);
	printf("%d", futex(&own, FUTEX_WAIT_PRIVATE, 1, NULL) == -EAGAIN);
	printf("%d", futex(&own, FUTEX_WAIT_PRIVATE, 0, &wrong) == -EINVAL);
	printf("%d", futex(&own, FUTEX_WAKE_PRIVATE, 1, NULL) == 0);
	printf("%d", futex((int *)3, FUTEX_WAKE_PRIVATE, 1, NULL) == -EINVAL);
	printf("%d\n", syscall(SYS_getpid) == getpid());
	return 0;
}
