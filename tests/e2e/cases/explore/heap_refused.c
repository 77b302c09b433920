/* Requests for memory that only a mistake makes, on every schedule; an overflow that is left to calloc is none. */
#include <stdlib.h>

static void *volatile p; /* keeps the compiler from removing the pairs */

int main(void)
{
	volatile size_t size = (size_t)-2, three = 3;
	p = malloc(size);
	free(p);
	p = aligned_alloc(three, 9);
	free(p);
	p = calloc(size, size);
	free(p);
	return 0;
}

//: explore
//= exit 1
//= statuses 0
//~ errors ^lock-misuse@heap_refused.c:11 lock-misuse@heap_refused.c:9$
//= complete yes
