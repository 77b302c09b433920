#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
_Atomic(atomic_int *) p;
static void *t1(void *u) { free(p); return u; }
static void *t2(void *u) { atomic_int *a = p; atomic_store_explicit(a, 42, memory_order_relaxed); return u; }
int main(void) { pthread_t t[2]; p = malloc(4); atomic_init(p, 0); pthread_create(t, 0, t1, 0); pthread_create(t + 1, 0, t2, 0);
 pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@uaf_atomic.c:6
//= complete yes
