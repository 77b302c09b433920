#include "sets.h"
TH(h)
{
	char n[64], ch[4] = "";
	snprintf(n, sizeof n, "apart%d", ID);
	FILE *f = fopen(n, "w");
	fputs("hi", f);
	fclose(f);
	f = fopen(n, "r");
	if (!fgets(ch, 4, f))
		abort();
	fclose(f);
	int d = open("/dev/null", O_WRONLY);
	if (write(d, "x", 1) != 1)
		abort();
	close(d);
	return p;
}
int main(void)
{
	go(h);
	go(h);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0
