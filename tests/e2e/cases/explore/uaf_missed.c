/* T1 frees, T2 writes into the block: in half of the orders after the free. */
#include <pthread.h>
#include <stdlib.h>
int *volatile p;
static void *t1(void *u) { free(p); return u; }
static void *t2(void *u) { *p = 42; return u; }
int main(void) { pthread_t t[2]; p = malloc(64); *p = 1; pthread_create(t, 0, t1, 0); pthread_create(t + 1, 0, t2, 0);
 pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@uaf_missed.c:6
//= complete yes

//: explore
//~ out complete for this input, except for what its uses after free allow
