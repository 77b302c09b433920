/*
 * imports.c - the import tables (PLT, GOT) of instrumented modules: functions of missing code
 * get trampolines in their place, and so do those that use memory unseen, and with exploration
 * those whose outcome depends on an order (libc/orders.c).
 *
 * Not seen: calls by addresses that no import table holds (virtual functions, results of
 * dlsym), and calls from one library that is not instrumented into another (they are inside).
 */
#include <fnmatch.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "missing_private.h"

static bool in_code(const struct module *m, uintptr_t address)
{
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
		    address - m->bias - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

/* Functions that must not be wrapped: they may return twice, or elsewhere, or belong to the
 * unwinder. */
static bool left_alone(const char *name)
{
	static const char *const names[] = { "*setjmp",        "*longjmp*",   "vfork",
		                             "getcontext",     "swapcontext", "setcontext",
		                             "_Unwind_*",      "__cxa_*",     "__gxx_*",
		                             "__tls_get_addr", "_init",       "_fini" };
	if (fnmatch("__cxa_at*exit", name, 0) == 0) /* the C library's, ordinary functions */
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

static void put_slot(const struct module *m, uintptr_t *slot, void *value)
{
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		uintptr_t low = m->bias + ph->p_vaddr, high = low + ph->p_memsz;
		if (ph->p_type != PT_GNU_RELRO || (uintptr_t)slot < low ||
		    (uintptr_t)slot >= high)
			continue;
		low &= ~4095ul;
		high &= ~4095ul;
		if ((uintptr_t)slot >= high)
			continue; /* the rest of a page is writable */
		if (raw_syscall(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE, 0, 0,
		                0) < 0)
			return;
		*slot = (uintptr_t)value;
		raw_syscall(SYS_mprotect, low, high - low, PROT_READ, 0, 0, 0);
		return;
	}
	*slot = (uintptr_t)value;
}

struct tables { /* of a module's dynamic section */
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * list[2];
	size_t bytes[2];
};

static struct tables tables_of(const struct module *m)
{
	struct tables x = { 0 };
	const ElfW(Dyn) *d = NULL;
	for (unsigned i = 0; i < m->header_count; i++)
		if (m->headers[i].p_type == PT_DYNAMIC)
			d = (const void *)(m->bias + m->headers[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) { /* the loader has made them absolute */
		case DT_SYMTAB:
			x.symbols = (const void *)d->d_un.d_ptr;
			break;
		case DT_STRTAB:
			x.strings = (const void *)d->d_un.d_ptr;
			break;
		case DT_JMPREL:
			x.list[0] = (const void *)d->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			x.bytes[0] = d->d_un.d_val;
			break;
		case DT_RELA:
			x.list[1] = (const void *)d->d_un.d_ptr;
			break;
		case DT_RELASZ:
			x.bytes[1] = d->d_un.d_val;
			break;
		}
	}
	return x;
}

/* Is it a function of OpenMP that sync/openmp*.c does not model? */
static bool beyond_openmp(uintptr_t function, const char *name)
{
	static const char *const names[] = {
		"GOMP_parallel_*start", "GOMP_parallel_end", "GOMP_target*",
		"GOMP_teams*",          "GOACC_*",           "acc_*"
	};
	if (function < rt.gomp_low || function >= rt.gomp_high)
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

static void take_over_slot(const struct module *m, const char *name, uintptr_t *slot)
{
	uintptr_t real = *slot;
	if (!real || left_alone(name))
		return;
	if (real - m->low < m->high - m->low) { /* not bound yet: the address is in its own
		                                 * PLT */
		real = (uintptr_t)dlsym(RTLD_DEFAULT, name);
		if (!real || real - m->low < m->high - m->low)
			return;
	}
	const struct module *of = missing_module_of(real);
	unsigned mask = ALL_ARGUMENTS;
	bool own = real >= rt.own_low && real < rt.own_high; /* the runtime stands before it */
	bool named = !own && rt.missing && missing_named(name, &mask);
	if (!own && (!of || !in_code(of, real) || of->kind == INSTRUMENTED))
		return;
	if (!own && !rt.missing && of->kind == MISSING)
		return; /* --no-missing */
	const struct ordered *order = NULL;
	if (own || (of->kind == MODELLED && !named && !beyond_openmp(real, name))) {
		order = order_named(name, own);
		if (order == NULL)
			return;
	}
	void *stub = trampoline_for(real, mask, order, name);
	if (stub)
		put_slot(m, slot, stub);
}

static void take_over(const struct module *m)
{
	struct tables x = tables_of(m);
	for (unsigned k = 0; k < 2 && x.symbols && x.strings; k++)
		for (size_t i = 0; x.list[k] && i < x.bytes[k] / sizeof(*x.list[k]); i++) {
			const ElfW(Rela) *r = &x.list[k][i];
			unsigned type = ELF64_R_TYPE(r->r_info);
			const ElfW(Sym) *s = &x.symbols[ELF64_R_SYM(r->r_info)];
			if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
			    ELF64_R_SYM(r->r_info) && ELF64_ST_TYPE(s->st_info) != STT_OBJECT)
				take_over_slot(m, x.strings + s->st_name,
				               (uintptr_t *)(m->bias + r->r_offset));
		}
}

/* The program itself is not instrumented: all of it becomes one missing call. */
static void whole_program(struct thread *t)
{
	static bool done;
	if (done)
		return;
	done = true;
	if (missing_modules[0].kind != MISSING)
		return;
	struct region r = { .sp = t->life.stack_high };
	region_push(t, &r);
}

void missing_take_over(void)
{
	if (missing_module_count == 0)
		return;
	trampolines_init();
	bool any = strstr(rt.config.missing, "F ") != NULL;
	for (unsigned i = 0; i < missing_module_count; i++)
		any |= missing_modules[i].kind == MISSING;
	if (any && rt.missing)
		reach_init();
	for (unsigned i = 0; i < missing_module_count; i++) {
		if (missing_modules[i].kind == INSTRUMENTED && !missing_modules[i].done)
			take_over(&missing_modules[i]);
		missing_modules[i].done = true;
	}
	if (rt.missing)
		whole_program(me);
}
