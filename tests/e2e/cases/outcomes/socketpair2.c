#include "sets.h"
static int fd[2];
TH(h)
{
	char ch = 'a' + ID - 1;
	if (send(fd[1], &ch, 1, 0) != 1)
		abort();
	return p;
}
int main(void)
{
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		abort();
	go(h);
	go(h);
	char ch;
	if (recv(fd[0], &ch, 1, 0) != 1)
		abort();
	join();
	return ch;
}

//: explore
//= complete yes
//= outcomes 97 98
