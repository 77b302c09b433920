/* A deadlock of threads that are alike is one error, whichever of them wait for each other; without --symmetry it is one
 * for each choice of them. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int order, which;

static void *work(void *p)
{
	pthread_mutex_lock(&a);
	int first = order++ % 2;
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(first ? &a : &b);
	pthread_mutex_lock(first ? &b : &a);
	which++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
//: explore {--symmetry,--symmetry --seed 1}
//= complete yes
//= states 11
//= errors deadlock@alike_errors.c:13+alike_errors.c:14 deadlock@alike_errors.c:14 deadlock@alike_errors.c:14+alike_errors.c:10
//: explore
//= complete yes
//= scalar(@{$d->{errors}}) 18
