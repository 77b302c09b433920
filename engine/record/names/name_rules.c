/*
 * name_rules.c - the spellings of variables. Those in blocks of the heap are spelt by a rule
 * (struct name_rule), when they are asked for; the others, and those whose name another
 * variable might have, have their name.
 *
 * Two variables may not share a name: the text format would make them one. A name without the
 * digits behind '[', '+' and '#' is its class; names that are an address have one class. The
 * names of one rule in the blocks of one pointer have one class, and are distinct: their digits
 * are the block's number and the place in it. So are those of rules that differ in a constant
 * distance alone (a family). So only names of a class with more than one such origin are
 * compared with each other.
 */
#include "engine/record/names/name_private.h"

#include <string.h>

struct name_class {
	const char *pointer; /* P of the first origin; NULL: outside of the heap */
	uint32_t family;
	bool shared; /* it also has names of other origins */
};

struct rule_use {
	const char *pointer;
	uint32_t rule;
};

/* Consecutive parts of an array's elements, in the blocks of a pointer: all have one rule. */
struct run {
	const char *pointer;
	uint32_t module, type;
	uint64_t each, size, first, end, stride, rest;
	uint32_t rule; /* 0: not known */
};
enum { RUNS = 8 };

struct spelling_names {
	struct names *n;
	struct builder *b;
	struct variable *variables;
	/* Text of a rule -> its index + 1; and text of a family of rules; owned. */
	GHashTable *rules, *families;
	GArray *family_of_rule; /* uint32_t */
	GHashTable *uses;       /* struct rule_use, owned -> struct name_class, borrowed */
	GHashTable *classes;    /* text -> struct name_class; owned */
	bool any_shared;
	struct run runs[RUNS][RUNS]; /* by size and offset */
	struct run untyped;
	struct rule_of_part of_untyped;
	GString *name, *text; /* for a moment */
	GString *last_text;   /* the class of the last name outside of the heap */
	const struct name_class *last_class;
};

