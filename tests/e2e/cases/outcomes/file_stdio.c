#include "sets.h"
static FILE *f;
TH(h)
{
	int ch = fgetc(f);
	if (ID == 1)
		r = ch;
	return p;
}
int main(void)
{
	char t[] = "\1\2";
	f = fmemopen(t, 2, "r");
	go(h);
	go(h);
	join();
	return r;
}

//: explore
//= complete no
//~ said a stream that several threads use
//~ outcomes ^(1|2)( (1|2))*$
