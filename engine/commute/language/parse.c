/*
 * parse.c - parses a specification file into its declarations, and merges them with those
 * parsed before. Language: docs/specifications.md; result: spec.h.
 */
#include "engine/commute/language/parse.h"

#include <string.h>

static const struct {
	const char *word;
	bool (*parse)(struct parser *p, struct specs *into);
} declarations[] = {
	{ "object", parse_object },
	{ "atomics", parse_atomics },
	{ "missing", parse_missing },
};

static bool parse_declaration(struct parser *p, struct specs *into)
{
	parse_inside(p, "no declaration");
	for (size_t i = 0; i < G_N_ELEMENTS(declarations); i++)
		if (parse_accept_word(p, declarations[i].word))
			return declarations[i].parse(p, into);
	return parse_expected(p, "'object', 'atomics' or 'missing'");
}

static bool parse_declarations(struct parser *p, struct specs *into)
{
	while (!parse_is(p, TOKEN_END))
		if (!parse_declaration(p, into))
			return false;
	return true;
}

/* Is the first word of a line that of a declaration? */
static bool line_declares(const char *line)
{
	line += strspn(line, " \t");
	size_t length = strspn(line, G_CSET_a_2_z);
	for (size_t i = 0; i < G_N_ELEMENTS(declarations); i++)
		if (strlen(declarations[i].word) == length &&
		    strncmp(line, declarations[i].word, length) == 0)
			return !g_ascii_isalnum(line[length]) && line[length] != '_';
	return false;
}

bool specs_declare(const char *source)
{
	for (const char *line = source; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line_declares(line))
			return true;
	}
	return false;
}

/* Later declarations replace earlier ones of the same name. */
#define MERGE(into, from, type) \
	while ((from)->len > 0) { \
		struct type *new = g_ptr_array_steal_index(from, 0); \
		guint at = 0; \
		while (at < (into)->len && \
		       strcmp(((struct type *)(into)->pdata[at])->name, new->name) != 0) \
			at++; \
		if (at < (into)->len) \
			g_ptr_array_remove_index(into, at); \
		g_ptr_array_add(into, new); \
	}

static void merge(struct specs *s, struct specs *from)
{
	MERGE(s->objects, from->objects, spec_object);
	MERGE(s->atomics, from->atomics, spec_atomics);
	/* A missing block has no name: the blocks of a file replace those of an earlier parse
	 * of it. */
	for (guint i = 0; i < from->missing->len; i++) {
		const struct spec_missing *new = from->missing->pdata[i];
		for (guint k = s->missing->len; k > 0; k--)
			if (strcmp(((struct spec_missing *)s->missing->pdata[k - 1])->file,
			           new->file) == 0)
				g_ptr_array_remove_index(s->missing, k - 1);
	}
	while (from->missing->len > 0)
		g_ptr_array_add(s->missing, g_ptr_array_steal_index(from->missing, 0));
}

bool specs_parse(struct specs *s, const char *file, const char *source, size_t length,
                 struct error *error)
{
	g_autoptr(GArray) tokens = lex(file, source, length, error);
	if (tokens == NULL)
		return false;
	struct parser p = { .file = file,
		            .at = &g_array_index(tokens, struct token, 0),
		            .error = error };
	struct specs *new = specs_new();
	bool ok = parse_declarations(&p, new);
	if (ok)
		merge(s, new);
	specs_free(new);
	g_free(p.inside);
	return ok;
}
