/*
 * import_missing.c - calls of uninstrumented code (LOG_MISS, LOG_BACK) become miss and back,
 * with the function's name and the data the call may reach.
 *
 * Data found through registers without a parameter (by the caller's declaration) is dropped.
 * The static data of the function's library, if any, is one address reached by all its calls,
 * since the library may synchronise by data not among its arguments. A `function` line of a
 * specification replaces this.
 */
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/commute/language/spec.h"
#include "engine/record/import/import_private.h"

#define ALL_ARGUMENTS 63u

struct missing_function {
	uint32_t name;    /* string: "deflate@libz.so.1" */
	unsigned mask;    /* arguments used */
	uint32_t state;   /* value: its library's static data; NONE: unused */
	uint32_t library; /* value: that data, used when the search was cut */
	GArray *globals;  /* uint32_t values; owned */
};

struct missing_code {
	GHashTable *functions; /* address -> struct missing_function, owned */
	GHashTable *states;    /* module's path -> value of its static data + 1; borrowed */
	struct specs *specs;
	uint64_t calls, cut;
};

static void function_free(gpointer data)
{
	struct missing_function *f = data;
	g_array_free(f->globals, TRUE);
	g_free(f);
}

static struct missing_code *missing_of(struct import *im)
{
	if (im->missing != NULL)
		return im->missing;
	struct missing_code *m = im->missing = g_new0(struct missing_code, 1);
	const GPtrArray *files = im->facts->specs;
	struct error error;
	m->functions = g_hash_table_new_full(NULL, NULL, NULL, function_free);
	m->states = g_hash_table_new(g_str_hash, g_str_equal);
	m->specs = specs_new();
	/* Already checked before the run, so errors are ignored. */
	for (guint i = 0; files != NULL && i < files->len; i++)
		specs_load(m->specs, files->pdata[i], &error);
	return m;
}

/* ---- a library's own static data ---- */

/* Data that compilers put into every library: __dso_handle, completed.0. */
#define START_FILES 16

static bool is_section(const Elf64_Shdr *s, const char *names, uint64_t names_size,
                       const char *name)
{
	return s->sh_name < names_size &&
	       strncmp(names + s->sh_name, name, names_size - s->sh_name) == 0;
}

/* The section headers, or NULL. */
static const Elf64_Shdr *sections_of(const char *bytes, uint64_t size)
{
	const Elf64_Ehdr *h = (const void *)bytes;
	if (size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum ||
	    h->e_shoff > size || h->e_shnum * sizeof(Elf64_Shdr) > size - h->e_shoff)
		return NULL;
	return (const void *)(bytes + h->e_shoff);
}

static bool sections_keep_state(const char *bytes, uint64_t size)
{
	static const char *const writable[] = { ".data", ".bss", ".tdata", ".tbss" };
	const Elf64_Ehdr *h = (const void *)bytes;
	const Elf64_Shdr *s = sections_of(bytes, size);
	if (s == NULL)
		return true;
	uint64_t names = s[h->e_shstrndx].sh_offset, names_size = s[h->e_shstrndx].sh_size;
	if (names > size || names_size > size - names || names_size == 0 ||
	    bytes[names + names_size - 1] != 0)
		return true;
	for (unsigned i = 0; i < h->e_shnum; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(writable); k++)
			if (s[i].sh_size > START_FILES &&
			    is_section(&s[i], bytes + names, names_size, writable[k]))
				return true;
	return false;
}

struct mapped {
	char *bytes; /* or NULL */
	uint64_t size;
};

static struct mapped map_file(const char *path)
{
	struct mapped m = { NULL, 0 };
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return m;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		m.size = (uint64_t)status.st_size;
		m.bytes = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m.bytes == MAP_FAILED)
			m.bytes = NULL;
	}
	close(fd);
	return m;
}

static void unmap_file(struct mapped m)
{
	if (m.bytes != NULL)
		munmap(m.bytes, m.size);
}

/* Does the library have writable static data? True if unknown. */
static bool keeps_state(const char *path)
{
	struct mapped m = map_file(path);
	bool keeps = m.bytes == NULL || sections_keep_state(m.bytes, m.size);
	unmap_file(m);
	return keeps;
}

