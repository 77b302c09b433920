#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int a, b; int d;
static void *one(void *p) { while (!a) ; d = 1; b = 1; return p; }
static void *two(void *p) { a = 1; while (!b) ; assert(d == 1); return p; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, one, 0); pthread_create(t+1, 0, two, 0); pthread_join(t[0],0); pthread_join(t[1],0); return 0; }

//: explore
//= exit 3
//= executions 25
//= complete no
//= errors
//~ said waits by looking, at two_spin\.c:[0-9]+: .*is not tried
//: explore --steps 60
//~ errors ^cut@
//~ $d->{executions}>4&&$d->{executions}<200 1
