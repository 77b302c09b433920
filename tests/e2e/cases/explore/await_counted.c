/* A loop that counts its rounds, in memory of its thread: each number of looks is an outcome. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static _Thread_local volatile int n;
static void *run(void *p) { while (!flag && n < 3) n++; assert(n < 3); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); flag = 1; pthread_join(t, 0); return 0; }

//: explore
//= exit 1
//~ errors ^signal@
