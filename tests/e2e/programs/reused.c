/* The C library allocates, for the program, where a block was that the program freed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *worker(void *block)
{
	free(block);
	return NULL;
}
int main(void)
{
	pthread_t t;
	char *line = NULL, *block;
	size_t room = 0;
	FILE *f = fopen("/proc/self/comm", "r");
	getc(f);
	block = malloc(120);
	block[0] = 'a';
	pthread_create(&t, NULL, worker, block);
	pthread_join(t, NULL);
	/* its memory is what getline gets, from within the C library */
	if (getline(&line, &room, f) < 0)
		return 1;
	puts(line == block ? "reused" : "elsewhere");
	line[0] = 'x';
	free(line);
	fclose(f);
	return 0;
}
