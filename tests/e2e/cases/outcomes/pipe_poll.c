#include "sets.h"
static int fd[2];
TH(h)
{
	if (write(fd[1], "a", 1) != 1)
		abort();
	return p;
}
TH(t)
{
	struct pollfd q = { fd[0], POLLIN, 0 };
	r = poll(&q, 1, 0) == 1;
	return p;
}
int main(void)
{
	if (pipe(fd))
		abort();
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
