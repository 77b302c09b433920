/* A pop of GLib's queue waits, so it is no single step; what it reads and writes is in no trace, as GLib is not
 * instrumented: no report is complete. */
#include <glib.h>
#include <pthread.h>
static GAsyncQueue *q;
static void *push(void *p)
{
	g_async_queue_push(q, p);
	return 0;
}
int main(void)
{
	static int one, two;
	pthread_t t[2];
	q = g_async_queue_new();
	pthread_create(&t[0], 0, push, &one);
	pthread_create(&t[1], 0, push, &two);
	int *first = g_async_queue_pop(q);
	g_async_queue_pop(q);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return first == &two;
}

//: build $(pkg-config --cflags --libs glib-2.0)
//: explore --spec $here/../../../../specs/bind/glib.spec
//= complete no
//~ said gasyncqueue1 is not atomic, and what its invocations do is not in the trace
