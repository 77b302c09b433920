/*
 * missing_private.h - declarations of the files of missing calls: regions.c (a thread's open
 * calls, and their records), trampolines.c (the small functions that calls come through),
 * modules.c (which modules are instrumented), imports.c (their import tables).
 */
#ifndef HEDDLE_RUNTIME_MISSING_PRIVATE_H
#define HEDDLE_RUNTIME_MISSING_PRIVATE_H

#include <link.h>

#include "engine/record/runtime/core/rt.h"

/* ---- regions.c ---- */
struct region {
	uintptr_t sp; /* the caller's stack pointer, before the call */
	uintptr_t function, pc;
	uint64_t arguments[6];
	unsigned mask; /* which of them count */
	uint32_t depth;
	bool away; /* the thread is in a function that the call has called back */
};

/* A call begins: false when the table is full; then the call is not recorded. */
bool region_push(struct thread *t, const struct region *r);
void region_pop(struct thread *t);    /* the innermost one has ended */
void region_update(struct thread *t); /* called after a change of the innermost one */
/* The call stack has at most `depth` frames. */
void region_cut(struct thread *t, uint32_t depth);

/* ---- modules.c ---- */
enum kind { INSTRUMENTED, MODELLED, MISSING };
struct module {
	uintptr_t bias, low, high;
	const ElfW(Phdr) * headers;
	unsigned header_count;
	enum kind kind;
	bool done; /* its import tables have been taken over */
};
extern struct module missing_modules[];
extern unsigned missing_module_count;
const struct module *missing_module_of(uintptr_t address); /* NULL: none */
/* Does a line of the specifications name the function?  *mask: the arguments that lead to
 * memory. */
bool missing_named(const char *name, unsigned *mask);

/* ---- trampolines.c ---- */
enum { ALL_ARGUMENTS = 63 }; /* the mask */
/* A function with the effect of `real` that records the call; NULL: no room. */
void *trampoline_for(uintptr_t real, unsigned mask, const struct ordered *order,
                     const char *name);
void trampolines_init(void);

#endif
