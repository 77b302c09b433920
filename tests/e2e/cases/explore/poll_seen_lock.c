// a thread polls under a lock that another one tries once: each number of looks is a class
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int ready, bug;
static void *t(void *p) { bug = 1; if (pthread_mutex_trylock(&m)) pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t x; pthread_create(&x, 0, t, 0); int r = 0; do { if (pthread_mutex_trylock(&m)) continue; r = ready; pthread_mutex_unlock(&m); } while (!r); pthread_join(x, 0); return 0; }

//: explore
//= exit 3
//= complete no
//= errors
//~ said waits by looking, at poll_seen_lock\.c:[0-9]+: .*is not tried
//: explore --steps 60
//= exit 3
//= errors
//~ said a run was cut
//~ $d->{executions}>4 1
