/* numbers.c - reads numbers from standard input and races on their sum. */
#include <pthread.h>
#include <stdio.h>

static int sum;

static void *add(void *p)
{
	sum += *(int *)p;
	return NULL;
}

int main(int argc, char **argv)
{
	int one = 1, n;
	pthread_t t;
	char line[100];
	pthread_create(&t, NULL, add, &one);
	while (fgets(line, sizeof(line), stdin) && sscanf(line, "%d", &n) == 1)
		sum += n;
	pthread_join(t, NULL);
	printf("%d\n", sum);
	return argc > 1 ? sum : 0;
}
