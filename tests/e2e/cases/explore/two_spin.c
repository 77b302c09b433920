#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int a, b; int d;
static void *one(void *p) { while (!a) ; d = 1; b = 1; return p; }
static void *two(void *p) { a = 1; while (!b) ; assert(d == 1); return p; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, one, 0); pthread_create(t+1, 0, two, 0); pthread_join(t[0],0); pthread_join(t[1],0); return 0; }

//: explore
//= exit 0
//= executions 1
//= complete yes
//= errors
//: explore --seed 3
//= exit 0
//= states 1
//= complete yes
