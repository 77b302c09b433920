// A condition is signalled after the unlock that lets its block be freed.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct ctx { pthread_mutex_t m; pthread_cond_t c; int done; };
static void *t1(void *p) { struct ctx *c = p; pthread_mutex_lock(&c->m); c->done = 1; pthread_mutex_unlock(&c->m); pthread_cond_signal(&c->c); return 0; }
int main() { struct ctx *c = malloc(sizeof *c); pthread_mutex_init(&c->m, 0); pthread_cond_init(&c->c, 0); c->done = 0;
  pthread_t t; pthread_create(&t, 0, t1, c); pthread_mutex_lock(&c->m); while (!c->done) pthread_cond_wait(&c->c, &c->m); pthread_mutex_unlock(&c->m);
  usleep(1000); free(c); pthread_join(t, 0); return 0; }
