#include <assert.h>
#include <glib.h>
#include <pthread.h>
GAsyncQueue *q;
static void *prod(void *p) { g_async_queue_push(q, p); return p; }
static void *cons(void *p) { void *v = g_async_queue_pop(q); return v; }
int main(void) { pthread_t t[4]; void *r[4]; q = g_async_queue_new();
 pthread_create(t, 0, prod, (void *)1L); pthread_create(t + 1, 0, prod, (void *)2L); pthread_create(t + 2, 0, cons, 0); pthread_create(t + 3, 0, cons, 0);
 for (int i = 0; i < 4; i++) pthread_join(t[i], &r[i]); assert((long)r[2] + (long)r[3] == 3);
#ifdef BUG
 assert((long)r[2] == 1);
#endif
 return 0; }

//: build $(pkg-config --cflags --libs glib-2.0) -DBUG
//: explore
//= exit 1
//= errors signal@glib_queue.c:11
