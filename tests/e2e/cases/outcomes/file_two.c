#include "sets.h"
static char n[64];
TH(h)
{
	int f = open(n, O_WRONLY);
	if (write(f, "a", 1) != 1)
		abort();
	close(f);
	return p;
}
TH(t)
{
	char ch;
	int f = open(n, O_RDONLY);
	r = read(f, &ch, 1) == 1;
	close(f);
	return p;
}
int main(void)
{
	snprintf(n, sizeof n, "two");
	close(open(n, O_CREAT | O_WRONLY | O_TRUNC, 0600));
	go(h);
	go(t);
	join();
	unlink(n);
	return r;
}

//: explore
//= complete no
//~ said a file that another thread writes
//~ outcomes ^(0|1)( (0|1))*$
