#include "sets.h"
static struct {
	int p, q;
} from, to;
TH(h)
{
	from.p = 1;
	return p;
}
TH(k)
{
	from.q = 2;
	return p;
}
TH(t)
{
	memcpy(&to, &from, sizeof to);
	r = to.p + to.q;
	return p;
}
int main(void)
{
	go(h);
	go(k);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2 3