/* The exported function at an address of the file, or NULL. */
static const char *exported_at(struct mapped m, uint64_t address)
{
	const Elf64_Shdr *s = m.bytes ? sections_of(m.bytes, m.size) : NULL;
	const Elf64_Ehdr *h = (const void *)m.bytes;
	for (unsigned i = 0; s != NULL && i < h->e_shnum; i++) {
		if (s[i].sh_type != SHT_DYNSYM || s[i].sh_link >= h->e_shnum)
			continue;
		const Elf64_Shdr *names = &s[s[i].sh_link];
		if (s[i].sh_offset > m.size || s[i].sh_size > m.size - s[i].sh_offset ||
		    names->sh_offset > m.size || names->sh_size > m.size - names->sh_offset)
			continue;
		const Elf64_Sym *symbols = (const void *)(m.bytes + s[i].sh_offset);
		const char *text = m.bytes + names->sh_offset;
		for (uint64_t k = 0; k < s[i].sh_size / sizeof(*symbols); k++)
			if (symbols[k].st_value == address &&
			    symbols[k].st_shndx != SHN_UNDEF &&
			    symbols[k].st_name < names->sh_size &&
			    memchr(text + symbols[k].st_name, 0,
			           names->sh_size - symbols[k].st_name))
				return text + symbols[k].st_name;
	}
	return NULL;
}

static uint32_t token(struct import *im, const char *text)
{
	return builder_value(im->b, V_TOKEN, text, strlen(text));
}

static uint32_t state_of(struct import *im, const struct record_module *m)
{
	gpointer key = m->path, found;
	uint32_t value = NONE;
	if (g_hash_table_lookup_extended(im->missing->states, key, NULL, &found))
		return GPOINTER_TO_UINT(found) - 1;
	if (keeps_state(m->path))
		value = token(im, record_last_component(m->path));
	g_hash_table_insert(im->missing->states, key, GUINT_TO_POINTER(value + 1));
	return value;
}

/* ---- functions ---- */

/* The last `function` line with the name, or NULL. */
static const struct spec_missing_function *line_of(const struct missing_code *m,
                                                   const char *name)
{
	for (guint i = m->specs->missing->len; i-- > 0;) {
		const struct spec_missing *block = m->specs->missing->pdata[i];
		for (guint k = block->functions->len; k-- > 0;) {
			const struct spec_missing_function *f = block->functions->pdata[k];
			if (strcmp(f->name, name) == 0)
				return f;
		}
	}
	return NULL;
}

/* Does a specification say that thread begins and ends of the library reach nothing? */
static bool harmless_threads(const struct missing_code *m, const struct record_module *of)
{
	for (guint i = 0; i < m->specs->missing->len; i++) {
		const struct spec_missing *block = m->specs->missing->pdata[i];
		for (guint k = 0; k < block->threads->len; k++) {
			const char *pattern = block->threads->pdata[k];
			if (fnmatch(pattern,
			            strchr(pattern, '/') ? of->path
			                                 : record_last_component(of->path),
			            0) == 0)
				return true;
		}
	}
	return false;
}

static void describe(struct import *im, struct missing_function *f, const char *name,
                     const struct record_module *m, uint64_t caller)
{
	const struct spec_missing_function *line = line_of(im->missing, name);
	const struct record_module *from = record_module_of(im->facts->modules, caller);
	if (caller == 0 && harmless_threads(im->missing, m)) { /* the program did not call it */
		f->mask = 0;
		f->library = NONE;
		return;
	}
	struct debuginfo *d =
	        from && !im->unnamed ? names_debuginfo(im->names, from->index) : NULL;
	if (line != NULL) { /* the recorder examined the listed arguments */
		for (guint i = 0; i < line->globals->len; i++) {
			uint32_t value = token(im, line->globals->pdata[i]);
			g_array_append_val(f->globals, value);
		}
		return;
	}
	if (d != NULL)
		debuginfo_declared_pointers(d, name, &f->mask);
	f->state = state_of(im, m);
}

/* The C library's debug information is not read: use exported names. */
static bool function_name(struct import *im, const struct record_module *m, uint64_t address,
                          GString *name)
{
	if (!record_is_c_library(m))
		return names_function(im->names, m->index, address, name);
	struct mapped file = map_file(m->path);
	const char *exported = exported_at(file, address);
	g_string_append(name, exported ? exported : "");
	unmap_file(file);
	return exported != NULL;
}

