/* Each thread holds one lock for reading, and waits to write to the other: a cycle, though the runtime knows no
 * holder of a lock that is read. */
#include <pthread.h>
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;
static void pass(pthread_rwlock_t *first, pthread_rwlock_t *second)
{
	pthread_rwlock_rdlock(first);
	pthread_rwlock_wrlock(second);
	pthread_rwlock_unlock(second);
	pthread_rwlock_unlock(first);
}
static void *one(void *u)
{
	pass(&a, &b);
	return u;
}
static void *other(void *u)
{
	pass(&b, &a);
	return u;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, one, 0);
	pthread_create(&t[1], 0, other, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: explore
//= complete yes
//= outcomes 0 deadlock
