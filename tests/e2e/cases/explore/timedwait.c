/* A timed wait that is signalled (d == 0), by a T1 that saw y == 2 before; main looked at x before T2 was made. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t k = PTHREAD_COND_INITIALIZER;
_Atomic int x, y; int d = -1, b;
void *t0(void *p) { struct timespec ts = {4000000000, 0}; pthread_mutex_lock(&m); if (x == 0) d = pthread_cond_timedwait(&k, &m, &ts); pthread_mutex_unlock(&m); return p; }
void *t1(void *p) { b = y; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_cond_signal(&k); return p; }
void *t2(void *p) { x = 3; y = 2; return p; }
int main(void) { pthread_t t[3];
 pthread_create(t, 0, t0, 0); pthread_create(t + 1, 0, t1, 0); pthread_create(t + 2, 0, t2, 0);
 for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
 assert(!(d == 0 && b == 2)); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@timedwait.c:13
