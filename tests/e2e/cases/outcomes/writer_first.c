/* A reader that locks again waits for a writer which waits for it, where the lock lets a waiting writer go first;
 * not where it does not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static pthread_rwlock_t l;
static void *reader(void *u)
{
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	pthread_rwlock_unlock(&l);
	return u;
}
static void *writer(void *u)
{
	pthread_rwlock_wrlock(&l);
	pthread_rwlock_unlock(&l);
	return u;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	pthread_rwlockattr_t kind;
	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, argc > 1 ? atoi(argv[1]) : 0);
	pthread_rwlock_init(&l, &kind);
	pthread_create(&t[0], 0, reader, 0);
	pthread_create(&t[1], 0, writer, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: shake --runs 60 --tries 0 --strategy {random,pct,pos} @ 2
//~ out exit status 0
//~ out waits for ever
//: shake --runs 60 --tries 0 --strategy {random,pct,pos} @ 0
//~ out 1 outcome
//~ out exit status 0
