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
	char ch;
	r = read(fd[0], &ch, 1) == 1;
	return p;
}
int main(void)
{
	if (pipe2(fd, O_NONBLOCK))
		abort();
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
