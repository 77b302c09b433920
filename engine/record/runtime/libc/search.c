/*
 * search.c - the string functions that compare, search, cut or read a number: the
 * rest of what libtsan intercepts of <string.h>, and <stdlib.h>'s numbers.  strings.c has those
 * that copy, and the commonest.
 *
 * The bytes that a function reads follow from its result: up to the place found, or the end.
 */
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

#include "ranges.h"

INTERPOSED(memrchr, rawmemchr, memmem, memccpy, bcopy, explicit_bzero, swab, stpncpy,
           strcasecmp, strncasecmp, strcoll, strxfrm, strspn, strcspn, strpbrk, strcasestr,
           strtok, strtok_r, strsep);

enum { MAX_CONSTANT = 256 };
static struct {
	uintptr_t module, low, high;
} constants[MAX_CONSTANT];
static unsigned constant_count;

void range_module(const struct dl_phdr_info *info)
{
	uintptr_t module = (uintptr_t)info->dlpi_phdr;
	for (unsigned i = 0; i < constant_count; i++)
		if (constants[i].module == module)
			return; /* known */
	for (int i = 0; i < info->dlpi_phnum && constant_count < MAX_CONSTANT; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || ph->p_flags & PF_W)
			continue;
		constants[constant_count].module = module;
		constants[constant_count].low = info->dlpi_addr + ph->p_vaddr;
		constants[constant_count].high = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		constant_count++;
	}
}

static int again(struct dl_phdr_info *info, size_t size, void *context)
{
	range_module(info);
	return 0;
}
void range_unloaded(void)
{
	constant_count = 0;
	dl_iterate_phdr(again, NULL);
}

bool range_constant(const void *p)
{
	for (unsigned i = 0; i < constant_count; i++)
		if ((uintptr_t)p >= constants[i].low && (uintptr_t)p < constants[i].high)
			return true;
	return false;
}

static size_t length(const char *s)
{
	return REAL(strlen)(s);
}

/* ---- bytes ---- */

void *interposed_memrchr(const void *p, int c, size_t n)
{
	range_turn(CALLER());
	const char *found = REAL(memrchr)(p, c, n), *s = p;
	READS(found ? found : s, found ? (size_t)(s + n - found) : n);
	return (void *)found;
}
void *interposed_rawmemchr(const void *p, int c)
{
	range_turn(CALLER());
	const char *found = REAL(rawmemchr)(p, c);
	READS(p, (size_t)(found - (const char *)p) + 1);
	return (void *)found;
}
void *interposed_memmem(const void *p, size_t n, const void *what, size_t k)
{
	READS(p, n);
	READS(what, k);
	return REAL(memmem)(p, n, what, k);
}
void *interposed_memccpy(void *restrict to, const void *restrict from, int c, size_t n)
{
	range_turn(CALLER());
	const char *s = from;
	size_t i = 0;
	while (i < n && s[i] != (char)c)
		i++;
	if (i < n)
		i++;
	READS(from, i);
	WRITES(to, i);
	return REAL(memccpy)(to, from, c, n);
}
void interposed_bcopy(const void *from, void *to, size_t n)
{
	READS(from, n);
	WRITES(to, n);
	REAL(memmove)(to, from, n);
}
void interposed_explicit_bzero(void *p, size_t n)
{
	WRITES(p, n);
	REAL(explicit_bzero)(p, n);
}
void interposed_swab(const void *restrict from, void *restrict to, ssize_t n)
{
	READS(from, n > 0 ? n & ~1l : 0);
	WRITES(to, n > 0 ? n & ~1l : 0);
	REAL(swab)(from, to, n);
}
char *interposed_stpncpy(char *restrict to, const char *restrict from, size_t n)
{
	range_turn(CALLER());
	size_t k = REAL(strnlen)(from, n);
	READS(from, k < n ? k + 1 : k);
	WRITES(to, n);
	return REAL(stpncpy)(to, from, n);
}

/* ---- comparing ---- */

static int folded(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}
/* Notes a read of both up to the first difference; letters of other alphabets, which a locale
 * may fold, count as one. */
static void reads_both(const char *a, const char *b, size_t n, uintptr_t pc)
{
	size_t i = 0;
	range_turn(pc);
	while (i < n && a[i] && folded(a[i]) == folded(b[i]))
		i++;
	READS_AT(a, i < n ? i + 1 : n, pc);
	READS_AT(b, i < n ? i + 1 : n, pc);
}
int interposed_strcasecmp(const char *a, const char *b)
{
	reads_both(a, b, SIZE_MAX, CALLER());
	return REAL(strcasecmp)(a, b);
}
int interposed_strncasecmp(const char *a, const char *b, size_t n)
{
	reads_both(a, b, n, CALLER());
	return REAL(strncasecmp)(a, b, n);
}
int interposed_strcoll(const char *a, const char *b)
{
	range_turn(CALLER());
	READS(a, length(a) + 1);
	READS(b, length(b) + 1);
	return REAL(strcoll)(a, b);
}
size_t interposed_strxfrm(char *restrict to, const char *restrict from, size_t n)
{
	range_turn(CALLER());
	READS(from, length(from) + 1);
	range_turn(CALLER());
	size_t needed = REAL(strxfrm)(to, from, n);
	if (needed < n)
		WRITES(to, needed + 1);
	return needed;
}

