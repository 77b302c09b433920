/* A ticket lock: who waits by looking at the number that is served, however often. Six orders of three threads. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next, serving;
static int n;
static void *run(void *p) { int my = next++; while (serving != my) ; n++; serving = my + 1; return p; }
int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); assert(n == 3); return 0; }

//: explore
//= exit 0
//= states 6
//= complete yes
//= errors
//: explore --seed 2
//= states 6
//= complete yes
