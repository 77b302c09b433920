#include "sets.h"
static char t[] = "a b";
TH(h)
{
	char *q = strtok(0, " ");
	if (ID == 1)
		r = q ? *q : 0;
	return p;
}
int main(void)
{
	char w0[] = "z a b";
	strtok(w0, " ");
	(void)t;
	go(h);
	go(h);
	join();
	return r;
}

//: explore
//= complete no
//~ said strtok
//~ outcomes ^(97|98)( (97|98))*$
