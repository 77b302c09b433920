/* main waits for a flag by looking: the other thread sets it */
#include <pthread.h>
#include <stdatomic.h>
_Atomic int x;
static void *run(void *p) { x = 1; return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); while (!x) ; pthread_join(t, 0); return 0; }

//: explore
//= exit 0
//= executions 1
//= complete yes
//= errors
//: explore --seed 3
//= exit 0
//= states 1
//= complete yes
