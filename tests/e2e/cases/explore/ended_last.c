/* Main ends its thread alone: which of the others is the last one to end, with which the program does, makes no class. */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p)
{
	x++;
	return p;
}
int main(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		pthread_create(&t, 0, add, 0);
	}
	pthread_exit(0);
}

//: explore --seed {0,1}
//= exit 0
//= complete yes
//= states 6
