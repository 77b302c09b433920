/*
 * texts.c - functions of the C library that look through a text of the caller's, or convert
 * one: patterns, versions, wide characters.
 */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "touches.h"

#define WIDE(s)         READS_AT(s, (REAL(wcslen)(s) + 1) * sizeof(wchar_t), pc)
#define WIDE_PART(s, n) READS_AT(s, wide_within(s, n) * sizeof(wchar_t), pc)
/* The end that a conversion stores, where the caller asks for it. */
#define END(p)          OUT_IF(p, p, sizeof(*(p)))

/* The characters up to `most`, with the terminator if it is among them. */
static size_t wide_within(const wchar_t *s, size_t most)
{
	size_t n = REAL(wcsnlen)(s, most);
	return n < most ? n + 1 : n;
}

/* ---- patterns ---- */
TOUCHES(int, fnmatch, (const char *pattern, const char *s, int flags), (pattern, s, flags),
        TEXT(pattern);
        TEXT(s), NOTHING)
TOUCHES(int, regcomp, (regex_t *restrict p, const char *restrict s, int flags), (p, s, flags),
        TEXT(s), WRITES_AT(p, sizeof(*p), pc))
TOUCHES(int, regexec,
        (const regex_t *restrict p, const char *restrict s, size_t n,
         regmatch_t found[restrict], int flags),
        (p, s, n, found, flags), IN(p);
        TEXT(s),
        OUT_IF(r == 0 && n > 0 && !(p->re_nsub == 0 && n == 0), found, n * sizeof(*found)))
TOUCHES(int, strverscmp, (const char *a, const char *b), (a, b), TEXT(a); TEXT(b), NOTHING)
TOUCHES(long, a64l, (const char *s), (s), TEXT(s), NOTHING)

/* ---- wide texts ---- */
#define LOOKS(type, name) \
	TOUCHES(type, name, (const wchar_t *a, const wchar_t *b), (a, b), WIDE(a); \
	        WIDE(b), NOTHING)
LOOKS(int, wcscoll)
LOOKS(int, wcscasecmp)
LOOKS(size_t, wcsspn)
LOOKS(size_t, wcscspn)
TOUCHES(int, wcswidth, (const wchar_t *s, size_t n), (s, n), WIDE_PART(s, n), NOTHING)
TOUCHES(size_t, wcsxfrm, (wchar_t *restrict to, const wchar_t *restrict from, size_t n),
        (to, from, n), WIDE(from), OUT_IF(n > 0, to, (r < n ? r + 1 : n) * sizeof(*to)))
TOUCHES(wchar_t *, wcpcpy, (wchar_t *restrict to, const wchar_t *restrict from), (to, from),
        WIDE(from), WRITES_AT(to, (size_t)(r - to + 1) * sizeof(*to), pc))
TOUCHES(wchar_t *, wcpncpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t n),
        (to, from, n), WIDE_PART(from, n), WRITES_AT(to, n * sizeof(*to), pc))
#define NUMBER(type, name) \
	TOUCHES(type, name, (const wchar_t *restrict s, wchar_t **restrict end, int base), \
	        (s, end, base), WIDE(s), END(end))
NUMBER(long, wcstol)
NUMBER(long long, wcstoll)
NUMBER(unsigned long, wcstoul)
NUMBER(unsigned long long, wcstoull)
#define REAL_NUMBER(type, name) \
	TOUCHES(type, name, (const wchar_t *restrict s, wchar_t **restrict end), (s, end), \
	        WIDE(s), END(end))
REAL_NUMBER(double, wcstod)
REAL_NUMBER(float, wcstof)

/* ---- one character of many bytes ---- */
static size_t bytes_of(size_t result, size_t most)
{
	return result == 0 ? 1 : result <= most ? result : most;
}
TOUCHES(size_t, mbrtowc,
        (wchar_t *restrict to, const char *restrict s, size_t n, mbstate_t *restrict state),
        (to, s, n, state), NOTHING, if (s) READS_AT(s, bytes_of(r, n), pc);
        OUT_IF(s && to && r <= n, to, sizeof(*to)); OUT_IF(state, state, sizeof(*state)))
TOUCHES(int, mbtowc, (wchar_t *restrict to, const char *restrict s, size_t n), (to, s, n),
        NOTHING, if (s) READS_AT(s, bytes_of((size_t)r, n), pc);
        OUT_IF(s && to && r >= 0, to, sizeof(*to)))
TOUCHES(int, mblen, (const char *s, size_t n), (s, n),
        if (s) READS_AT(s, REAL(strnlen)(s, n) < n ? REAL(strnlen)(s, n) + 1 : n, pc), NOTHING)
TOUCHES(size_t, wcrtomb, (char *restrict to, wchar_t c, mbstate_t *restrict state),
        (to, c, state), NOTHING, OUT_IF(to &&r != (size_t)-1, to, r);
        OUT_IF(state, state, sizeof(*state)))
TOUCHES(int, wctomb, (char *to, wchar_t c), (to, c), NOTHING, OUT_IF(to &&r > 0, to, (size_t)r))
