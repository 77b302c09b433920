/* Two outputs, and nobody says which is right. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int n;
static void *run(void *p)
{
	atomic_store(&n, atomic_load(&n) + 1);
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(t + i, 0, run, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	printf("%d\n\033[31mn is %d\n", n, n);
	return 0;
}
//: explore
//= exit 0
//~ out ^note: runs that end well print 2 different outputs .*last lines: '\\x1B\[31mn is [12]' \(run 0\), '\\x1B\[31mn is [12]' \(run \d\)$
//: explore --format json
//= exit 0
//= $d->{outputs}{count} 2
//= $d->{outputs}{first}[0]{run} 0
