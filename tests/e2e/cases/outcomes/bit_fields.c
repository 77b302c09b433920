/* A store of a bit-field takes the bits beside it from memory: gcc tells no hook of that read, clang does.
 * t's look at a comes out as main's store or as what was there, but the store of b stands between. */
#include "sets.h"
static struct {
	unsigned a : 4, b : 4;
	unsigned : 0;
	unsigned alone : 3;
} bits;
TH(t)
{
	L(m);
	bits.b = 1;
	r = bits.a;
	U(m);
	return p;
}
int main(void)
{
	go(t);
	L(m);
	bits.a = 2;
	bits.alone = 1;
	U(m);
	join();
	return r + bits.alone;
}

//: explore
//= complete no
//~ said bit_fields.c:\d+: the store of a bit-field
//: sh command -v clang >/dev/null && CC=clang "$HEDDLE" cc -g -O1 "$here/bit_fields.c" -o bit_fields -pthread
//: explore
//= complete yes
//= outcomes 1 3
