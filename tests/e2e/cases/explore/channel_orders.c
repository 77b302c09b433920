/* Two threads write four bytes each, one byte at a time: as many classes as there are orders of the bytes, or one. */
#include <pthread.h>
#include <unistd.h>
static int p[2], same;
static void *put(void *first)
{
	for (int i = 0; i < 4; i++)
		write(p[1], (char *)first + (same ? 0 : i), 1);
	return first;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	char c;
	same = argc > 1;
	pipe(p);
	pthread_create(&t[0], NULL, put, "abcd");
	pthread_create(&t[1], NULL, put, same ? "a" : "efgh");
	for (int i = 0; i < 8; i++)
		read(p[0], &c, 1);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}

//: explore
//= executions 70
//= states 70
//= complete yes
//: explore @ same
//= executions 1
//= complete yes
//: explore --memory rc11
//= complete no
