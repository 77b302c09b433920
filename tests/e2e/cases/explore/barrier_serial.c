/* Two threads meet at a barrier, one then writes y, a third reads y.
   4 outcomes by hand: who is serial (2) x what the reader saw (0 or 3). */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
_Atomic int y, x; int r1, s0, s2; pthread_barrier_t b;
void *t0(void *p) { s0 = pthread_barrier_wait(&b) != 0; return p; }
void *t1(void *p) { r1 = y; return p; }
void *t2(void *p) { s2 = pthread_barrier_wait(&b) != 0; y = 3; return p; }
int main(void) { pthread_t t[3]; pthread_barrier_init(&b, 0, 2);
 pthread_create(t, 0, t0, 0); pthread_create(t + 1, 0, t1, 0); pthread_create(t + 2, 0, t2, 0);
 for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
 assert(!(s0 && r1 == 3)); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@barrier_serial.c:13
