/* Each looks, under one lock, for what the other does after its own look: if the second one was the first to come, for
 * ever. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a, b, c;
static int get(const int *p)
{
	pthread_mutex_lock(&m);
	int v = *p;
	pthread_mutex_unlock(&m);
	return v;
}
static void set(int *p)
{
	pthread_mutex_lock(&m);
	*p = 1;
	pthread_mutex_unlock(&m);
}
static void *one(void *p)
{
	if (get(&c))
		while (!get(&b))
			;
	set(&a);
	return p;
}
static void *two(void *p)
{
	set(&c);
	while (!get(&a))
		;
	set(&b);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore
//= exit 1
//= states 2
//= complete yes
//~ errors ^blocked@
