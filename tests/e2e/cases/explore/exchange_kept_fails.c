/* An assertion within a failed round: what another thread stored meanwhile, after what it had stored before. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p) { int was = x; while (!atomic_compare_exchange_strong(&x, &was, was + 1)) assert(was != 2); return p; }
static void *back_and_forth(void *p) { x = 1; x = 0; x = 2; x = 0; return p; }
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, add, 0);
	pthread_create(&t[1], 0, back_and_forth, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: explore
//= exit 1
//= complete yes
//~ errors ^signal@
