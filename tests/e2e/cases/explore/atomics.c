/* flag check before flag set: both may be inside */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
_Atomic int f[2], in;
static void *run(void *p) { int i = (int)(long)p; if (!f[1 - i]) { f[i] = 1; assert(atomic_fetch_add(&in, 1) == 0); atomic_fetch_sub(&in, 1); f[i] = 0; } return 0; }
int main(void) { pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(t + i, 0, run, (void *)i); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@atomics.c:6
