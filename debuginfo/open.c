/*
 * open.c - opens and closes debug information, and caches it (struct debug_store).
 */
#include "debuginfo/private.h"

#include <string.h>

static struct debuginfo *debuginfo_new(const char *path)
{
	struct debuginfo *d = g_new0(struct debuginfo, 1);
	d->path = g_strdup(path);
	d->strings = g_string_chunk_new(1 << 16);
	d->files = g_array_new(FALSE, FALSE, sizeof(struct file_name));
	d->lines = g_array_new(FALSE, FALSE, sizeof(struct line_row));
	d->scopes = g_array_new(FALSE, FALSE, sizeof(struct code_scope));
	d->ranges = g_array_new(FALSE, FALSE, sizeof(struct scope_range));
	d->segments = g_array_new(FALSE, FALSE, sizeof(struct scope_segment));
	d->functions = g_array_new(FALSE, FALSE, sizeof(struct function_record));
	d->locals = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
	d->slots = g_array_new(FALSE, FALSE, sizeof(struct frame_slot));
	d->types = g_array_new(FALSE, FALSE, sizeof(struct type_record));
	d->members = g_array_new(FALSE, FALSE, sizeof(struct debug_member));
	d->variables = g_array_new(FALSE, FALSE, sizeof(struct debug_variable));
	d->code_symbols = g_array_new(FALSE, FALSE, sizeof(struct elf_symbol));
	d->data_symbols = g_array_new(FALSE, FALSE, sizeof(struct elf_symbol));
	d->taken = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	d->types_by_name = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	d->functions_by_name = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	return d;
}

void debuginfo_close(struct debuginfo *d)
{
	if (d == NULL)
		return;
	debuginfo_release_image(d);
	GArray *arrays[] = {
		d->files,    d->lines,     d->scopes,        d->ranges,
		d->segments, d->functions, d->locals,        d->types,
		d->members,  d->variables, d->code_symbols,  d->data_symbols,
		d->slots,    d->taken,     d->types_by_name, d->functions_by_name
	};
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (arrays[i])
			g_array_unref(arrays[i]);
	g_string_chunk_free(d->strings);
	g_free(d->damage);
	g_free(d->key);
	g_free(d->path);
	g_free(d);
}

struct debuginfo *debuginfo_open_here(const char *path, struct error *error)
{
	struct debuginfo *d = debuginfo_new(path);
	if (!debuginfo_read_here(d, READ_DWARF, error)) {
		debuginfo_close(d);
		return NULL;
	}
	debuginfo_index(d);
	return d;
}

static struct debuginfo *open_as(const char *path, const char *build_id, enum reading most,
                                 struct error *error)
{
	struct debuginfo *d = debuginfo_new(path);
	if (!debuginfo_read_guarded(d, most, error)) {
		debuginfo_close(d);
		return NULL;
	}
	if (build_id != NULL && build_id[0] != '\0' &&
	    strcmp(build_id, d->links.build_id) != 0) {
		error_set(error, place_line(path, 0).text,
		          "give the recorded program's place with --exe, or record again",
		          "the build with id %s was expected, this is %s", build_id,
		          d->links.build_id[0] ? d->links.build_id : "one without an id");
		debuginfo_close(d);
		return NULL;
	}
	return d;
}

struct debuginfo *debuginfo_open(const char *path, const char *build_id, struct error *error)
{
	return open_as(path, build_id, READ_NAMES, error);
}

struct debuginfo *debuginfo_open_symbols(const char *path, const char *build_id)
{
	return open_as(path, build_id, READ_SYMBOLS, NULL);
}

struct debug_store {
	GHashTable *modules; /* "BUILD-ID PATH", owned -> struct debuginfo *, owned */
};

static void close_module(gpointer d)
{
	debuginfo_close(d);
}

struct debug_store *debug_store_new(void)
{
	struct debug_store *s = g_new(struct debug_store, 1);
	s->modules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_module);
	return s;
}

void debug_store_free(struct debug_store *s)
{
	if (s == NULL)
		return;
	g_hash_table_unref(s->modules);
	g_free(s);
}

struct debuginfo *debug_store_open(struct debug_store *s, const char *path,
                                   const char *build_id, struct error *error)
{
	g_autofree char *key = g_strdup_printf("%s %s", build_id ? build_id : "", path);
	struct debuginfo *d = g_hash_table_lookup(s->modules, key);
	if (d == NULL && (d = debuginfo_open(path, build_id, error)) != NULL)
		g_hash_table_insert(s->modules, g_steal_pointer(&key), d);
	return d;
}

bool debuginfo_has_dwarf(const struct debuginfo *d)
{
	return d->has_dwarf;
}

enum debug_reads debuginfo_reads(const struct debuginfo *d)
{
	return d->reads;
}

const char *debuginfo_build_id(const struct debuginfo *d)
{
	return d->links.build_id;
}

const char *debuginfo_damage(const struct debuginfo *d)
{
	return d->damage;
}
