/* The program is aborted while a thread is in the function whose local variable another one
 * uses: the function has not returned. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic(atomic_int *) shown;
static void *owner(void *p)
{
	atomic_int local = 0;
	shown = &local;
	while (local < 2)
		;
	return p;
}
static void *user(void *p)
{
	atomic_int *at;
	while ((at = shown) == NULL)
		;
	*at = 1;
	assert(*at != 1);
	*at = 2;
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, owner, NULL);
	pthread_create(&t[1], NULL, user, NULL);
	pthread_join(t[0], NULL);
	return pthread_join(t[1], NULL);
}

//: explore
//= errors signal@aborted_inside.c:21
