#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
_Atomic(int *) p;
static void *t1(void *u) { p = malloc(sizeof(int)); free(p); return u; }
static void *t2(void *u) { int *r = p; if (r) *r = 18; return u; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, t1, 0); pthread_create(t + 1, 0, t2, 0);
#ifdef JOIN
 pthread_join(t[0], 0); pthread_join(t[1], 0);
#endif
 return 0; }

//: explore
//= errors use-after-free@uaf.c:6
//~ said main ends the program while T1 has not come to its end
