/*
 * strings.c - the memory and string functions that libtsan intercepts: their accesses are
 * those of the caller.  The work is done here in plain loops or by the real function.
 *
 * Built with -fno-builtin: a loop here must not become a call of itself.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/record/runtime/log/access.h"
#include "ranges.h"

INTERPOSED(memmove, memcpy, mempcpy, memset, bzero, memcmp, bcmp, memchr, strlen, strnlen,
           strcpy, stpcpy, strncpy, strcat, strncat, strcmp, strncmp, strchr, strchrnul,
           strrchr, strstr, strdup, strndup);

/* The C library's own, resolved once before any recording; until then plain loops. */
static void *(*real_memmove)(void *, const void *, size_t);
static void *(*real_memset)(void *, int, size_t);
static int (*real_memcmp)(const void *, const void *, size_t);
static size_t (*real_strlen)(const char *);

void strings_init(void)
{
	real_memset = (void *(*)(void *, int, size_t))dlsym(RTLD_NEXT, "memset");
	real_memcmp = (int (*)(const void *, const void *, size_t))dlsym(RTLD_NEXT, "memcmp");
	real_strlen = (size_t(*)(const char *))dlsym(RTLD_NEXT, "strlen");
	real_memmove = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memmove");
}

/*
 * Is it a copy or fill for the runtime itself? Those are done in its own code: a signal
 * during one must not look like an interruption of the program in the C library, where its
 * handler may run at once; the runtime may hold a lock or have written half a record.
 */
static bool for_itself(uintptr_t pc)
{
	return pc >= rt.own_low && pc < rt.own_high;
}

static void *move_here(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;
	if ((uintptr_t)d - (uintptr_t)s >= n) /* no byte is written before it is read */
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	else
		while (n-- > 0)
			((volatile char *)d)[n] = s[n];
	return to;
}

static void *set_here(void *p, int c, size_t n)
{
	void *to = p;
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
	return p;
}

static void *move(void *to, const void *from, size_t n)
{
	return likely(real_memmove != NULL) ? real_memmove(to, from, n)
	                                    : move_here(to, from, n);
}

