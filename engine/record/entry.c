/* entry.c - see entry.h. */
#include "engine/record/entry.h"

#include <elf.h>
#include <string.h>

#include "debuginfo/debuginfo.h"

struct program {
	char *path;
	GMappedFile *file;
	struct debuginfo *info;
};

struct program *program_open(const char *path, struct error *error)
{
	GError *g = NULL;
	struct program *p = g_new0(struct program, 1);
	p->path = g_strdup(path);
	p->info = debuginfo_open(path, NULL, error);
	p->file = p->info ? g_mapped_file_new(path, FALSE, &g) : NULL;
	if (p->file)
		return p;
	if (g) {
		error_set(error, path, NULL, "cannot read it: %s", g->message);
		g_error_free(g);
	}
	program_close(p);
	return NULL;
}

void program_close(struct program *p)
{
	if (p == NULL)
		return;
	debuginfo_close(p->info);
	if (p->file)
		g_mapped_file_unref(p->file);
	g_free(p->path);
	g_free(p);
}

bool program_names(const struct program *p, const char *name)
{
	const char *file = g_mapped_file_get_contents(p->file);
	size_t length = g_mapped_file_get_length(p->file), size = strlen(name) + 1;
	const char *at = memmem(file, length, name, size);

	while (at != NULL && at > file && at[-1] != '\0')
		at = memmem(at + 1, length - (size_t)(at + 1 - file), name, size);
	return at != NULL;
}

/* The file's bytes for addresses [address, address + size), or NULL. */
static const uint8_t *bytes_at(const struct program *p, uint64_t address, uint64_t size)
{
	const char *file = g_mapped_file_get_contents(p->file);
	uint64_t length = g_mapped_file_get_length(p->file);
	const Elf64_Ehdr *h = (const void *)file;
	if (length < sizeof *h || h->e_phoff > length ||
	    h->e_phnum * sizeof(Elf64_Phdr) > length - h->e_phoff)
		return NULL;
	const Elf64_Phdr *segments = (const void *)(file + h->e_phoff);
	for (int i = 0; i < h->e_phnum; i++) {
		const Elf64_Phdr *s = &segments[i];
		if (s->p_type == PT_LOAD && address >= s->p_vaddr && size <= s->p_filesz &&
		    address - s->p_vaddr <= s->p_filesz - size && s->p_offset <= length &&
		    s->p_filesz <= length - s->p_offset)
			return (const uint8_t *)file + s->p_offset + (address - s->p_vaddr);
	}
	return NULL;
}

/* The nops of -fpatchable-function-entry=5: five short (gcc), one long (clang). */
static bool does_nothing(const uint8_t *code)
{
	static const uint8_t gcc[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const uint8_t clang[] = { 0x0f, 0x1f, 0x44, 0x00 };
	return memcmp(code, gcc, sizeof gcc) == 0 || memcmp(code, clang, sizeof clang) == 0;
}

bool program_entry(struct program *p, const char *function, uint64_t *address,
                   struct error *error)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const char keep[] = "declare it __attribute__((noipa)) "
	                           "(clang: noinline), or build without optimisation";
	struct debug_entries e = debuginfo_entries(p->info, function);
	*address = e.address;
	if (e.special != NULL)
		return error_set(error, function, keep,
		                 "some of its calls in %s go to a copy that the compiler made "
		                 "for them (%s), which a bind line does not reach",
		                 p->path, e.special);
	if (e.inlined > 0)
		return error_set(error, function, keep,
		                 "%u of its calls in %s are inlined, which a bind line does "
		                 "not reach",
		                 e.inlined, p->path);
	if (e.rewritten)
		return error_set(error, function, "leave out static, or compile it with gcc",
		                 "it is static in %s, and clang may pass such functions other "
		                 "values than their prototype says",
		                 p->path);
	if (e.count > 1)
		return error_set(error, function, "give them names of their own",
		                 "%s has %u functions of this name", p->path, e.count);
	if (e.count == 0)
		return true;
	const uint8_t *code = bytes_at(p, e.address, 9);
	if (code != NULL && memcmp(code, endbr64, sizeof endbr64) == 0) {
		*address += sizeof endbr64;
		code += sizeof endbr64;
	}
	if (code == NULL || !does_nothing(code))
		return error_set(
		        error, function, "build the file that it is in with 'heddle cc'",
		        "its entry in %s has no room for a jump to its recorder", p->path);
	return true;
}
