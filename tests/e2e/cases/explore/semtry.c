/* count 1; T0 tries, then posts; T1 tries.  a == 0 (T1 was first) is missed. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s; int a = -1, b = -1;
static void *t0(void *p) { a = !sem_trywait(&s); sem_post(&s); return p; }
static void *t1(void *p) { b = !sem_trywait(&s); return p; }
int main(void) { pthread_t t[2]; sem_init(&s, 0, 1);
 pthread_create(t, 0, t0, 0); pthread_create(t + 1, 0, t1, 0);
 for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
 assert(a == 1); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@semtry.c:11
