#include "sets.h"
TH(h)
{
	x = 1;
	return p;
}
int main(void)
{
	go(h);
	int st;
	pid_t q = fork();
	if (q == 0)
		_exit(x);
	waitpid(q, &st, 0);
	join();
	return WEXITSTATUS(st);
}

//: explore
//= complete no
//~ said child processes
//~ outcomes ^(0|1)( (0|1))*$
