/* as two_asserts.c, but a makes b */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
_Atomic int x, y; pthread_t u;
static void *b(void *p) { int r = y; assert(r != 0); return p; }
static void *a(void *p) { pthread_create(&u, 0, b, 0); int r = x; assert(r != 0); pthread_join(u, 0); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); return 0; }

//: explore
//= errors signal@two_asserts_nested.c:6 signal@two_asserts_nested.c:7
//= complete yes
