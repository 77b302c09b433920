/*
 * spell_files.c - names for files; see spell.h.
 *
 * Names of recordings come from debug information: they may be duplicates, or contain bytes
 * special to the text format. Names for files are made unique and safe once, by index, so that
 * printing only appends strings.
 */
#include "engine/trace/text/spell.h"

#include <string.h>

/* Does an operand with this name end correctly (text_words.c)? Quotes and brackets must
 * balance; `also` must not occur outside. */
static bool reads_back(const char *name, const char *also)
{
	int depth = 0;
	if (!g_utf8_validate(name, -1, NULL))
		return false;
	for (const char *c = name; *c; c++) {
		if (*c == '\n' || *c == '\r')
			return false;
		if (depth == 0 && strchr(also, *c))
			return false;
		if (*c == '"') {
			for (c++; *c && *c != '"'; c++)
				if (*c == '\\' && c[1])
					c++;
			if (*c == '\0')
				return false;
		} else if (*c == '(' || *c == '[') {
			depth++;
		} else if (*c == ')' || *c == ']') {
			if (depth-- == 0)
				return false;
		}
	}
	return depth == 0;
}

/* A similar name that reads back. */
static char *harmless(const char *name)
{
	char *copy = g_utf8_make_valid(name, -1);
	for (char *c = copy; *c; c++)
		if (strchr("\n\r|()[]\",", *c))
			*c = '_';
	return copy;
}

static void respell(struct spelling *s, enum spelt kind, uint32_t index, char *name)
{
	if (s->other[kind] == NULL)
		s->other[kind] = g_new0(char *, s->counts[kind] + 1);
	g_free(s->other[kind][index]);
	s->other[kind][index] = name;
}

/* Position of a "+12" at the end of a name, else the end. */
static size_t offset_at(const char *name)
{
	size_t length = strlen(name), from = length;
	while (from > 0 && g_ascii_isdigit(name[from - 1]))
		from--;
	return from < length && from > 1 && name[from - 1] == '+' ? from - 1 : length;
}

/* A variant of the name that is not in `used` (name -> owner); added to it. */
static char *unused(GHashTable *used, const char *name)
{
	size_t at = offset_at(name);
	char *candidate = g_strdup(name);
	for (unsigned i = 2; g_hash_table_contains(used, candidate); i++) {
		g_free(candidate);
		candidate = g_strdup_printf("%.*s#%u%s", (int)at, name, i, name + at);
	}
	g_hash_table_add(used, g_strdup(candidate));
	return candidate;
}

/* Make names unique and readable; `also` must not occur in them. */
static void settle_kind(struct spelling *s, enum spelt kind, const char *also, bool unique)
{
	g_autoptr(GHashTable) used =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t i = 0; i < s->counts[kind]; i++) {
		const char *name = spell_own_name(s->t, kind, i);
		char *better = reads_back(name, also) ? NULL : harmless(name);
		if (unique && (*name || kind == SPELT_VARIABLE)) {
			char *own = unused(used, better ? better : name);
			g_free(better);
			better = own;
		}
		if (better && strcmp(better, name) != 0)
			respell(s, kind, i, better);
		else
			g_free(better);
	}
}

static bool is_recording(const struct trace *t)
{
	if (t->modules_count)
		return true;
	for (uint64_t i = 0; i < t->blocks_count; i++)
		if (t->blocks[i].address)
			return true;
	return false;
}

/* Variables covered together by some access: linked[v] for v and v + 1. */
static bool *link_variables(const struct trace *t)
{
	bool *linked = g_new0(bool, t->variables_count + 1);
	for (uint64_t i = 0; i < t->wides_count; i++)
		for (uint32_t v = 0; v + 1 < t->wides[i].count; v++)
			linked[t->wides[i].first + v] = true;
	return linked;
}

