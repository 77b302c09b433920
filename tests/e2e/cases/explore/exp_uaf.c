// T1 may use the context after main has freed it
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct ctx { long a, b, c; int x; };
int sink;
static void *t1(void *p) { struct ctx *c = p;
#ifdef RD
 sink = c->x;
#else
 c->x = 1;
#endif
 return 0; }
int main() { struct ctx *c = malloc(sizeof *c); c->x = 5; pthread_t t; pthread_create(&t, 0, t1, c);
#ifdef SLEEP
 usleep(1000);
#endif
 free(c); pthread_join(t, 0); return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@exp_uaf.c:11
//= complete yes
