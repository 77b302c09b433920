/* Two threads, each reads and fails: whichever comes first ends the program. Two different errors. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
_Atomic int x, y;
static void *a(void *p) { int r = x; assert(r != 0); return p; }
static void *b(void *p) { int r = y; assert(r != 0); return p; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }

//: explore
//= errors signal@two_asserts.c:6 signal@two_asserts.c:7
//= complete yes
