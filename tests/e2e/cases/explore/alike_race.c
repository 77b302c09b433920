/* A data race of threads that are alike, and one with main. */
#include <pthread.h>
static int x;
static void *add(void *u)
{
	x++;
	return u;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	x = 7;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore {--symmetry,}
//= complete yes
//= racy alike_race.c:14+alike_race.c:6 alike_race.c:6+alike_race.c:6