static const struct missing_function *function_at(struct import *im, uint64_t address,
                                                  uint64_t caller)
{
	struct missing_code *missing = missing_of(im);
	struct missing_function *f =
	        g_hash_table_lookup(missing->functions, GSIZE_TO_POINTER(address));
	if (f != NULL)
		return f;
	f = g_new0(struct missing_function, 1);
	*f = (struct missing_function){ .mask = ALL_ARGUMENTS,
		                        .state = NONE,
		                        .globals =
		                                g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_autoptr(GString) name = g_string_new(NULL);
	const struct record_module *m =
	        address ? record_module_of(im->facts->modules, address)
	        : im->facts->modules->len
	                ? &g_array_index(im->facts->modules, struct record_module, 0)
	                : NULL;
	if (address == 0)
		g_string_append(name, "main");
	else if (m == NULL || !function_name(im, m, address - m->bias, name))
		g_string_printf(name, "0x%" PRIx64, m ? address - m->bias : address);
	f->library = NONE;
	if (m != NULL) {
		f->library = token(im, record_last_component(m->path));
		describe(im, f, name->str, m, caller);
		g_string_append_printf(name, "@%s", record_last_component(m->path));
	}
	f->name = builder_string(im->b, name->str, name->len);
	g_hash_table_insert(missing->functions, GSIZE_TO_POINTER(address), f);
	return f;
}

/* ---- events ---- */

static void add_reached(struct import *im, const struct log_reached *r, GArray *values)
{
	uint64_t address = r->place & LOG_ADDRESS_MASK;
	const struct block_life *life = import_life(im, address);
	struct late late = { LATE_PLACE, import_address(im, address), r->bytes };
	if (life != NULL && life->heap && !life->stack && life->block != NONE)
		late = (struct late){ LATE_BLOCK, life->block, 0 };
	uint32_t value = builder_late(im->b, late);
	g_array_append_val(values, value);
}

void import_miss(struct import *im, struct lane *lane, unsigned flags, uint64_t pc,
                 const uint64_t *w)
{
	const struct missing_function *f = function_at(im, w[1], pc ? pc - 1 : 0);
	GArray *values = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const struct log_reached *list = (const void *)(w + 3);
	for (uint64_t i = 0; i < w[2] / sizeof(*list); i++)
		if (list[i].place >> LOG_REACHED_SHIFT & f->mask)
			add_reached(im, &list[i], values);
	uint32_t state = flags & LOG_MISS_CUT ? f->library : f->state;
	if (state != NONE)
		g_array_append_val(values, state);
	g_array_append_vals(values, f->globals->data, f->globals->len);
	im->missing->cut += (flags & LOG_MISS_CUT) != 0;
	im->missing->calls += (flags & LOG_MISS_AGAIN) == 0;
	struct event e = { .op = OP_MISS,
		           .target = f->name,
		           .location = import_location(im, pc),
		           .aux = builder_list(im->b, (const uint32_t *)(void *)values->data,
		                               values->len) };
	g_array_free(values, TRUE);
	if (lane->missing == NULL)
		lane->missing = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (import_event(im, lane, e))
		g_array_append_val(lane->missing, f->name);
}

/* Without effect when --last dropped the call's begin. */
void import_back(struct import *im, struct lane *lane, uint64_t pc)
{
	if (lane->missing == NULL || lane->missing->len == 0)
		return;
	uint32_t name = g_array_index(lane->missing, uint32_t, lane->missing->len - 1);
	g_array_set_size(lane->missing, lane->missing->len - 1);
	import_event(im, lane,
	             (struct event){ .op = OP_BACK,
	                             .target = name,
	                             .location = import_location(im, pc) });
}

void import_missing_end(struct import *im)
{
	char count[32];
	if (im->missing == NULL)
		return;
	snprintf(count, sizeof(count), "%" PRIu64, im->missing->calls);
	builder_note(im->b, "recording-missing", count);
	snprintf(count, sizeof(count), "%" PRIu64, im->missing->cut);
	if (im->missing->cut > 0)
		builder_note(im->b, "recording-missing-cut", count);
	g_hash_table_destroy(im->missing->functions);
	g_hash_table_destroy(im->missing->states);
	specs_free(im->missing->specs);
	g_free(im->missing);
	im->missing = NULL;
}
