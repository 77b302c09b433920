/* modules.c - the executable and the libraries that are mapped, each once, in the log. */
#include <link.h>
#include <string.h>
#include <sys/syscall.h>

#include "engine/record/runtime/libc/ranges.h"

enum { MAX_MODULES = 4096 };
static struct {
	uintptr_t bias, low;
} modules[MAX_MODULES];
static unsigned module_count;

static unsigned hex_build_id(const struct dl_phdr_info *info, char *out, unsigned room)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_NOTE)
			continue;
		const char *p = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = p + ph->p_memsz;
		while (p + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)p;
			const char *name = p + sizeof(*note);
			const unsigned char *desc =
			        (const unsigned char *)name + ((note->n_namesz + 3) & ~3u);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    name[0] == 'G' && note->n_descsz * 2 <= room) {
				for (unsigned k = 0; k < note->n_descsz; k++) {
					out[2 * k] = "0123456789abcdef"[desc[k] >> 4];
					out[2 * k + 1] = "0123456789abcdef"[desc[k] & 15];
				}
				return note->n_descsz * 2;
			}
			p = (const char *)desc + ((note->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

/* Makes a path absolute, as the program may change its folder; `out` has 4096 bytes. */
static size_t absolute(const char *name, char *out)
{
	size_t n = 0, length = strnlen(name, 2000);
	if (name[0] != '/') {
		long folder = raw_syscall(SYS_getcwd, (long)out, 2000, 0, 0, 0, 0);
		n = folder > 0 ? folder - 1 : 0;
		out[n++] = '/';
		while (name[0] == '.' && name[1] == '/') {
			name += 2;
			length -= 2;
		}
	}
	for (size_t i = 0; i < length; i++)
		out[n + i] = name[i];
	out[n + length] = 0;
	return n + length;
}

/* The extent from the first mapped byte to behind the last; false: nothing is mapped. */
static bool extent_of(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
	*low = UINTPTR_MAX;
	*high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD)
			continue;
		uintptr_t from = info->dlpi_addr + ph->p_vaddr, to = from + ph->p_memsz;
		if (from < *low)
			*low = from;
		if (to > *high)
			*high = to;
	}
	return *high != 0;
}

/* The module's path; `room` for the program's own, of 4096 bytes.  NULL: the vdso. */
static const char *path_of(const struct dl_phdr_info *info, char *room)
{
	const char *name = info->dlpi_name;
	if (name && name[0])
		return strncmp(name, "linux-vdso", 10) == 0 ? NULL : name;
	if (module_count > 0)
		return NULL;
	long n = raw_syscall(SYS_readlink, (long)"/proc/self/exe", (long)room, 4095, 0, 0, 0);
	if (n <= 0)
		return NULL;
	room[n] = 0;
	return room;
}

/* Notes the libraries whose addresses other files of the runtime need. */
static void note_library(const char *path, uintptr_t low, uintptr_t high)
{
	static const struct {
		const char *prefix; /* of the file's name */
		uintptr_t *low, *high;
	} known[] = {
		{ "libc.so", &rt.libc_low, &rt.libc_high },
		{ "libc-2", &rt.libc_low, &rt.libc_high },
		{ "ld-linux", &rt.ld_low, &rt.ld_high },
		{ "ld-2", &rt.ld_low, &rt.ld_high },
		{ "libstdc++.so", &rt.cxx_low, &rt.cxx_high },
		{ "libgomp.so", &rt.gomp_low, &rt.gomp_high },
		{ "libglib-2.0.so", &rt.glib_low, &rt.glib_high },
	};
	const char *last = strrchr(path, '/');
	last = last ? last + 1 : path;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strncmp(last, known[i].prefix, strlen(known[i].prefix)) == 0) {
			*known[i].low = low;
			*known[i].high = high;
			return;
		}
}

/* The runtime and the library of the bind lines are no part of the program. */
static bool is_ours(const struct dl_phdr_info *info, uintptr_t low, uintptr_t high)
{
	uintptr_t here = (uintptr_t)log_modules;
	if (here >= low && here < high) {
		rt.own_low = low;
		rt.own_high = high;
		return true;
	}
	if (info->dlpi_name && strstr(info->dlpi_name, LOG_BIND_LIBRARY)) {
		rt.bind_low = low;
		rt.bind_size = high - low;
		rt.watched = true;
		return true;
	}
	return false;
}

static bool is_known(const struct dl_phdr_info *info, uintptr_t low)
{
	for (unsigned i = 0; i < module_count; i++)
		if (modules[i].bias == info->dlpi_addr && modules[i].low == low)
			return true;
	return module_count == MAX_MODULES;
}

/* Where a module's thread-local variables lie that it has from the program's start: below the
 * thread's pointer (its own), at a distance that all threads share. Those of a module that
 * is loaded later lie in memory that each thread allocates. */
struct thread_locals {
	uint64_t below, bytes;
};

static struct thread_locals thread_locals(const struct dl_phdr_info *info)
{
	enum { MOST = 1 << 20 };
	uintptr_t begin = (uintptr_t)info->dlpi_tls_data,
	          top = (uintptr_t)__builtin_thread_pointer();
	struct thread_locals found = { 0 };
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && begin != 0 && begin < top &&
		    top - begin <= MOST)
			found = (struct thread_locals){ top - begin,
				                        info->dlpi_phdr[i].p_memsz };
	return found;
}

static int one_module(struct dl_phdr_info *info, size_t size, void *context)
{
	uintptr_t low, high;
	char program[4096], text[4096 + 80];
	if (!extent_of(info, &low, &high))
		return 0;
	range_module(info);
	if (is_ours(info, low, high) || is_known(info, low))
		return 0;
	const char *path = path_of(info, program);
	if (!path)
		return 0;
	note_library(path, low, high);
	if (module_count == 0 && rt.config.start_high) { /* the program itself */
		rt.start_low = info->dlpi_addr + rt.config.start_low;
		rt.start_high = info->dlpi_addr + rt.config.start_high;
		rt.waiting = true;
		rt.watched = true;
	}
	if (module_count == 0)
		memory_program(info->dlpi_addr);
	struct thread_locals locals = thread_locals(info);
	memory_module(path, locals.below, locals.bytes);
	missing_module(info, path, low, high);
	modules[module_count].bias = info->dlpi_addr;
	modules[module_count++].low = low;
	size_t n = absolute(path, text);
	unsigned id = hex_build_id(info, text + n + 1, 64);
	log_blob(me, LOG_MODULE, 0,
	         (uint64_t[]){ info->dlpi_addr, low, high, locals.below, locals.bytes }, 5,
	         text, n + 1 + id);
	return 0;
}

void log_modules(void)
{
	dl_iterate_phdr(one_module, NULL);
}