static void append_class(const char *name, GString *text)
{
	if (strncmp(name, NAMES_MEMORY, strlen(NAMES_MEMORY)) == 0) {
		g_string_append(text, NAMES_MEMORY);
		return;
	}
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
static struct name_rule rule_of(const struct place_in_block *p, const struct kept_part *part,
                                GString *path, GString *rest)
{
	struct name_rule rule = { .each = (uint32_t)p->each };
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
static bool has_rule(const struct place_in_block *p, const struct kept_part *part)
{
	return p->each <= UINT32_MAX &&
	       (part == NULL ||
	        (part->count.each <= UINT32_MAX && part->count.offset <= UINT32_MAX)) &&
	       g_utf8_validate(p->pointer, -1, NULL); /* the block's name has the pointer
	                                               * unescaped */
}

/* Index of s->text in a table of texts. */
static uint32_t index_of(struct spelling_names *s, GHashTable *table, bool *fresh)
{
	gpointer known = g_hash_table_lookup(table, s->text->str);
	uint32_t next = g_hash_table_size(table);
	*fresh = known == NULL;
	if (*fresh)
		g_hash_table_insert(table, g_strdup(s->text->str), GUINT_TO_POINTER(next + 1));
	return *fresh ? next : GPOINTER_TO_UINT(known) - 1;
}

/* The text of the rule with the offset in an element: two members may have one name. */
static void describe_rule(struct spelling_names *s, const struct name_rule *rule,
                          uint64_t place, const char *path, const char *rest)
{
	g_string_printf(s->text, "%u %u %u %u %" G_GINT64_FORMAT " %s\n%s", rule->each,
	                rule->base, rule->step, rule->starred, (int64_t)place, path, rest);
}

/* The places p[1].x+1, p[1].x+2 are one family: their distance from p[1].x is in the name. */
static uint32_t family_of(struct spelling_names *s, const struct name_rule *rule,
                          uint64_t place, GString *path, GString *rest)
{
	GString *tail = rule->step ? rest : path;
	bool fresh;
	gsize end = tail->len;
	while (end > 0 && g_ascii_isdigit(tail->str[end - 1]))
		end--;
	if (end > 0 && end < tail->len && tail->str[end - 1] == '+') {
		place -= g_ascii_strtoull(tail->str + end, NULL, 10);
		g_string_truncate(tail, end);
	}
	describe_rule(s, rule, place, path->str, rest->str);
	return index_of(s, s->families, &fresh);
}

static uint32_t rule_for(struct spelling_names *s, const struct place_in_block *p,
                         const struct kept_part *part)
{
	g_autoptr(GString) path = g_string_new(NULL);
	g_autoptr(GString) rest = g_string_new(NULL);
	struct name_rule rule = rule_of(p, part, path, rest);
	uint64_t place = names_within(p) - rule.base;
	bool fresh;
	if (rule.step)
		place %= rule.step;
	describe_rule(s, &rule, place, path->str, rest->str);
	uint32_t index = index_of(s, s->rules, &fresh);
	if (fresh) {
		BUG_ON(builder_name_rule(s->b, rule, path->str, rest->str) !=
		       (NAME_BY_RULE | index));
		uint32_t family = family_of(s, &rule, place, path, rest);
		g_array_append_val(s->family_of_rule, family);
	}
	return NAME_BY_RULE | index;
}

/* --- classes -------------------------------------------------------------------------- */

/* The class `s->text`, to which a name of this origin is added. */
static struct name_class *class_of(struct spelling_names *s, const char *pointer,
                                   uint32_t family)
{
	struct name_class *class = g_hash_table_lookup(s->classes, s->text->str);
	if (class == NULL) {
		class = g_new(struct name_class, 1);
		*class = (struct name_class){ .pointer = pointer, .family = family };
		g_hash_table_insert(s->classes, g_strdup(s->text->str), class);
	} else if (class->pointer != pointer || class->family != family) {
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
	uint32_t family = g_array_index(s->family_of_rule, uint32_t, rule & ~NAME_BY_RULE);
	struct name_class *class = class_of(s, pointer, family);
	g_hash_table_insert(s->uses, g_memdup2(&use, sizeof use), class);
}

/* --- variables ------------------------------------------------------------------------ */

static bool in_heap(const struct spelling_names *s, uint32_t variable)
{
	uint32_t block = s->variables[variable].block;
	return block != NONE && !names_is_stack(s->n->trace, block);
}

/* The run of the last variables of a size. */
static struct run *run_of(struct spelling_names *s, const struct place_in_block *p,
                          uint64_t within, uint64_t size)
{
	struct run *r = &s->runs[size % RUNS][within % RUNS];
	bool same = r->pointer == p->pointer && r->size == size && r->each == p->each &&
	            r->module == p->module && r->type == p->type;
	bool inside = same && within >= r->first && within + size <= r->end &&
	              within % r->stride == r->rest;
	if (!inside)
		*r = (struct run){ p->pointer, p->module, p->type, p->each, size };
	return r;
}

/* The rule of a variable's name, or 0. */
static uint32_t find_rule(struct spelling_names *s, uint32_t variable)
{
	const struct variable *v = &s->variables[variable];
	struct place_in_block p = names_place_in_block(s->n, v->block, v->address);
	uint64_t within = names_within(&p);
	struct run *run = p.type == NONE ? &s->untyped : run_of(s, &p, within, v->size);
	if (run->rule != 0 && run->pointer == p.pointer)
		return run->rule;
	struct kept_part *part = p.type == NONE ? NULL : names_part(s->n, &p, v->size);
	struct rule_of_part *of = part ? &part->rules[p.each == 0] : &s->of_untyped;
	if (of->noted != p.pointer && !has_rule(&p, part))
		return 0;
	if (of->rule == 0)
		of->rule = rule_for(s, &p, part);
	if (of->noted != p.pointer)
		note_use(s, variable, p.pointer, of->rule);
	of->noted = p.pointer;
	run->pointer = p.pointer;
	if (part && part->count.stride == 0)
		return of->rule;
	run->rule = of->rule;
	run->first = part ? part->count.first : 0;
	run->end = part ? part->count.end : 0;
	run->stride = part ? part->count.stride : 1;
	run->rest = within % run->stride;
	return of->rule;
}

static void spell_in_heap(struct spelling_names *s, uint64_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rule = in_heap(s, i) ? find_rule(s, i) : 0;
		if (rule != 0)
			s->variables[i].spelling = rule;
	}
}

static void append_name(struct spelling_names *s, uint32_t variable)
{
	const struct variable *v = &s->variables[variable];
	bool may_have_form = true;
	g_string_truncate(s->name, 0);
	if (in_heap(s, variable))
		names_append_in_block(s->n, v->block, v->address, v->size, s->name);
	else
		may_have_form = names_append_elsewhere(s->n, variable, s->name);
	if (may_have_form)
		names_keep_form(s->n, s->name);
}

/* May the present name, which has no rule, equal a rule's name? */
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

/* Spells the names of other origins; those that a rule's name may equal stay NONE for now. */
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
		.families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.family_of_rule = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
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
	g_hash_table_unref(s.families);
	g_array_unref(s.family_of_rule);
	g_hash_table_unref(s.uses);
	g_hash_table_unref(s.classes);
	g_string_free(s.name, TRUE);
	g_string_free(s.text, TRUE);
	g_string_free(s.last_text, TRUE);
}
