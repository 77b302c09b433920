/*
 * deflate-threads.c - BLOCKS: four threads write lines of numbers into blocks of 16 kB, and
 * have each compressed by the system's zlib, which is not instrumented, line by line: much work
 * in code that is recorded, and many calls into code that is not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { THREADS = 4, BLOCK = 16384, LINE = 14, MOST = 80 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left, lines;
static unsigned long total;

static int take(void)
{
	pthread_mutex_lock(&lock);
	int mine = left > 0 ? left-- : 0;
	pthread_mutex_unlock(&lock);
	return mine;
}

/* "NUMBER NUMBER\n", by hand: printf is no code of the program's. */
static size_t line(char *to, unsigned a, unsigned b)
{
	size_t n = 0;
	for (unsigned k = 100000; k > 0; k /= 10)
		to[n++] = '0' + a / k % 10;
	to[n++] = ' ';
	for (unsigned k = 100000; k > 0; k /= 10)
		to[n++] = '0' + b / k % 10;
	to[n++] = '\n';
	return n;
}

static unsigned long pack(unsigned seed)
{
	static const size_t room = 2 * BLOCK;
	unsigned char *out = malloc(room);
	char text[LINE * MOST];
	z_stream z;
	memset(&z, 0, sizeof z);
	deflateInit(&z, 1);
	z.next_out = out;
	z.avail_out = room;
	for (size_t n = 0; n < BLOCK;) {
		size_t length = 0;
		for (int i = 0; i < lines; i++)
			length += line(text + length, seed, (unsigned)(n + length) * seed);
		z.next_in = (unsigned char *)text;
		z.avail_in = length;
		deflate(&z, Z_NO_FLUSH);
		n += length;
	}
	deflate(&z, Z_FINISH);
	unsigned long sum = 0;
	for (size_t i = 0; i < room - z.avail_out; i++)
		sum = sum * 31 + out[i];
	deflateEnd(&z);
	free(out);
	return sum;
}

static void *run(void *p)
{
	for (int seed; (seed = take()) > 0;) {
		unsigned long sum = pack(seed);
		pthread_mutex_lock(&lock);
		total += sum;
		pthread_mutex_unlock(&lock);
	}
	return p;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	left = argc > 1 ? atoi(argv[1]) : 100;
	lines = argc > 2 ? atoi(argv[2]) : 1;
	lines = lines < 1 ? 1 : lines > MOST ? MOST : lines;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", total);
	return 0;
}
