/*
 * libraries.c - libraries that the program loads while it runs, and functions of the C library
 * that exist in several versions.
 */
#include <glob.h>
#include <regex.h>
#include <stdlib.h>

#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(dlopen, dlclose);

void *interposed_dlopen(const char *file, int mode)
{
	struct thread *t = recording();
	if (!t)
		return REAL(dlopen)(file, mode);
	void *library = REAL(dlopen)(file, mode); /* its constructors are the program's */
	if (library && !me->gate) {
		t->gate |= GATE_INSIDE;
		log_modules();
		glib_take_over();
		missing_take_over();
		t->gate &= ~GATE_INSIDE;
	}
	return library;
}
int interposed_dlclose(void *library)
{
	int result = REAL(dlclose)(library);
	range_unloaded(); /* another mapping may take the place */
	return result;
}

/*
 * Functions that the C library has in several versions and libtsan exports without one: a
 * program linked to libtsan has an unversioned reference, which the loader would bind to
 * the oldest.  Each passes on to the newest.
 */
#define FORWARD(name) \
	static void *next_##name __attribute__((used)); \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name \
	        ":\n\tjmp *next_" #name "(%rip)\n.size " #name ", .-" #name \
	        "\n.popsection\n");
/* clang-format off */
#define FORWARDED(F) \
	F(clock_getcpuclockid) F(clock_settime) F(fmemopen) F(glob) F(glob64) \
	F(pthread_attr_getaffinity_np) F(sem_unlink)
/* clang-format on */
FORWARDED(FORWARD)

/* Called by the first constructor, before any other that may call one of them. */
void forwards_init(void)
{
#define FIND(name) next_##name = dlsym(RTLD_NEXT, #name);
	FORWARDED(FIND)
}
