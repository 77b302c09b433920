/* Prints where things are: on main's stack, in a thread's heap, and in its code. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *print(void *mine)
{
	printf("%p %p %p\n", mine, malloc(1), (void *)print);
	return NULL;
}

int main(void)
{
	int mine;
	pthread_t thread;
	pthread_create(&thread, NULL, print, &mine);
	pthread_join(thread, NULL);
	return 0;
}
