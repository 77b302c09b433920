/* No input from outside; two threads create threads at the same time. */
#include <pthread.h>
#include <stdatomic.h>
_Atomic int x; pthread_t t2;
static void *c(void *p) { atomic_fetch_add(&x, 1); return p; }
static void *a(void *p) { pthread_create(&t2, 0, c, 0); pthread_join(t2, 0); return p; }
static void *b(void *p) { x = 2; return p; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, a, 0); int r = atomic_fetch_add(&x, 2); pthread_create(t + 1, 0, b, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return r > 9; }

//: explore
//= exit 0
//= complete yes
//= states 2
