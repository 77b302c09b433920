/* freed_early.c: a block is freed by who came first; the other one may still write it. */
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *p, stop;
static void *use(void *u) { pthread_mutex_lock(&m); int s = stop; pthread_mutex_unlock(&m); if (!s) *p = 1; return u; }
static void *end(void *u) { pthread_mutex_lock(&m); stop = 1; pthread_mutex_unlock(&m); free(p); return u; }
int main(void) { pthread_t a, b; p = malloc(4); pthread_create(&a, 0, use, 0); pthread_create(&b, 0, end, 0);
	pthread_join(a, 0); pthread_join(b, 0); return 0; }
