/*
 * random.c - random bytes come from the seed, so that one seed is one run: of the system, of
 * its devices, of C++.  The processor's own instructions cannot be changed.
 *
 * Each thread has its own sequence, so that a replay in another order answers each as before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(getrandom, getentropy, fopen, fopen64);

/* False when the real source has to be read. */
static bool random_bytes(void *p, size_t n)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return false;
	uint64_t state = t->libc.random;
	if (!state)
		state = (rt.config.seed + 1) * HASH_FACTOR +
		        (t->id + 1) * 0xbf58476d1ce4e5b9ull;
	for (size_t i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		((unsigned char *)p)[i] = state >> 32;
	}
	t->libc.random = state;
	return true;
}
ssize_t interposed_getrandom(void *p, size_t n, unsigned flags)
{
	range_turn(CALLER());
	ssize_t got = random_bytes(p, n) ? (ssize_t)n : REAL(getrandom)(p, n, flags);
	if (got > 0)
		WRITES(p, (size_t)got);
	return got;
}
bool random_syscall(long number, const long a[6], long *result)
{
	if (number != SYS_getrandom || !a[0] || !random_bytes((void *)a[0], (size_t)a[1]))
		return false;
	*result = a[1];
	return true;
}
int interposed_getentropy(void *p, size_t n)
{
	range_turn(CALLER());
	int status = n <= 256 && random_bytes(p, n) ? 0 : REAL(getentropy)(p, n);
	if (status == 0)
		WRITES(p, n);
	return status;
}
EXPORT uint32_t arc4random(void);
uint32_t arc4random(void)
{
	uint32_t v;
	if (random_bytes(&v, sizeof(v)))
		return v;
	uint32_t (*real)(void) = (uint32_t(*)(void))rt_next("arc4random");
	return real ? real() : (uint32_t)next_random();
}
EXPORT void arc4random_buf(void *p, size_t n);
void arc4random_buf(void *p, size_t n)
{
	void (*real)(void *, size_t) = (void (*)(void *, size_t))rt_next("arc4random_buf");
	if (!random_bytes(p, n) && real)
		real(p, n);
}
EXPORT uint32_t arc4random_uniform(uint32_t below);
uint32_t arc4random_uniform(uint32_t below)
{
	uint32_t v;
	uint32_t (*real)(uint32_t) = (uint32_t(*)(uint32_t))rt_next("arc4random_uniform");
	if (random_bytes(&v, sizeof(v)))
		return below ? ((uint64_t)v * below) >> 32 : 0;
	return real ? real(below) : 0;
}

/* std::random_device::_M_getval(), whose source would be an instruction of the processor. */
EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void *self);
unsigned _ZNSt13random_device9_M_getvalEv(void *self)
{
	unsigned v;
	if (random_bytes(&v, sizeof(v)))
		return v;
	unsigned (*real)(void *) =
	        (unsigned (*)(void *))rt_next("_ZNSt13random_device9_M_getvalEv");
	return real ? real(self) : 0;
}

/* ---- the devices ---- */

enum { RANDOM = 8, URANDOM = 9 }; /* their minor numbers */

void random_device_read(int fd, void *p, ssize_t n)
{
	struct stat status;
	int error = errno;
	if (n > 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) &&
	    (status.st_rdev == makedev(1, RANDOM) || status.st_rdev == makedev(1, URANDOM)))
		random_bytes(p, n);
	errno = error;
}

static ssize_t stream_read(void *cookie, char *p, size_t n)
{
	if (!random_bytes(p, n))
		return REAL(getrandom)(p, n, 0);
	return n;
}
/* The C library's own reads cannot be interposed, so its stream is one of ours; C++'s can,
 * and need a descriptor. */
static FILE *random_stream(const char *path, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || (pc >= rt.cxx_low && pc < rt.cxx_high) || !rt.controlled || !path ||
	    (strcmp(path, "/dev/urandom") != 0 && strcmp(path, "/dev/random") != 0))
		return NULL;
	return INSIDE(t,
	              fopencookie(NULL, "r", (cookie_io_functions_t){ .read = stream_read }));
}
static void note_opening(const char *path, const char *mode, uintptr_t pc)
{
	if (in_libc(pc) || !recording())
		return;
	READS_STRING(path, pc);
	READS_STRING(mode, pc);
	order_of_name(path, mode[0] != 'r');
}
FILE *interposed_fopen(const char *restrict path, const char *restrict mode)
{
	note_opening(path, mode, CALLER());
	FILE *f = random_stream(path, CALLER());
	if (!f)
		f = input_stream(path, mode, CALLER());
	return f ? f : REAL(fopen)(path, mode);
}
FILE *interposed_fopen64(const char *restrict path, const char *restrict mode)
{
	note_opening(path, mode, CALLER());
	FILE *f = random_stream(path, CALLER());
	if (!f)
		f = input_stream(path, mode, CALLER());
	return f ? f : REAL(fopen64)(path, mode);
}
