#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct s { _Atomic int f, x; } *s;
static void *a(void *p) { s->f = 1; s->x = 1; s->x = 0; s->f = 0; return p; }
static void *b(void *p) { int r = s->f, q = s->x; assert(!(r == 0 && q == 1)); return p; }
int main(void) { s = calloc(1, sizeof *s);
  pthread_t t[2]; pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@initial_heap.c:7
