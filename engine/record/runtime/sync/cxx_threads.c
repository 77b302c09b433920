/*
 * cxx_threads.c - std::thread's creation and join, whose calls of the C library lie inside of
 * the C++ library: the place of such an event is the line that called std::thread.
 *
 * Each function here notes its caller and calls the library's own. The function of the C
 * library that this one then calls takes the note (cxx_caller), if its own call lies in that
 * function's first bytes: so a note that is left over, as when join throws before it waits,
 * is taken for no other call.
 */
#include <dlfcn.h>

#include "engine/record/runtime/core/rt.h"
#include "sync_private.h"

enum { FUNCTION_BYTES = 256 }; /* more than these functions have, in either library */

static __thread struct {
	uintptr_t function; /* the library's; 0: no note */
	uintptr_t caller;
} note;

uintptr_t cxx_caller(uintptr_t pc)
{
	if (likely(note.function == 0))
		return pc;
	uintptr_t function = note.function;
	note.function = 0;
	return pc - function < FUNCTION_BYTES ? note.caller : pc;
}

/* The library's function. The search from here on does not find it where dlopen has loaded the
 * C++ library for another library alone (RTLD_LOCAL). */
static void *find(const char *name)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++.so.1" };
	void *function = rt_next(name);
	for (unsigned i = 0; !function && i < sizeof(libraries) / sizeof(*libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library) {
			function = dlsym(library, name);
			dlclose(library);
		}
	}
	if (!function) {
		rt_say("%s is not in the C++ library that the program uses", name);
		rt_die(SIGABRT);
	}
	return function;
}

/* A std::thread that was joined or detached has no handle any more, which the library wrote. */
static void cleared(const void *self, uintptr_t pc)
{
	struct thread *t = recording();
	if (t)
		thread_wrote_handle(t, self, pc);
}

/* `after`: what to do then, with the caller as `pc`. */
#define THROUGH(name, parameters, after, ...) \
	EXPORT void name parameters; \
	void name parameters \
	{ \
		static void(*real) parameters; \
		if (unlikely(!real)) \
			real = (void(*) parameters)find(#name); \
		note.function = (uintptr_t)real; \
		const uintptr_t pc = note.caller = CALLER(); \
		real(__VA_ARGS__); \
		after; \
	}

/* std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()), whose second parameter is
 * passed as an address; then join and detach, libstdc++'s and libc++'s. */
THROUGH(_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE,
        (void *self, void *state, void (*depend)(void)), (void)pc, self, state, depend)
THROUGH(_ZNSt6thread4joinEv, (void *self), cleared(self, pc), self)
THROUGH(_ZNSt6thread6detachEv, (void *self), cleared(self, pc), self)
THROUGH(_ZNSt3__16thread4joinEv, (void *self), cleared(self, pc), self)
THROUGH(_ZNSt3__16thread6detachEv, (void *self), cleared(self, pc), self)
