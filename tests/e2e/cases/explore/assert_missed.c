/* a makes b and reads x; b reads y.  Both assertions may be the first to fail. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
_Atomic int x, y; pthread_t u;
static void *b(void *p) { int r = y; assert(r != 0); return p; }
static void *a(void *p) { pthread_create(&u, 0, b, 0); int r = x; assert(r != 0); pthread_join(u, 0); return p; }
static void *c(void *p) { x = 1; return p; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, c, 0); int d = x; x = d + 1; pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore
//= errors signal@assert_missed.c:6 signal@assert_missed.c:7
//= complete yes
