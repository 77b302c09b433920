/* T2's try fails while T0 holds m, T2 then writes x, T1 reads 3 after: reachable (c == 0, r == 3). */
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, r, c = -1; volatile int y;
void *t0(void *p) { pthread_mutex_lock(&m); y = 1; pthread_mutex_unlock(&m); return p; }
void *t1(void *p) { pthread_mutex_lock(&m); r = x; pthread_mutex_unlock(&m); return p; }
void *t2(void *p) {
  c = !pthread_mutex_trylock(&m);
  if (c) pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m); x = 3; pthread_mutex_unlock(&m); return p; }
int main(void) { pthread_t t[3];
 pthread_create(t, 0, t0, 0); pthread_create(t + 1, 0, t1, 0); pthread_create(t + 2, 0, t2, 0);
 for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
 assert(!(c == 0 && r == 3)); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@tryfail2.c:15
