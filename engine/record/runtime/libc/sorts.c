/*
 * sorts.c - qsort and its kin.  The comparison is the program's own code: other threads may run
 * in it, and it reads the elements.  So in controlled mode nothing is moved before the last
 * comparison, where the C library's function moves elements all the time: pointers are sorted,
 * and what the program sees of its memory are a read of all elements and then a write of all.
 *
 * A merge sort with the comparisons, in the order, of that of the C library (2.36): elements
 * that are equal stay in their order.
 */
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

INTERPOSED(qsort, qsort_r);

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);

typedef int comparison_with(const void *, const void *, void *);
typedef int comparison(const void *, const void *);

struct sorting {
	comparison_with *compare;
	void *with;
	char **merged; /* room for as many elements */
};

static void sort(const struct sorting *s, char **elements, size_t n)
{
	if (n < 2)
		return;
	size_t left = n / 2, right = n - left, count = 0;
	char **a = elements, **b = elements + left;
	sort(s, a, left);
	sort(s, b, right);
	while (left > 0 && right > 0) {
		bool first = s->compare(*a, *b, s->with) <= 0;
		s->merged[count++] = first ? *a++ : *b++;
		left -= first;
		right -= !first;
	}
	for (; left > 0; left--)
		s->merged[count++] = *a++;
	for (size_t i = 0; i < count; i++) /* the rest is where it belongs */
		elements[i] = s->merged[i];
}

/* Puts the elements into their order; `room` for all of them. */
static void put(char *p, char *const *elements, size_t n, size_t size, char *room)
{
	for (size_t i = 0; i < n; i++)
		memcpy(room + i * size, elements[i], size);
	memcpy(p, room, n * size);
}

/* False: the C library's function is to do it. */
static bool sorted(void *p, size_t n, size_t size, comparison_with *compare, void *with,
                   uintptr_t pc)
{
	size_t each = size + 2 * sizeof(char *), bytes;
	struct thread *t = recording();
	if (!rt.controlled || !t || n < 2 || size == 0 ||
	    __builtin_mul_overflow(n, each, &bytes))
		return false;
	char **elements = __libc_malloc(bytes);
	if (!elements)
		return false;
	for (size_t i = 0; i < n; i++)
		elements[i] = (char *)p + i * size;
	READS_AT(p, n * size, pc);
	uintptr_t from = t->calls.from;
	t->calls.from = pc;
	sort(&(struct sorting){ compare, with, elements + n }, elements, n);
	t->calls.from = from;
	WRITES_AT(p, n * size, pc);
	put(p, elements, n, size, (char *)(elements + 2 * n));
	__libc_free(elements);
	return true;
}

/* `with`: the comparison itself. */
static int compare_alone(const void *a, const void *b, void *with)
{
	return ((comparison *)with)(a, b);
}

void interposed_qsort(void *p, size_t n, size_t size, comparison *compare)
{
	if (sorted(p, n, size, compare_alone, (void *)compare, CALLER()))
		return;
	READS(p, n * size);
	WRITES(p, n * size);
	REAL(qsort)(p, n, size, compare);
}

void interposed_qsort_r(void *p, size_t n, size_t size, comparison_with *compare, void *with)
{
	if (sorted(p, n, size, compare, with, CALLER()))
		return;
	READS(p, n * size);
	WRITES(p, n * size);
	REAL(qsort_r)(p, n, size, compare, with);
}
