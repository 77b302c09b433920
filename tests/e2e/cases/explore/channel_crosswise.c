/* Two threads answer each other over two pipes; wrong: in one order each waits for the other first. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static int there[2], back[2], wrong;
static atomic_int first;
static void *one(void *none)
{
	char c;
	if (wrong && first)
		read(back[0], &c, 1);
	write(there[1], "1", 1);
	read(back[0], &c, 1);
	return none;
}
static void *two(void *none)
{
	char c;
	first = 1;
	read(there[0], &c, 1);
	write(back[1], "2", 1);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	wrong = argc > 1;
	pipe(there);
	pipe(back);
	pthread_create(&t[0], NULL, one, NULL);
	pthread_create(&t[1], NULL, two, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//: explore @ wrong
//= exit 1
//= errors blocked@channel_crosswise.c:11+channel_crosswise.c:20
//= complete yes
