/* a mutex that is destroyed before another thread locks it, in the first run's order */
#include <pthread.h>
pthread_mutex_t m; int x;
static void *t1(void *u) { pthread_mutex_destroy(&m); return u; }
static void *t2(void *u) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return u; }
int main(void) { pthread_t t[2]; pthread_mutex_init(&m, 0); pthread_create(t, 0, t1, 0); pthread_create(t + 1, 0, t2, 0);
 pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@destroyed_missed.c:5
//= complete yes
