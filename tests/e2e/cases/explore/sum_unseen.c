/* Two additions each by three threads, whose result nobody uses, and one look at the sum: ten sums, whoever has come how far.
 * With the orders of the additions, 90, and the place of the look among them they are 630. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int sum;
static void *add(void *p)
{
	for (int i = 0; i < 2; i++)
		atomic_fetch_add(&sum, i ? -5 : 7);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	printf("%d\n", atomic_load(&sum));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return atomic_load(&sum) != 6;
}

//: explore
//= exit 0
//= complete yes
//= states 10
//: explore --final sum
//= complete yes
//= states 630
