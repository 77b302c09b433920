/* T2 waits while y == 0, T1 only broadcasts, T0 sets y and broadcasts, all under m.
   T2 looks once (y set before), twice, or three times (T1's broadcast wakes it in between). */
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t k = PTHREAD_COND_INITIALIZER;
int y, looks;
void *t0(void *p) { pthread_mutex_lock(&m); y = 2; pthread_cond_broadcast(&k); pthread_mutex_unlock(&m); return p; }
void *t1(void *p) { pthread_mutex_lock(&m); pthread_cond_broadcast(&k); pthread_mutex_unlock(&m); return p; }
void *t2(void *p) { pthread_mutex_lock(&m); looks++; while (y == 0) { pthread_cond_wait(&k, &m); looks++; } pthread_mutex_unlock(&m); return p; }
int main(void) { pthread_t t[3];
 pthread_create(t, 0, t0, 0); pthread_create(t + 1, 0, t1, 0); pthread_create(t + 2, 0, t2, 0);
 for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
 assert(looks < 3); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@cond.c:13
//~ said spurious wake-ups.*are not explored
