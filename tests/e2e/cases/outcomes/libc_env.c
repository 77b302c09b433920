#include "sets.h"
TH(h)
{
	setenv("HEDDLE_X", "1", 1);
	return p;
}
TH(t)
{
	r = getenv("HEDDLE_X") != 0;
	return p;
}
int main(void)
{
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said setenv
//~ outcomes ^(0|1)( (0|1))*$
