/* Who waits by looking holds the lock that the other thread needs to write there: they wait for ever. */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p) { pthread_mutex_lock(&m); a = 1; pthread_mutex_unlock(&m); return p; }
static void *two(void *p) { pthread_mutex_lock(&m); while (!a) ; pthread_mutex_unlock(&m); return p; }
int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, one, 0); pthread_create(&t[1], 0, two, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore
//= exit 1
//= states 2
//= complete yes
//~ errors ^blocked@
