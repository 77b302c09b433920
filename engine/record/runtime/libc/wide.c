/*
 * wide.c - <wchar.h>: the memory and string functions of wide characters, and the conversions,
 * whose accesses are the caller's (strings.c).
 */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ranges.h"

INTERPOSED(wmemcpy, wmemmove, wmempcpy, wmemset, wmemcmp, wcslen, wcsnlen, wcscpy, wcsncpy,
           wcscat, wcsncat, wcscmp, wcsncmp, wcschr, wcsrchr, wcsstr, wcsdup, mbstowcs,
           wcstombs);

enum { WIDE = sizeof(wchar_t) };

static size_t length(const wchar_t *s)
{
	return REAL(wcslen)(s);
}
static size_t length_within(const wchar_t *s, size_t most) /* with the terminator, if there
                                                            * is one */
{
	size_t n = REAL(wcsnlen)(s, most);
	return n < most ? n + 1 : n;
}

wchar_t *interposed_wmemcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n)
{
	READS(from, n * WIDE);
	WRITES(to, n * WIDE);
	return REAL(wmemcpy)(to, from, n);
}
wchar_t *interposed_wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
	READS(from, n * WIDE);
	WRITES(to, n * WIDE);
	return REAL(wmemmove)(to, from, n);
}
wchar_t *interposed_wmempcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n)
{
	READS(from, n * WIDE);
	WRITES(to, n * WIDE);
	return REAL(wmempcpy)(to, from, n);
}
wchar_t *interposed_wmemset(wchar_t *p, wchar_t c, size_t n)
{
	WRITES(p, n * WIDE);
	return REAL(wmemset)(p, c, n);
}
int interposed_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n)
{
	READS(a, n * WIDE);
	READS(b, n * WIDE);
	return REAL(wmemcmp)(a, b, n);
}
size_t interposed_wcslen(const wchar_t *s)
{
	range_turn(CALLER());
	size_t n = length(s);
	READS(s, (n + 1) * WIDE);
	return n;
}
size_t interposed_wcsnlen(const wchar_t *s, size_t most)
{
	range_turn(CALLER());
	READS(s, length_within(s, most) * WIDE);
	return REAL(wcsnlen)(s, most);
}
wchar_t *interposed_wcscpy(wchar_t *restrict to, const wchar_t *restrict from)
{
	range_turn(CALLER());
	size_t n = (length(from) + 1) * WIDE;
	READS(from, n);
	WRITES(to, n);
	return REAL(wcscpy)(to, from);
}
wchar_t *interposed_wcsncpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n)
{
	range_turn(CALLER());
	READS(from, length_within(from, n) * WIDE);
	WRITES(to, n * WIDE);
	return REAL(wcsncpy)(to, from, n);
}
wchar_t *interposed_wcscat(wchar_t *restrict to, const wchar_t *restrict from)
{
	range_turn(CALLER());
	size_t at = length(to), n = (length(from) + 1) * WIDE;
	READS(to, (at + 1) * WIDE);
	READS(from, n);
	WRITES(to + at, n);
	return REAL(wcscat)(to, from);
}
wchar_t *interposed_wcsncat(wchar_t *restrict to, const wchar_t *restrict from, size_t most)
{
	range_turn(CALLER());
	size_t at = length(to);
	READS(to, (at + 1) * WIDE);
	READS(from, length_within(from, most) * WIDE);
	WRITES(to + at, (REAL(wcsnlen)(from, most) + 1) * WIDE);
	return REAL(wcsncat)(to, from, most);
}
int interposed_wcscmp(const wchar_t *a, const wchar_t *b)
{
	range_turn(CALLER());
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	READS(a, (i + 1) * WIDE);
	READS(b, (i + 1) * WIDE);
	return REAL(wcscmp)(a, b);
}
int interposed_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n)
{
	range_turn(CALLER());
	size_t i = 0;
	while (i < n && a[i] && a[i] == b[i])
		i++;
	READS(a, (i < n ? i + 1 : n) * WIDE);
	READS(b, (i < n ? i + 1 : n) * WIDE);
	return REAL(wcsncmp)(a, b, n);
}
wchar_t *interposed_wcschr(const wchar_t *s, wchar_t c)
{
	range_turn(CALLER());
	const wchar_t *found = REAL(wcschr)(s, c);
	READS(s, (found ? (size_t)(found - s) + 1 : length(s) + 1) * WIDE);
	return (wchar_t *)found;
}
wchar_t *interposed_wcsrchr(const wchar_t *s, wchar_t c)
{
	range_turn(CALLER());
	READS(s, (length(s) + 1) * WIDE);
	return REAL(wcsrchr)(s, c);
}
wchar_t *interposed_wcsstr(const wchar_t *s, const wchar_t *what)
{
	range_turn(CALLER());
	READS(s, (length(s) + 1) * WIDE);
	READS(what, (length(what) + 1) * WIDE);
	return REAL(wcsstr)(s, what);
}
wchar_t *interposed_wcsdup(const wchar_t *s)
{
	range_turn(CALLER());
	size_t n = (length(s) + 1) * WIDE;
	READS(s, n);
	wchar_t *copy = range_block(n, CALLER());
	if (!copy)
		return NULL;
	WRITES(copy, n);
	return REAL(wmemcpy)(copy, s, n / WIDE);
}

/* ---- conversions ---- */

size_t interposed_mbstowcs(wchar_t *restrict to, const char *restrict from, size_t n)
{
	range_turn(CALLER());
	READS(from, REAL(strlen)(from) + 1);
	range_turn(CALLER());
	size_t made = REAL(mbstowcs)(to, from, n);
	if (to && made != (size_t)-1)
		WRITES(to, (made < n ? made + 1 : n) * WIDE);
	return made;
}
size_t interposed_wcstombs(char *restrict to, const wchar_t *restrict from, size_t n)
{
	range_turn(CALLER());
	READS(from, (length(from) + 1) * WIDE);
	range_turn(CALLER());
	size_t made = REAL(wcstombs)(to, from, n);
	if (to && made != (size_t)-1)
		WRITES(to, made < n ? made + 1 : n);
	return made;
}