static size_t length(const char *s)
{
	if (likely(real_strlen != NULL))
		return real_strlen(s);
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

static bool in_cxx_library(uintptr_t address)
{
	return address >= rt.cxx_low && address < rt.cxx_high;
}

/* Does the C++ library use static data of its own, such as the tables of a facet? Whether it
 * does depends on what its other code, without hooks, has stored there. */
static bool is_internal(const void *p, uintptr_t pc)
{
	return in_cxx_library(pc) && in_cxx_library((uintptr_t)p);
}

void range_touched(enum log_tag tag, const void *p, size_t n, uintptr_t pc)
{
	struct thread *t = me;
	uint64_t key = 0;
	if (unlikely(rt.sample) && !sample_takes(t) && !rt.controlled)
		return;
	if (t->covered_epoch) {
		if (covers_range(t, tag, (uintptr_t)p, n)) {
			t->repeated++;
			return;
		}
	} else if (t->epoch && !(rt.sample && t->unwritten)) {
		key = seen_key(t, tag, pc, (uintptr_t)p, LOG_RANGE) + n * 0x165667b19e3779f9u;
		if (*seen_entry(t, key) == key) {
			t->repeated++;
			return;
		}
	}
	if (n == 0 || in_libc(pc) || is_internal(p, pc) || (t->gate && !hook_slow_access(t)))
		return; /* the runtime calls this with the scheduler's lock held */
	if (tag == LOG_READ && range_constant(p))
		return;
	int error = errno;
	bool one = n <= 8 && (n & (n - 1)) == 0; /* the size of an access by an instruction */
	unsigned code = __builtin_ctzl(n);
	bool quick = one && t->epoch && !t->unwritten && !rt.shadow && !t->attention &&
	             !(t->todo & TODO_FRAMES);
	if (!one) {
		log_range(t, tag, pc, p, n);
	} else if (!quick ||
	           !log_free_here(t, tag, log_range_flags(tag), pc, (uintptr_t)p, code)) {
		plan_point(t);
		log_access(t, tag, log_range_flags(tag), pc, p, code, false, 0);
	}
	if (key && !rt.waiting)
		*seen_entry(t, key) = key;
	errno = error;
}

void range_turn_slow(uintptr_t pc)
{
	struct thread *t = me;
	if (t->gate || in_libc(pc))
		return;
	int error = errno;
	if (replay_may_access(t, pc))
		plan_point(t);
	errno = error;
}

void *interposed_memmove(void *to, const void *from, size_t n)
{
	if (for_itself(CALLER()))
		return move_here(to, from, n);
	READS(from, n);
	WRITES(to, n);
	return move(to, from, n);
}
void *interposed_memcpy(void *to, const void *from, size_t n)
{
	if (for_itself(CALLER()))
		return move_here(to, from, n);
	READS(from, n);
	WRITES(to, n);
	return move(to, from, n);
}
void *interposed_mempcpy(void *to, const void *from, size_t n)
{
	READS(from, n);
	WRITES(to, n);
	return (char *)move(to, from, n) + n;
}
EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	READS(from, n);
	WRITES(to, n);
	return move(to, from, n);
}
EXPORT void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n)
{
	READS(from, n);
	WRITES(to, n);
	return move(to, from, n);
}
static void *set(void *p, int c, size_t n)
{
	return likely(real_memset != NULL) ? real_memset(p, c, n) : set_here(p, c, n);
}
void *interposed_memset(void *p, int c, size_t n)
{
	if (for_itself(CALLER()))
		return set_here(p, c, n);
	WRITES(p, n);
	return set(p, c, n);
}
EXPORT void *__tsan_memset(void *p, int c, size_t n);
void *__tsan_memset(void *p, int c, size_t n)
{
	WRITES(p, n);
	return set(p, c, n);
}
void interposed_bzero(void *p, size_t n)
{
	WRITES(p, n);
	set(p, 0, n);
}
int interposed_memcmp(const void *a, const void *b, size_t n)
{
	/* a facet of the C++ library compares its table with one on the stack, once in a run */
	bool internal = (is_internal(a, CALLER()) && !range_constant(a)) ||
	                (is_internal(b, CALLER()) && !range_constant(b));
	if (!internal) {
		READS(a, n);
		READS(b, n);
	}
	if (likely(real_memcmp != NULL))
		return real_memcmp(a, b, n);
	const unsigned char *x = a, *y = b;
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}
int interposed_bcmp(const void *a, const void *b, size_t n)
{
	READS(a, n);
	READS(b, n);
	return real_memcmp ? real_memcmp(a, b, n) : 1;
}
void *interposed_memchr(const void *p, int c, size_t n)
{
	range_turn(CALLER());
	const unsigned char *s = p;
	size_t i = 0;
	while (i < n && s[i] != (unsigned char)c)
		i++;
	READS(p, i < n ? i + 1 : n);
	return i < n ? (void *)(s + i) : NULL;
}
size_t interposed_strlen(const char *s)
{
	range_turn(CALLER());
	size_t n = length(s);
	READS(s, n + 1);
	return n;
}
size_t interposed_strnlen(const char *s, size_t most)
{
	range_turn(CALLER());
	size_t n = 0;
	while (n < most && s[n])
		n++;
	READS(s, n < most ? n + 1 : n);
	return n;
}
char *interposed_strcpy(char *to, const char *from)
{
	range_turn(CALLER());
	size_t n = length(from) + 1;
	READS(from, n);
	WRITES(to, n);
	move(to, from, n);
	return to;
}
char *interposed_stpcpy(char *to, const char *from)
{
	range_turn(CALLER());
	size_t n = length(from) + 1;
	READS(from, n);
	WRITES(to, n);
	move(to, from, n);
	return to + n - 1;
}
char *interposed_strncpy(char *to, const char *from, size_t most)
{
	range_turn(CALLER());
	size_t n = 0;
	while (n < most && from[n])
		n++;
	READS(from, n < most ? n + 1 : n);
	WRITES(to, most);
	move(to, from, n);
	if (n < most)
		set(to + n, 0, most - n);
	return to;
}
char *interposed_strcat(char *to, const char *from)
{
	range_turn(CALLER());
	size_t at = length(to), n = length(from) + 1;
	READS(to, at + 1);
	READS(from, n);
	WRITES(to + at, n);
	move(to + at, from, n);
	return to;
}
char *interposed_strncat(char *to, const char *from, size_t most)
{
	range_turn(CALLER());
	size_t at = length(to), n = 0;
	while (n < most && from[n])
		n++;
	READS(to, at + 1);
	READS(from, n < most ? n + 1 : n);
	WRITES(to + at, n + 1);
	move(to + at, from, n);
	to[at + n] = 0;
	return to;
}
int interposed_strcmp(const char *a, const char *b)
{
	range_turn(CALLER());
	size_t i = 0;
	while (a[i] && a[i] == b[i])
		i++;
	READS(a, i + 1);
	READS(b, i + 1);
	return (unsigned char)a[i] - (unsigned char)b[i];
}
int interposed_strncmp(const char *a, const char *b, size_t n)
{
	range_turn(CALLER());
	size_t i = 0;
	while (i < n && a[i] && a[i] == b[i])
		i++;
	READS(a, i < n ? i + 1 : n);
	READS(b, i < n ? i + 1 : n);
	return i == n ? 0 : (unsigned char)a[i] - (unsigned char)b[i];
}
char *interposed_strchr(const char *s, int c)
{
	range_turn(CALLER());
	size_t i = 0;
	while (s[i] && s[i] != (char)c)
		i++;
	READS(s, i + 1);
	return s[i] == (char)c ? (char *)s + i : NULL;
}
char *interposed_strchrnul(const char *s, int c)
{
	range_turn(CALLER());
	size_t i = 0;
	while (s[i] && s[i] != (char)c)
		i++;
	READS(s, i + 1);
	return (char *)s + i;
}
char *interposed_strrchr(const char *s, int c)
{
	range_turn(CALLER());
	size_t n = length(s), i = n + 1;
	READS(s, n + 1);
	while (i-- > 0)
		if (s[i] == (char)c)
			return (char *)s + i;
	return NULL;
}
char *interposed_strstr(const char *s, const char *what)
{
	range_turn(CALLER());
	size_t n = length(s), k = length(what);
	READS(s, n + 1);
	READS(what, k + 1);
	for (size_t i = 0; i + k <= n; i++) {
		size_t j = 0;
		while (j < k && s[i + j] == what[j])
			j++;
		if (j == k)
			return (char *)s + i;
	}
	return NULL;
}

