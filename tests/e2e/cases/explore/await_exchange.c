/* A lock that is looked at, then exchanged: a round of the loop has two looks, and another thread may come between. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int l;
static int n;
static void *run(void *p) { do while (l) ; while (atomic_exchange(&l, 1)); n++; l = 0; return p; }
int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, run, 0); pthread_create(&t[1], 0, run, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); assert(n == 2); return 0; }

//: explore
//= exit 0
//= states 2
//= complete yes
//= errors
