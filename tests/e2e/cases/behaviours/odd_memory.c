/*
 * Memory as programs have it, and C's types do not: packed structures, and NULL with a length of 0.
 * The runtime looks at it without undefined behaviour of its own (make check-asan).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

static void *volatile none;
static volatile size_t zero;
static struct __attribute__((packed)) {
	char c;
	uint16_t s;
	uint32_t w;
	uint64_t d;
	double f;
} packed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
	return 0;
}

static void *count(void *unused)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&m);
		packed.s++, packed.w++, packed.d++, packed.f++;
		pthread_mutex_unlock(&m);
	}
	return unused;
}

static void call_with_nothing(void)
{
	memcpy(none, none, zero);
	memmove(none, none, zero);
	memset(none, 0, zero);
	mempcpy(none, none, zero);
	bcopy(none, none, zero);
	explicit_bzero(none, zero);
	wmemcpy(none, none, zero);
	wmemset(none, 0, zero);
	qsort(none, zero, 4, compare);
	printf("%d %d %d\n", memcmp(none, none, zero), strncmp(none, none, zero),
	       wmemcmp(none, none, zero));
	printf("%d %d\n", memchr(none, 0, zero) != NULL,
	       bsearch("x", none, zero, 4, compare) != NULL);
	printf("%zu %zu\n", strnlen(none, zero), fwrite(none, 1, zero, stdout));
	printf("%zd %zd\n", writev(1, none, zero), write(1, none, zero));
	free(none);
}

int main(void)
{
	pthread_t a, b;

	call_with_nothing();
	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d %d %d %g\n", packed.s, (int)packed.w, (int)packed.d, packed.f);
	return 0;
}
//: record -q --memory {sc,tso,rc11} --seed {1,2} -o t.hdl
//= exit 0
//~ out ^0 0 0\n0 0\n0 0\n0 0\n100 100 100 100$
//: record -q --mode free -o t.hdl
//= exit 0
//~ out ^0 0 0\n0 0\n0 0\n0 0\n100 100 100 100$
