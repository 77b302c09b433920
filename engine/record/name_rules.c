/*
 * name_rules.c - the spellings of variables. Those in blocks of the heap are spelt by a rule
 * (struct name_rule), when they are asked for; the others, and those whose name another
 * variable might have, have their name.
 *
 * Two variables may not share a name: the text format would make them one. A name without the
 * digits behind '[', '+' and '#' is its class. The names of one rule in the blocks of one
 * pointer have one class, and are distinct: their digits are the block's number and the place
 * in it. So only names of a class with more than one such origin are compared with each other.
 */
#include "engine/record/name_private.h"

#include <string.h>

struct name_class {
	const char *pointer; /* of the first origin; NULL: outside of the heap */
	uint32_t rule;
	bool shared; /* it has names of another origin, too */
};

struct rule_use { /* an origin */
	const char *pointer;
	uint32_t rule;
};

struct spelling_names {
	struct names *n;
	struct builder *b;
	struct variable *variables;
	GHashTable *rules;   /* text of a rule -> its index + 1; owned */
	GHashTable *uses;    /* struct rule_use, owned -> struct name_class, borrowed */
	GHashTable *classes; /* text -> struct name_class; owned */
	bool any_shared;
	GString *name, *text; /* for a moment */
	GString *last_text;   /* the class of the last name outside of the heap */
	const struct name_class *last_class;
};

static void append_class(const char *name, GString *text)
{
	for (const char *c = name; *c != '\0';) {
		size_t run = strcspn(c, "[+#");
		g_string_append_len(text, c, (gssize)(run + (c[run] == '[' || c[run] == '+')));
		c += run;
		c += *c != '\0';
		while (g_ascii_isdigit(*c))
			c++;
	}
}

static guint hash_use(gconstpointer of)
{
	const struct rule_use *u = of;
	return g_direct_hash(u->pointer) * 31 + u->rule;
}

static gboolean same_use(gconstpointer a, gconstpointer b)
{
	const struct rule_use *x = a, *y = b;
	return x->pointer == y->pointer && x->rule == y->rule;
}

/* --- rules ---------------------------------------------------------------------------- */

/* The path of a member of a block's one element: job->arg, *job+3, job[2]. */
static struct name_rule rule_of(const struct place_in_block *p, GString *path, GString *rest)
{
	struct name_rule rule = { .each = (uint32_t)p->each };
	const struct kept_part *part = p->part;
	g_string_truncate(rest, 0);
	if (part == NULL) {
		g_string_assign(path, "+");
		rule.step = 1;
		return rule;
	}
	const char *text = part->path;
	size_t from = 0;
	g_string_truncate(path, 0);
	if (p->each == 0 && text[0] == '.') {
		g_string_assign(path, "->");
		from = 1;
	} else if (p->each == 0 && text[0] != '[') {
		rule.starred = 1;
	}
	if (part->count.each == 0) {
		g_string_append(path, text + from);
		return rule;
	}
	g_string_append_len(path, text + from, (gssize)(part->count.from - from));
	g_string_assign(rest, text + part->count.to);
	rule.base = (uint32_t)part->count.offset;
	rule.step = (uint32_t)part->count.each;
	return rule;
}

/* The numbers of a rule have 32 bits. */
static bool has_rule(const struct place_in_block *p)
{
	return p->each <= UINT32_MAX &&
	       (p->part == NULL ||
	        (p->part->count.each <= UINT32_MAX && p->part->count.offset <= UINT32_MAX)) &&
	       g_utf8_validate(p->pointer, -1, NULL); /* the block's name has it as it is */
}

static uint32_t rule_for(struct spelling_names *s, const struct place_in_block *p)
{
	g_autoptr(GString) path = g_string_new(NULL);
	g_autoptr(GString) rest = g_string_new(NULL);
	struct name_rule rule = rule_of(p, path, rest);
	g_string_printf(s->text, "%u %u %u %u %s\n%s", rule.each, rule.base, rule.step,
	                rule.starred, path->str, rest->str);
	gpointer known = g_hash_table_lookup(s->rules, s->text->str);
	if (known != NULL)
		return NAME_BY_RULE | (GPOINTER_TO_UINT(known) - 1);
	uint32_t spelling = builder_name_rule(s->b, rule, path->str, rest->str);
	g_hash_table_insert(s->rules, g_strdup(s->text->str),
	                    GUINT_TO_POINTER((spelling & ~NAME_BY_RULE) + 1));
	return spelling;
}

/* --- classes -------------------------------------------------------------------------- */

/* A name of this origin is in the class `s->text`. */
static struct name_class *class_of(struct spelling_names *s, const char *pointer, uint32_t rule)
{
	struct name_class *class = g_hash_table_lookup(s->classes, s->text->str);
	if (class == NULL) {
		class = g_new(struct name_class, 1);
		*class = (struct name_class){ .pointer = pointer, .rule = rule };
		g_hash_table_insert(s->classes, g_strdup(s->text->str), class);
	} else if (class->pointer != pointer || class->rule != rule) {
		class->shared = s->any_shared = true;
	}
	return class;
}

