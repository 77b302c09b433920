/*
 * namer.c - the namer: the callbacks of builder_namer, which the files name*.c share out; its
 * beginning and end.
 */
#include "engine/record/names/name_private.h"

#include <stdio.h>

/* --- the namer ---------------------------------------------------------------------- */

static void name_begin(void *context, const struct trace *partial, struct clue_list clues)
{
	struct names *n = context;
	if (n->trace != NULL)
		return;
	n->clues = clues;
	names_begin(n, partial);
}

static void name_block(void *context, struct builder *b, struct block *block, GString *name)
{
	struct names *n = context;
	size_t index = n->trace ? (size_t)(block - n->trace->blocks) : SIZE_MAX;
	if (n->trace == NULL || index >= n->trace->blocks_count ||
	    names_is_stack(n->trace, (uint32_t)index))
		return;
	names_append_block(n, (uint32_t)index, name);
	GString *type = g_string_new(NULL);
	names_append_block_type(n, (uint32_t)index, type);
	if (type->len > 0)
		block->type = builder_string(b, type->str, type->len);
	g_string_free(type, TRUE);
}

void names_of_few(struct names *n)
{
	n->few = true;
}

struct names *names_new(const char *folder, struct debug_store *store)
{
	struct names *n = g_new0(struct names, 1);
	n->store = store;
	n->folder = g_strdup(folder);
	n->modules = g_array_new(FALSE, FALSE, sizeof(struct name_module));
	g_array_set_clear_func(n->modules, names_clear_module);
	n->threads = g_array_new(FALSE, TRUE, sizeof(struct name_thread));
	n->warnings = g_ptr_array_new_with_free_func(g_free);
	n->unseen = g_ptr_array_new_with_free_func(g_free);
	n->first_function = g_string_new(NULL);
	n->form = g_string_new(NULL);
	n->last_form = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(n->patterns); i++)
		n->patterns[i] = g_string_new(NULL);
	n->forms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	n->short_files = g_hash_table_new(g_str_hash, g_str_equal);
	n->variable_names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	n->taken_names = g_hash_table_new(g_str_hash, g_str_equal);
	n->variables_taken.numbers =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	n->objects_taken.numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	n->namer = (struct namer){ .context = n,
		                   .local = names_local,
		                   .used = names_used,
		                   .begin = name_begin,
		                   .variables = names_variables,
		                   .location = names_locate,
		                   .object = names_object,
		                   .block = name_block,
		                   .forms = names_forms,
		                   .late = names_late };
	return n;
}

void names_free(struct names *n)
{
	if (n == NULL)
		return;
	names_end_blocks(n);
	names_end_frames(n);
	names_end_late(n);
	g_array_unref(n->modules);
	g_array_unref(n->threads);
	g_ptr_array_unref(n->warnings);
	g_ptr_array_unref(n->unseen);
	g_hash_table_unref(n->short_files);
	g_hash_table_unref(n->taken_names);
	g_hash_table_unref(n->variables_taken.numbers);
	g_hash_table_unref(n->objects_taken.numbers);
	g_hash_table_unref(n->variable_names);
	g_hash_table_unref(n->forms);
	g_string_free(n->first_function, TRUE);
	g_string_free(n->form, TRUE);
	g_string_free(n->last_form, TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(n->patterns); i++)
		g_string_free(n->patterns[i], TRUE);
	g_free(n->variables_taken.slots);
	g_free(n->objects_taken.slots);
	g_free(n->first_location);
	if (n->channels)
		g_hash_table_unref(n->channels);
	g_free(n->by_address);
	g_free(n->stack_tops);
	g_free(n->folder);
	g_free(n);
}

const struct namer *names_namer(struct names *n)
{
	return &n->namer;
}

const GPtrArray *names_warnings(const struct names *n)
{
	return n->warnings;
}
