/* Loops that count their rounds where the C library keeps it: each number of looks is an outcome. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static pthread_key_t key;
static int out;

static void *run(void *unused)
{
#ifdef ERRNO
	errno = 0;
	while (!flag && errno < 3)
		errno++;
	out = errno;
#else
	while (!flag && (long)pthread_getspecific(key) < 3)
		pthread_setspecific(key, (void *)((long)pthread_getspecific(key) + 1));
	out = (int)(long)pthread_getspecific(key);
#endif
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_key_create(&key, NULL);
	pthread_create(&t, NULL, run, NULL);
	flag = 1;
	pthread_join(t, NULL);
	return out;
}

//: build {,-DERRNO}
//: explore
//= exit 1
//= complete yes
//= statuses 0 1 2 3 3