/* ---- searching ---- */

size_t interposed_strspn(const char *s, const char *accept)
{
	range_turn(CALLER());
	size_t n = REAL(strspn)(s, accept);
	READS(s, n + 1);
	READS(accept, length(accept) + 1);
	return n;
}
size_t interposed_strcspn(const char *s, const char *reject)
{
	range_turn(CALLER());
	size_t n = REAL(strcspn)(s, reject);
	READS(s, n + 1);
	READS(reject, length(reject) + 1);
	return n;
}
char *interposed_strpbrk(const char *s, const char *accept)
{
	range_turn(CALLER());
	size_t n = REAL(strcspn)(s, accept);
	READS(s, n + 1);
	READS(accept, length(accept) + 1);
	return s[n] ? (char *)s + n : NULL;
}
char *interposed_strcasestr(const char *s, const char *what)
{
	range_turn(CALLER());
	READS(s, length(s) + 1);
	READS(what, length(what) + 1);
	return REAL(strcasestr)(s, what);
}

/* ---- cutting: what was read, and the zero that was written behind the token ---- */

static char *cut(char *token, const char *by, uintptr_t pc)
{
	if (by)
		READS_AT(by, length(by) + 1, pc);
	if (!token)
		return NULL;
	size_t n = length(token);
	READS_AT(token, n + 1, pc);
	WRITES_AT(token + n, 1, pc);
	return token;
}
char *interposed_strtok(char *restrict s, const char *restrict by)
{
	order_matters("strtok");
	range_turn(CALLER());
	return cut(REAL(strtok)(s, by), by, CALLER());
}
char *interposed_strtok_r(char *restrict s, const char *restrict by, char **restrict rest)
{
	if (!s)
		READS(rest, sizeof(*rest));
	range_turn(CALLER());
	char *token = REAL(strtok_r)(s, by, rest);
	WRITES(rest, sizeof(*rest));
	return cut(token, by, CALLER());
}
EXPORT char *__strtok_r(char *restrict s, const char *restrict by, char **restrict rest);
char *__strtok_r(char *restrict s, const char *restrict by, char **restrict rest)
{
	range_turn(CALLER());
	char *token = REAL(strtok_r)(s, by, rest);
	WRITES(rest, sizeof(*rest));
	return cut(token, by, CALLER());
}
char *interposed_strsep(char **restrict s, const char *restrict by)
{
	READS(s, sizeof(*s));
	range_turn(CALLER());
	char *token = REAL(strsep)(s, by);
	if (token)
		WRITES(s, sizeof(*s));
	return cut(token, by, CALLER());
}

/* ---- numbers ---- */

#define NUMBER(type, name, parameters, call) \
	INTERPOSED(name); \
	type interposed_##name parameters \
	{ \
		char *last; \
		char **const end = &last; \
		range_turn(CALLER()); \
		type number = REAL(name) call; \
		int error = errno; \
		READS(s, (size_t)(last - s) + 1); \
		if (out) { \
			WRITES(out, sizeof(*out)); \
			*out = last; \
		} \
		errno = error; \
		return number; \
	}
#define WITH_BASE                (const char *restrict s, char **restrict out, int base), (s, end, base)
#define NO_BASE                  (const char *restrict s, char **restrict out), (s, end)
#define NUMBER_(type, name, ...) NUMBER(type, name, __VA_ARGS__)
NUMBER_(long, strtol, WITH_BASE)
NUMBER_(unsigned long, strtoul, WITH_BASE)
NUMBER_(long long, strtoll, WITH_BASE)
NUMBER_(unsigned long long, strtoull, WITH_BASE)
NUMBER_(intmax_t, strtoimax, WITH_BASE)
NUMBER_(uintmax_t, strtoumax, WITH_BASE)
NUMBER_(double, strtod, NO_BASE)
NUMBER_(float, strtof, NO_BASE)
NUMBER_(long double, strtold, NO_BASE)

#define SIMPLE_NUMBER(type, name, by) \
	INTERPOSED(name); \
	type interposed_##name(const char *s) \
	{ \
		char *last; \
		range_turn(CALLER()); \
		type number = (type)by; \
		READS(s, (size_t)(last - s) + 1); \
		return number; \
	}
SIMPLE_NUMBER(int, atoi, REAL(strtol)(s, &last, 10))
SIMPLE_NUMBER(long, atol, REAL(strtol)(s, &last, 10))
SIMPLE_NUMBER(long long, atoll, REAL(strtoll)(s, &last, 10))
SIMPLE_NUMBER(double, atof, REAL(strtod)(s, &last))
