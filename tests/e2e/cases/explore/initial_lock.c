/* f goes 0, 1, 0; the reader may see f == 0 before that, and x == 1 after. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int f, x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define L(s) (pthread_mutex_lock(&m), (s), pthread_mutex_unlock(&m))
static void *a(void *p) { L(f = 1); L(x = 1); L(x = 0); L(f = 0); return p; }
static void *b(void *p) { int r, s; L(r = f); L(s = x); assert(!(r == 0 && s == 1)); return p; }
int main(void) {
#ifdef INIT
  f = 0; x = 0;
#endif
  pthread_t t[2]; pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@initial_lock.c:8