/* A recorded variable in a block is written as part of the block. */
static char *in_block(const struct spelling *s, uint32_t variable)
{
	uint32_t within = s->t->variables[variable].block;
	const char *name = trace_variable_name(s->t, variable);
	const char *plain = trace_string(s->t, s->t->blocks[within].name);
	const char *block = spell_name(s, SPELT_BLOCK, within);
	size_t length = strlen(plain);
	if (strncmp(name, plain, length) == 0 && strchr("+.[", name[length]))
		return g_strconcat(block, name + length, NULL);
	/* The reader finds job->arg and jobs[3] in the blocks *job and *jobs. */
	if (*plain == '*' && *block == '*' && strncmp(name, plain + 1, length - 1) == 0 &&
	    (name[length - 1] == '[' || strncmp(name + length - 1, "->", 2) == 0))
		return g_strconcat(block + 1, name + length - 1, NULL);
	return g_strconcat(block, ".", name, NULL);
}

/* Does the name up to `end` equal a block's name, or that of a block *name? */
static bool clashes(GHashTable *blocks, const char *name, size_t end)
{
	bool part = name[end] == '[' || strncmp(name + end, "->", 2) == 0;
	g_autofree char *pointed = g_strdup_printf("*%.*s", (int)end, name);
	return (part && g_hash_table_contains(blocks, pointed)) ||
	       (name[end] != '-' && g_hash_table_contains(blocks, pointed + 1));
}

/* A recorded variable outside blocks must not look like part of one. */
static char *outside_blocks(const char *name, GHashTable *blocks)
{
	size_t length = strlen(name);
	for (size_t end = length; end > 0; end--) {
		if (end < length && !strchr("+.[-", name[end]))
			continue;
		if (clashes(blocks, name, end))
			return g_strconcat("_", name, NULL);
	}
	return g_strdup(name);
}

static char *with_offset(const char *base, size_t length, uint64_t offset)
{
	if (offset == 0)
		return g_strndup(base, length);
	return g_strdup_printf("%.*s+%" G_GUINT64_FORMAT, (int)length, base, offset);
}

/* The remaining variables of a cluster: offsets from the first. */
static void spell_cluster(struct spelling *s, uint32_t first, uint32_t end)
{
	const struct trace *t = s->t;
	g_autofree char *base = g_strdup(spell_name(s, SPELT_VARIABLE, first));
	size_t length = offset_at(base);
	uint64_t from = base[length] ? g_ascii_strtoull(base + length + 1, NULL, 10) : 0;
	for (uint32_t v = first + 1; v < end; v++) {
		uint64_t offset = from + t->variables[v].address - t->variables[first].address;
		respell(s, SPELT_VARIABLE, v, with_offset(base, length, offset));
	}
}

static GHashTable *block_names(const struct spelling *s)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t i = 0; i < s->t->blocks_count; i++)
		g_hash_table_add(names, g_strdup(spell_name(s, SPELT_BLOCK, i)));
	return names;
}

static void settle_recorded_variables(struct spelling *s, const bool *linked)
{
	const struct trace *t = s->t;
	g_autoptr(GHashTable) used =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) blocks = block_names(s);
	for (uint32_t v = 0, end; v < t->variables_count; v = end) {
		for (end = v + 1; linked[end - 1]; end++)
			;
		g_autofree char *name =
		        t->variables[v].block == NONE
		                ? outside_blocks(trace_variable_name(t, v), blocks)
		                : in_block(s, v);
		g_autofree char *safe = reads_back(name, "") ? g_strdup(name) : harmless(name);
		respell(s, SPELT_VARIABLE, v, unused(used, safe));
		spell_cluster(s, v, end);
		for (uint32_t i = v + 1; i < end; i++)
			g_hash_table_add(used, g_strdup(spell_name(s, SPELT_VARIABLE, i)));
	}
}

/* The new spelling of `text`, if a missing call may reach it. */
static void respell_token(struct spelling *s, const char *text, enum spelt kind, uint32_t index)
{
	gpointer key, other;
	if (g_hash_table_lookup_extended(s->tokens, text, &key, &other) && other == NULL)
		g_hash_table_insert(s->tokens, key, g_strdup(spell_name(s, kind, index)));
}

/* Data reachable by missing calls is named like blocks, variables and objects, and written like
 * these. */
