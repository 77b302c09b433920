/* Copies of structures of several sizes, from block to block and in a local one, under a lock: each is one access of
 * what is read and then one of what is written, with the values that are copied. */
#include "sets.h"
#define SIZE(n) \
	struct size##n { \
		unsigned char bytes[n]; \
	}; \
	static struct size##n shared##n, *own##n; \
	__attribute__((noinline)) static void put##n(struct size##n *to, const struct size##n *from) \
	{ \
		*to = *from; \
	} \
	__attribute__((noinline)) static int get##n(void) \
	{ \
		struct size##n got = shared##n; \
		__asm__ volatile("" : "+m"(got)); \
		return got.bytes[n - 1]; \
	}
SIZE(1) SIZE(2) SIZE(3) SIZE(4) SIZE(8) SIZE(16) SIZE(40)
#define ALL(DO) DO(1) DO(2) DO(3) DO(4) DO(8) DO(16) DO(40)
TH(writer)
{
	L(m);
#define PUT(n) put##n(&shared##n, own##n);
	ALL(PUT)
	U(m);
	return p;
}
TH(reader)
{
	int sum = 0;
	L(m);
#define GET(n) sum += get##n();
	ALL(GET)
	U(m);
	r = sum; /* 7: all of them */
	return p;
}
int main(void)
{
#define MAKE(n) own##n = calloc(1, n), own##n->bytes[n - 1] = 1;
	ALL(MAKE)
	go(reader);
	go(writer);
	join();
	return r;
}

//: build {-O0,-O1,-O2,-Os -fno-omit-frame-pointer}
//: explore
//= complete yes
//= outcomes 0 7
//= executions 2
