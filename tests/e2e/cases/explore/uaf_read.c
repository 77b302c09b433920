/* the user reads: T1 frees first in the first run */
#include <pthread.h>
#include <stdlib.h>
int *p; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int seen;
static void *t1(void *u) { free(p); return u; }
static void *t2(void *u) { int v = *p; pthread_mutex_lock(&m); seen = v; pthread_mutex_unlock(&m); return u; }
int main(void) { pthread_t t[2]; p = malloc(64); *p = 1; pthread_create(t, 0, t1, 0); pthread_create(t + 1, 0, t2, 0);
 pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@uaf_read.c:6
//= complete yes
