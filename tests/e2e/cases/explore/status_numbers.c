/* The program fails with one of two wrong sums, which is one error: of a failed exit status's last
 * line the numbers are results. Another text is another error. */
#include <pthread.h>
#include <stdio.h>
static int sum;
static void *add(void *n) { int was = sum; sum = was + (int)(long)n; return 0; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(t + i, 0, add, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	if (sum != 3)
		printf(argc > 1 && sum == 1 ? "low\n" : "sum %d\n", sum);
	return sum != 3;
}

//: explore
//= complete yes
//= errors exit-status=1
//= $d->{errors}[0]{count} 2
//= statuses 0 0 1 1
//: explore --format json @ low
//= errors exit-status=1 exit-status=1
