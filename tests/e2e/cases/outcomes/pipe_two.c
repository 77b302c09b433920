#include "sets.h"
static int fd[2];
TH(h)
{
	char ch = 'a' + ID - 1;
	if (write(fd[1], &ch, 1) != 1)
		abort();
	return p;
}
int main(void)
{
	if (pipe(fd))
		abort();
	go(h);
	go(h);
	char ch;
	if (read(fd[0], &ch, 1) != 1)
		abort();
	join();
	return ch;
}

//: explore
//= complete yes
//= outcomes 97 98
