/* an invocation that tries a lock: whole invocations never meet, so a try that fails is not seen unless its object is no step */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

__attribute__((noinline)) int add(void)
{
	if (pthread_mutex_trylock(&m) != 0)
		return 0;
	n++;
	pthread_mutex_unlock(&m);
	return 1;
}
static void *run(void *p)
{
	add();
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	assert(n == 2);
	return 0;
}

//: explore --spec $here/tried_inside.spec
//= exit 1
//= errors signal@tried_inside.c:28
//~ said tries a lock that other threads take
