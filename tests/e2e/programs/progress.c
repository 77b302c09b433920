/*
 * progress.c - prints lines that are other ones in each run, as progress does, and one of two
 * results; with an argument a result that varies as well, or a lock that is misused.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int first, misuse;

static void *take(void *number)
{
	int none = 0; /* one step: the misuse is the first thread's, in each schedule */
	__atomic_compare_exchange_n(&first, &none, (int)(long)number, 0, __ATOMIC_SEQ_CST,
	                            __ATOMIC_SEQ_CST);
	if (misuse && first == 2)
		pthread_mutex_unlock(&m);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	int run = getpid();
	misuse = argc > 1 && strcmp(argv[1], "misuse") == 0;
	for (int i = 0; i < 1 + run % 7; i++)
		printf("%d: step %d of process\n", run, i);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, take, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (argc > 1 && strcmp(argv[1], "varies") == 0)
		printf("sum %d\n", run);
	else
		printf("first was %d\n", first);
	return 0;
}
