/* The usual use: one function; what it reads depends on when it runs, and by whom. */
#include <assert.h>
#include <pthread.h>
pthread_once_t o = PTHREAD_ONCE_INIT; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int conf, used;
void init(void) { pthread_mutex_lock(&m); used = conf; pthread_mutex_unlock(&m); }
void *a(void *p) { pthread_mutex_lock(&m); conf = 1; pthread_mutex_unlock(&m); pthread_once(&o, init); return p; }
void *b(void *p) { pthread_once(&o, init); return p; }
int main(void) { pthread_t t[2];
 pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0);
 for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
 assert(used == 1); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@once2.c:12