static void note_use(struct spelling_names *s, uint32_t variable, const char *pointer,
                     uint32_t rule)
{
	const struct variable *v = &s->variables[variable];
	struct rule_use use = { pointer, rule };
	g_string_truncate(s->name, 0);
	names_append_in_block(s->n, v->block, v->address, v->size, s->name);
	names_keep_form(s->n, s->name);
	if (g_hash_table_contains(s->uses, &use))
		return;
	g_string_truncate(s->text, 0);
	append_class(s->name->str, s->text);
	struct name_class *class = class_of(s, pointer, rule);
	g_hash_table_insert(s->uses, g_memdup2(&use, sizeof use), class);
}

/* --- variables ------------------------------------------------------------------------ */

static bool in_heap(const struct spelling_names *s, uint32_t variable)
{
	uint32_t block = s->variables[variable].block;
	return block != NONE && !names_is_stack(s->n->trace, block);
}

static void spell_in_heap(struct spelling_names *s, uint64_t count)
{
	struct rule_of_part untyped = { .rule = 0 };
	for (uint32_t i = 0; i < count; i++) {
		struct variable *v = &s->variables[i];
		if (!in_heap(s, i))
			continue;
		struct place_in_block p =
		        names_place_in_block(s->n, v->block, v->address, v->size);
		struct rule_of_part *of = p.part ? &p.part->rules[p.each == 0] : &untyped;
		if (of->noted != p.pointer && !has_rule(&p))
			continue;
		if (of->rule == 0)
			of->rule = rule_for(s, &p);
		v->spelling = of->rule;
		if (of->noted != p.pointer)
			note_use(s, i, p.pointer, of->rule);
		of->noted = p.pointer;
	}
}

static void append_name(struct spelling_names *s, uint32_t variable)
{
	const struct variable *v = &s->variables[variable];
	g_string_truncate(s->name, 0);
	if (in_heap(s, variable))
		names_append_in_block(s->n, v->block, v->address, v->size, s->name);
	else
		names_append_elsewhere(s->n, variable, s->name);
	names_keep_form(s->n, s->name);
}

/* May the name at hand, which is no rule's, be one of a rule? */
static bool may_be_of_rule(struct spelling_names *s)
{
	if (g_hash_table_size(s->uses) == 0)
		return false;
	g_string_truncate(s->text, 0);
	append_class(s->name->str, s->text);
	if (s->last_class == NULL || !g_string_equal(s->text, s->last_text)) {
		s->last_class = class_of(s, NULL, 0);
		g_string_assign(s->last_text, s->text->str);
	}
	return s->last_class->pointer != NULL;
}

/* The names of other origins; those that a rule's name may equal stay NONE for now. */
static void spell_others(struct spelling_names *s, uint64_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (s->variables[i].spelling != NONE)
			continue;
		append_name(s, i);
		if (may_be_of_rule(s))
			continue;
		names_make_unique(s->n, s->name);
		s->variables[i].spelling = builder_spelling(s->b, s->name);
	}
}

static bool is_doubtful(const struct spelling_names *s, const struct variable *v)
{
	if (v->spelling == NONE)
		return true;
	if (!(v->spelling & NAME_BY_RULE))
		return false;
	struct rule_use use = { names_block_pointer(s->n, v->block), v->spelling };
	const struct name_class *class = g_hash_table_lookup(s->uses, &use);
	return class->shared;
}

/* Compares the names of classes with several origins. */
static void spell_doubtful(struct spelling_names *s, uint64_t count)
{
	for (uint32_t i = 0; i < count && s->any_shared; i++) {
		struct variable *v = &s->variables[i];
		if (!is_doubtful(s, v))
			continue;
		append_name(s, i);
		gsize length = s->name->len;
		names_make_unique(s->n, s->name);
		if (v->spelling == NONE || s->name->len != length)
			v->spelling = builder_spelling(s->b, s->name);
	}
}

void names_variables(void *context, struct builder *b, const struct trace *partial,
                     struct variable *variables)
{
	struct spelling_names s = {
		.n = context,
		.b = b,
		.variables = variables,
		.rules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.uses = g_hash_table_new_full(hash_use, same_use, g_free, NULL),
		.classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		.name = g_string_new(NULL),
		.text = g_string_new(NULL),
		.last_text = g_string_new(NULL),
	};
	spell_in_heap(&s, partial->variables_count);
	spell_others(&s, partial->variables_count);
	spell_doubtful(&s, partial->variables_count);
	g_hash_table_unref(s.rules);
	g_hash_table_unref(s.uses);
	g_hash_table_unref(s.classes);
	g_string_free(s.name, TRUE);
	g_string_free(s.text, TRUE);
	g_string_free(s.last_text, TRUE);
}