static void settle_tokens(struct spelling *s)
{
	const struct trace *t = s->t;
	static const enum spelt kinds[] = { SPELT_BLOCK, SPELT_VARIABLE, SPELT_OBJECT };
	s->tokens = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	for (uint64_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op != OP_MISS)
			continue;
		const struct value list = trace_value(t, t->events[e].aux);
		for (uint32_t i = 0; list.kind == V_LIST && i < list.count; i++) {
			const struct value v = trace_value(t, t->value_lists[list.first + i]);
			if (v.kind == V_TOKEN)
				g_hash_table_insert(s->tokens,
				                    (gpointer)trace_string(t, v.string), NULL);
		}
	}
	for (size_t k = 0; g_hash_table_size(s->tokens) && k < G_N_ELEMENTS(kinds); k++)
		for (uint64_t i = 0; i < s->counts[kinds[k]]; i++)
			respell_token(s, spell_own_name(t, kinds[k], i), kinds[k], i);
	GHashTableIter iter;
	gpointer key, other;
	g_hash_table_iter_init(&iter, s->tokens);
	while (g_hash_table_iter_next(&iter, &key, &other))
		if (other == NULL)
			g_hash_table_iter_replace(&iter, reads_back(key, ",") ? g_strdup(key)
			                                                      : harmless(key));
}

/* Names of text traces are valid, except for parts of accesses of mixed sizes. */
static void settle_text_variables(struct spelling *s, const bool *linked)
{
	const struct trace *t = s->t;
	for (uint32_t v = 0, end; v < t->variables_count; v = end) {
		for (end = v + 1; linked[end - 1]; end++)
			;
		if (end == v + 1)
			continue;
		/* Unchecked: it is used nowhere else. */
		uint32_t string = t->variables[v].base;
		const char *base = string < s->counts[SPELT_NAME] ? trace_string(t, string)
		                                                  : trace_variable_name(t, v);
		for (uint32_t i = v; i < end; i++) {
			const char *own = trace_variable_name(t, i);
			size_t length = strlen(base);
			/* "q+0" is kept, for equal names in reports. */
			bool zero = t->variables[i].address == 0 &&
			            strncmp(own, base, length) == 0 &&
			            strcmp(own + length, "+0") == 0;
			respell(s, SPELT_VARIABLE, i,
			        zero ? g_strdup(own)
			             : with_offset(base, length, t->variables[i].address));
		}
	}
}

void spelling_for_files(struct spelling *s, const struct trace *t)
{
	memset(s, 0, sizeof *s);
	s->t = t;
	s->raw = true;
	s->counts[SPELT_THREAD] = t->threads_count;
	s->counts[SPELT_VARIABLE] = t->variables_count;
	s->counts[SPELT_OBJECT] = t->objects_count;
	s->counts[SPELT_MESSAGE] = t->messages_count;
	s->counts[SPELT_BLOCK] = t->blocks_count;
	s->counts[SPELT_INSTANCE] = t->instances_count;
	s->counts[SPELT_LOCATION] = t->locations_count;
	s->counts[SPELT_NAME] = t->string_offsets_count ? t->string_offsets_count - 1 : 0;
	bool recorded = is_recording(t);
	if (recorded) {
		settle_kind(s, SPELT_THREAD, "|", true);
		settle_kind(s, SPELT_OBJECT, "", true);
		settle_kind(s, SPELT_MESSAGE, "", true);
		settle_kind(s, SPELT_BLOCK, ",", true);
		settle_kind(s, SPELT_INSTANCE, ",", true);
		settle_kind(s, SPELT_LOCATION, "|", false);
		settle_kind(s, SPELT_NAME, ",", false);
	}
	if (!recorded && t->wides_count == 0)
		return;
	bool *linked = link_variables(t);
	if (recorded)
		settle_recorded_variables(s, linked);
	else
		settle_text_variables(s, linked);
	g_free(linked);
	if (recorded)
		settle_tokens(s);
}

void spelling_part_lives(struct spelling *s)
{
	if (s->t->blocks_count == 0)
		return;
	g_autoptr(GHashTable) used =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t v = 0; v < s->counts[SPELT_VARIABLE]; v++)
		respell(s, SPELT_VARIABLE, v, unused(used, spell_name(s, SPELT_VARIABLE, v)));
}

void spelling_release(struct spelling *s)
{
	for (int kind = 0; kind < SPELT_KINDS; kind++) {
		if (s->other[kind] == NULL)
			continue;
		for (uint64_t i = 0; i < s->counts[kind]; i++)
			g_free(s->other[kind][i]);
		g_free(s->other[kind]);
	}
	if (s->tokens)
		g_hash_table_destroy(s->tokens);
}
