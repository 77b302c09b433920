/*
 * openmp_shares.c - work that a team of OpenMP shares out: single, loops by chunks, sections;
 * and its order, `ordered` and `doacross`; see openmp.h.
 */
#include <stdarg.h>

#include "openmp.h"

void openmp_share(struct thread *t, struct team *team, uintptr_t pc)
{
	enum { RELAXED = 1, FOUR_BYTES = 2 };
	const char *at = (const char *)team->barrier + LOG_OMP_SHARES;
	uint64_t old = __atomic_fetch_add(&team->shares, 1, __ATOMIC_RELAXED);
	log_rmw(t, RELAXED, pc, at, FOUR_BYTES, old & UINT32_MAX, (old + 1) & UINT32_MAX);
}

#define SHARE(type, name, parameters, arguments) \
	EXPORT type name parameters; \
	type name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t || !t->openmp.team) \
			return REAL(name) arguments; \
		sched_point(t); \
		type got = REAL(name) arguments; \
		openmp_share(t, t->openmp.team, CALLER()); \
		return got; \
	}
SHARE(bool, GOMP_single_start, (void), ())
SHARE(unsigned, GOMP_sections_start, (unsigned count), (count))
SHARE(unsigned, GOMP_sections_next, (void), ())
#define LOOP_NEXT(name) SHARE(bool, name, (long *from, long *to), (from, to))
#define LOOP_CHUNKS(name) \
	SHARE(bool, name##_start, \
	      (long start, long end, long step, long chunk, long *from, long *to), \
	      (start, end, step, chunk, from, to)) \
	LOOP_NEXT(name##_next)
#define LOOP_RUNTIME(name) \
	SHARE(bool, name##_start, (long start, long end, long step, long *from, long *to), \
	      (start, end, step, from, to)) \
	LOOP_NEXT(name##_next)
#define ULL            unsigned long long
#define ULL_NEXT(name) SHARE(bool, name, (ULL * from, ULL * to), (from, to))
#define ULL_CHUNKS(name) \
	SHARE(bool, name##_start, \
	      (bool up, ULL start, ULL end, ULL step, ULL chunk, ULL *from, ULL *to), \
	      (up, start, end, step, chunk, from, to)) \
	ULL_NEXT(name##_next)
#define ULL_RUNTIME(name) \
	SHARE(bool, name##_start, (bool up, ULL start, ULL end, ULL step, ULL *from, ULL *to), \
	      (up, start, end, step, from, to)) \
	ULL_NEXT(name##_next)
LOOP_CHUNKS(GOMP_loop_dynamic)
LOOP_CHUNKS(GOMP_loop_guided)
LOOP_CHUNKS(GOMP_loop_nonmonotonic_dynamic)
LOOP_CHUNKS(GOMP_loop_nonmonotonic_guided)
LOOP_CHUNKS(GOMP_loop_ordered_dynamic)
LOOP_CHUNKS(GOMP_loop_ordered_guided)
LOOP_RUNTIME(GOMP_loop_runtime)
LOOP_RUNTIME(GOMP_loop_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_loop_ordered_runtime)
ULL_CHUNKS(GOMP_loop_ull_dynamic)
ULL_CHUNKS(GOMP_loop_ull_guided)
ULL_CHUNKS(GOMP_loop_ull_nonmonotonic_dynamic)
ULL_CHUNKS(GOMP_loop_ull_nonmonotonic_guided)
ULL_RUNTIME(GOMP_loop_ull_runtime)
ULL_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime)
ULL_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime)

/* ---- ordered, doacross ---- */

EXPORT void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
	struct thread *t = recording();
	if (t)
		sched_point(t);
	ASIDE(t, REAL(GOMP_ordered_start)());
	if (t && t->openmp.team)
		openmp_receive(t, t->openmp.team->ordered, CALLER());
}
EXPORT void GOMP_ordered_end(void);
void GOMP_ordered_end(void)
{
	struct thread *t = recording();
	if (t && t->openmp.team) {
		plan_point(t);
		openmp_send(t, t->openmp.team->ordered, CALLER());
	}
	REAL(GOMP_ordered_end)();
}

EXPORT void GOMP_doacross_post(long *counts);
void GOMP_doacross_post(long *counts)
{
	struct thread *t = recording();
	if (t && t->openmp.team) {
		sched_point(t);
		openmp_send(t, t->openmp.team->posted, CALLER());
	}
	REAL(GOMP_doacross_post)(counts);
}
EXPORT void GOMP_doacross_wait(long first, ...);
void GOMP_doacross_wait(long first, ...)
{
	enum { MOST = 7 }; /* further dimensions of a loop, read whether passed or not */
	struct thread *t = recording();
	long a[MOST];
	va_list list;
	va_start(list, first);
	for (unsigned i = 0; i < MOST; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (t)
		sched_point(t);
	ASIDE(t, REAL(GOMP_doacross_wait)(first, a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
	if (t && t->openmp.team)
		openmp_receive(t, t->openmp.team->posted, CALLER());
}