/* Blocks that these return belong to the caller, so that the block is recorded with its line.
 */
void *range_block(size_t n, uintptr_t pc)
{
	extern void *__libc_malloc(size_t size);
	void *p = __libc_malloc(n);
	struct thread *t = me;
	if (p && !t->gate && !in_libc(pc)) {
		plan_point(t);
		log_event(t, LOG_ALLOC, 0, pc, (uintptr_t)p, n, 2);
	}
	return p;
}

static char *duplicate(const char *s, size_t n, uintptr_t pc)
{
	char *copy = range_block(n + 1, pc);
	if (!copy)
		return NULL;
	range_touched(LOG_WRITE, copy, n + 1, pc);
	move(copy, s, n);
	copy[n] = 0;
	return copy;
}
char *interposed_strdup(const char *s)
{
	range_turn(CALLER());
	size_t n = length(s);
	READS(s, n + 1);
	return duplicate(s, n, CALLER());
}
EXPORT char *__strdup(const char *s);
char *__strdup(const char *s)
{
	range_turn(CALLER());
	size_t n = length(s);
	READS(s, n + 1);
	return duplicate(s, n, CALLER());
}
char *interposed_strndup(const char *s, size_t most)
{
	range_turn(CALLER());
	size_t n = 0;
	while (n < most && s[n])
		n++;
	READS(s, n < most ? n + 1 : n);
	return duplicate(s, n, CALLER());
}
EXPORT char *__strndup(const char *s, size_t most);
char *__strndup(const char *s, size_t most)
{
	range_turn(CALLER());
	size_t n = REAL(strnlen)(s, most);
	READS(s, n < most ? n + 1 : n);
	return duplicate(s, n, CALLER());
}
