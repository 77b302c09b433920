/* What sem_getvalue says depends on the order. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t s; int v;
void *a(void *p) { sem_post(&s); return p; }
void *b(void *p) { sem_getvalue(&s, &v); return p; }
int main(void) { pthread_t t[2]; sem_init(&s, 0, 0);
 pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0);
 for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
 assert(v == 1); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@semget.c:11
