/* A copy by the C library, in code that is not instrumented, with an addition behind the call: that is no store of a
 * bit-field, and the exploration is not said to lack anything for it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct stream {
	char to[16];
	long n;
} s;
__attribute__((no_sanitize("thread"), noinline)) static void put(struct stream *p, const char *from, size_t n)
{
	memcpy(p->to, from, n);
	p->n += n;
}
static void *writer(void *p)
{
	pthread_mutex_lock(&m);
	put(&s, p, 4);
	pthread_mutex_unlock(&m);
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, writer, "abcd");
	pthread_create(&b, NULL, writer, "efgh");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", s.n);
	return 0;
}
//: explore --format json
//= exit 0
//- out bit-field
