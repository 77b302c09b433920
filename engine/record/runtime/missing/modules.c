/*
 * modules.c - which modules are missing code: instrumented ones name the hooks in their
 * strings; the C library, the loader and the compilers' libraries are modelled; specifications
 * name others.
 */
#include <fnmatch.h>
#include <string.h>

#include "missing_private.h"

enum { MAX_MODULES = 4096 };
struct module missing_modules[MAX_MODULES];
unsigned missing_module_count;

const struct module *missing_module_of(uintptr_t address)
{
	for (unsigned i = 0; i < missing_module_count; i++)
		if (address - missing_modules[i].low <
		    missing_modules[i].high - missing_modules[i].low)
			return &missing_modules[i];
	return NULL;
}

static bool has_hooks(const struct dl_phdr_info *info)
{
	static const char hook[] = "__tsan_func_entry";
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type == PT_LOAD && !(ph->p_flags & PF_W) && ph->p_flags & PF_R &&
		    memmem((const void *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz, hook,
		           sizeof(hook) - 1))
			return true;
	}
	return false;
}

static bool modelled(const char *name)
{
	static const char *const known[] = {
		"libc.so*",      "libc-2*",        "ld-linux*",   "ld-2*",
		"libm.so*",      "libpthread.so*", "libdl.so*",   "librt.so*",
		"libresolv.so*", "libnss_*",       "libutil.so*", "libgcc_s.so*",
		"libstdc++.so*", "libc++*.so*",    "libtsan.so*", "libclang_rt.*",
		"libgomp.so*",
	};
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (fnmatch(known[i], name, 0) == 0)
			return true;
	return false;
}

/* The next line of the specifications whose first letter is `kind`, from *at on; its words
 * begin two characters on. */
static bool next_line(char kind, const char **at, char *line, size_t room)
{
	while (**at) {
		size_t n = strcspn(*at, "\n"), k = n < room - 1 ? n : room - 1;
		memcpy(line, *at, k);
		line[k] = 0;
		*at += n + ((*at)[n] == '\n');
		if (line[0] == kind)
			return true;
	}
	return false;
}

static bool named_library(const char *path, const char *name)
{
	const char *at = rt.config.missing;
	char line[1024];
	while (next_line('L', &at, line, sizeof(line)))
		if (fnmatch(line + 2, strchr(line + 2, '/') ? path : name, 0) == 0)
			return true;
	return false;
}

/* Finds a function's line; then *mask has the arguments that lead to memory. */
bool missing_named(const char *name, unsigned *mask)
{
	const char *at = rt.config.missing;
	char line[1024];
	bool found = false;
	while (next_line('F', &at, line, sizeof(line))) {
		char *space = strchr(line + 2, ' ');
		if (!space)
			continue;
		*space = 0;
		if (strcmp(line + 2, name) != 0)
			continue;
		*mask = 0;
		for (const char *c = space + 1; *c >= '0' && *c <= '9'; c++)
			*mask = *mask * 10 + (*c - '0');
		found = true;
	}
	return found;
}

/* Notes writable data; data that the loader makes read-only has no pointers that threads
 * could exchange. */
static void note_data(const struct module *m)
{
	uintptr_t relro_low = 0, relro_high = 0;
	for (unsigned i = 0; i < m->header_count; i++)
		if (m->headers[i].p_type == PT_GNU_RELRO) {
			relro_low = m->bias + m->headers[i].p_vaddr;
			relro_high = relro_low + m->headers[i].p_memsz;
		}
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		uintptr_t low = m->bias + ph->p_vaddr, high = low + ph->p_memsz;
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W))
			continue;
		if (relro_low <= low && low < relro_high)
			low = relro_high;
		if (low < high)
			reach_data(low, high);
	}
}

void missing_module(const struct dl_phdr_info *info, const char *path, uintptr_t low,
                    uintptr_t high)
{
	if (rt.filter_commute || missing_module_count == MAX_MODULES)
		return; /* of no use where no access is recorded */
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	struct module *m = &missing_modules[missing_module_count++];
	*m = (struct module){ .bias = info->dlpi_addr,
		              .low = low,
		              .high = high,
		              .headers = info->dlpi_phdr,
		              .header_count = info->dlpi_phnum };
	bool c_library = low == rt.libc_low || low == rt.ld_low;
	m->kind = !c_library && named_library(path, name) ? MISSING
	          : modelled(name)                        ? MODELLED
	          : has_hooks(info)                       ? INSTRUMENTED
	                                                  : MISSING;
	if (m->kind != MODELLED && rt.missing)
		note_data(m);
}
