// A lock in a heap block, used by one thread, freed by another: K=1 the lock alone, 2 with its
// destruction before the free, 3 a plain access.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct ctx { pthread_mutex_t m; int x; };
static void *t1(void *p) { struct ctx *c = p;
#if K==4
 usleep(5000);
#endif
#if K==3
 c->x = 1;
#else
 pthread_mutex_lock(&c->m); pthread_mutex_unlock(&c->m);
#endif
 return 0; }
int main() { struct ctx *c = malloc(sizeof *c); pthread_mutex_init(&c->m, 0);
  pthread_t t; pthread_create(&t, 0, t1, c); usleep(1000);
#if K==2
  pthread_mutex_destroy(&c->m);
#endif
  free(c); pthread_join(t, 0); return 0; }
