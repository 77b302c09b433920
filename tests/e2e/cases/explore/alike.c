/* Three threads that are alike add 1 under a lock, and there are twice as many of these: each takes the
 * place of the other in one class. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *add(void *u)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return u;
}
int main(void)
{
	pthread_t t[3];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t[i], 0, add, 0);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], 0);
		assert(x == 3 * round + 3);
	}
	return 0;
}

//: explore
//= states 36
//= $d->{"stand-for"}//"none" none
//: explore --symmetry
//= complete yes
//= states 1
//= executions 3
//= $d->{"stand-for"} 36
//= said
//: explore --symmetry -j 2
//= complete yes
//= states 1
//= $d->{"stand-for"} 36
//: explore --symmetry --format text
//~ out 1 of them different, complete for this input but for which of the threads that are alike does what \(1 class for 36\): whatever
