/* Reads of members of a mutex, a reader-writer lock, a semaphore and a spin lock beside another
 * thread that uses them: what the library writes there is no event. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static struct {
	pthread_mutex_t lock;
	int beside;
} pair = { PTHREAD_MUTEX_INITIALIZER, 0 };
static const char *way;
#define WAY(name) if (strcmp(way, name) == 0)
static void *run(void *p)
{
	WAY("mutex") pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
	WAY("rwlock") pthread_rwlock_rdlock(&rw), pthread_rwlock_unlock(&rw);
	WAY("spin") pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
	WAY("sem") sem_post(&sem);
	WAY("beside") pthread_mutex_lock(&pair.lock), pthread_mutex_unlock(&pair.lock);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	int seen = 0;
	way = argv[argc - 1];
	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 0);
	pthread_create(&t, 0, run, 0);
	WAY("mutex") seen = ((volatile pthread_mutex_t *)&m)->__data.__lock;
	WAY("rwlock") seen = ((volatile pthread_rwlock_t *)&rw)->__data.__readers;
	WAY("spin") seen = *(volatile int *)&spin;
	WAY("sem") seen = *(volatile int *)&sem;
	WAY("beside") seen = *(volatile int *)&pair.beside;
	pthread_join(t, 0);
	return seen;
}
//: build
//: explore --memory {sc,tso} @ {mutex,rwlock,spin,sem}
//= complete no
//~ said main reads \S+ at lock_parts.c:3\d, a part of (m|rw|spin|sem), which T1 uses at lock_parts.c:\d+: what the library writes there is not recorded
//: record -q -o t.hdl @ mutex
//: races t.hdl
//= complete no
//~ said main reads m.__data.__lock at lock_parts.c:33, a part of m, which T1 uses at lock_parts.c:18: what the library writes
//: explore @ beside
//= complete yes
