/* The same of spin locks, reader-writer locks and semaphores.  (That sem_trywait has failed once stays in errno.) */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
static pthread_spinlock_t spin;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int x, kind;
static int try(void)
{
	return kind == 0   ? pthread_spin_trylock(&spin)
	       : kind == 1 ? pthread_rwlock_trywrlock(&rw)
	       : kind == 2 ? pthread_rwlock_tryrdlock(&rw)
	                   : sem_trywait(&semaphore);
}
static void *one(void *p)
{
	while (try())
		;
	if (kind != 2)
		x++;
	kind == 0 ? pthread_spin_unlock(&spin) : kind < 3 ? pthread_rwlock_unlock(&rw) : sem_post(&semaphore);
	return p;
}
static void *two(void *p)
{
	if (kind != 2)
		return one(p);
	pthread_rwlock_wrlock(&rw);
	x++;
	pthread_rwlock_unlock(&rw);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	kind = argc > 1 ? argv[1][0] - '0' : 0;
	pthread_spin_init(&spin, 0);
	sem_init(&semaphore, 0, 1);
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --format json @ {0,1}
//= exit 0
//= states 2
//= complete yes

//: explore --format json @ 2
//= exit 0
//= states 1
//= complete yes

//: explore --format json @ 3
//= exit 0
//= states 4
//= complete yes
