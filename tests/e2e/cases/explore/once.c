/* Which of the two functions a pthread_once runs depends on the order: b may be first. */
#include <assert.h>
#include <pthread.h>
pthread_once_t o = PTHREAD_ONCE_INIT;
int x;
void one(void) { x = 1; }
void two(void) { x = 2; }
void *a(void *p) { pthread_once(&o, one); return p; }
void *b(void *p) { pthread_once(&o, two); return p; }
int main(void) { pthread_t t[2];
 pthread_create(t, 0, a, 0); pthread_create(t + 1, 0, b, 0);
 for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
 assert(x == 1); return 0; }

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@once.c:13
