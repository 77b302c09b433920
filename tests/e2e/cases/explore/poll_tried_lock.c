// a thread polls under a lock that only its own looks try: a try that fails, and one that sees 0, are rounds without effect
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int ready, bug;
static void *t(void *p) { bug = 1; pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t x; pthread_create(&x, 0, t, 0); int r = 0; do { if (pthread_mutex_trylock(&m)) continue; r = ready; pthread_mutex_unlock(&m); } while (!r); pthread_join(x, 0); return 0; }

//: explore --seed {0,1}
//= exit 0
//= complete yes
//= states 1
//= errors
