// a thread polls under a lock: how often it looks in vain makes no difference
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int ready, bug;
static void *t(void *p) { bug = 1; pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t x; pthread_create(&x, 0, t, 0); int r; do { pthread_mutex_lock(&m); r = ready; pthread_mutex_unlock(&m); } while (!r); pthread_join(x, 0); return 0; }

//: explore
//= exit 0
//= states 1
//= complete yes
//= errors
