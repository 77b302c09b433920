/*
 * name_rules.c - the spellings of variables. Those in blocks of the heap, and in arrays of
 * static data, are spelt by a rule (struct name_rule), when they are asked for; the others, and
 * those whose name another variable might have, have their name.
 *
 * Two variables may not share a name: the text format would make them one. A name without the
 * digits behind '[', '+' and '#' is its class; names that are an address have one class. The
 * names of one rule in the blocks of one pointer have one class, and are distinct: their digits
 * are the block's number and the place in it. So are those of rules that differ in a constant
 * distance alone (a family). The names of rules of one static variable are distinct where these
 * count by the same of a name's numbers, and differ in others (a family, too). So only names of
 * a class with more than one such origin are compared with each other.
 */
#include "engine/base/decimal.h"
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

/* Consecutive parts of an array in static data, by their addresses: all have one rule. */
struct data_run {
	uint64_t first, end, stride;
	uint32_t size, rule;
};
/* An array of so few parts has no rule: it would be no shorter than their names. */
enum { DATA_RUNS = 32, DATA_PARTS = 16 };
/* The runs of the static variable in [low, high), whose variables are met in order. */
struct data_runs {
	uint64_t low, high;
	uint32_t module;
	const struct debug_variable *of; /* NULL: none */
	unsigned count, last;            /* last: the one that was last met, or was added */
	struct data_run at[DATA_RUNS];
};

struct rule_origin {
	uint32_t family;
	const char *pointer; /* of a rule of static data: its variable; else NULL */
};

struct spelling_names {
	struct names *n;
	struct builder *b;
	struct variable *variables;
	/* Text of a rule -> its index + 1; and text of a family of rules; owned. */
	GHashTable *rules, *families;
	GArray *origins;     /* struct rule_origin, by rule */
	GHashTable *uses;    /* struct rule_use, owned -> struct name_class, borrowed */
	GHashTable *classes; /* text -> struct name_class; owned */
	bool any_shared;
	struct run runs[RUNS][RUNS]; /* by size and offset */
	/* of bytes without a type; those behind a structure */
	struct run untyped[2];
	struct rule_of_part of_untyped[2];
	struct data_runs data;
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
static struct name_rule rule_of(const struct place_in_block *p, const struct known_part *part,
                                GString *path, GString *rest)
{
	struct name_rule rule = { .each = (uint32_t)p->each };
	g_string_truncate(rest, 0);
	if (part == NULL) {
		g_string_assign(path, "+");
		rule.step = 1;
		rule.starred = p->behind;
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
static bool has_rule(const struct place_in_block *p, const struct known_part *part)
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
	const uint64_t numbers[] = { rule->each, rule->base, rule->step, rule->starred, place };
	g_string_truncate(s->text, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		append_decimal(numbers[i], s->text);
		g_string_append_c(s->text, ' ');
	}
	g_string_append(s->text, path);
	g_string_append_c(s->text, '\n');
	g_string_append(s->text, rest);
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
                         const struct known_part *part)
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
		struct rule_origin origin = { family_of(s, &rule, place, path, rest), NULL };
		g_array_append_val(s->origins, origin);
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

static const struct rule_origin *origin_of(const struct spelling_names *s, uint32_t rule)
{
	return &g_array_index(s->origins, struct rule_origin, rule & ~NAME_BY_RULE);
}

/* The rule makes names like the present one. */
static void note_use(struct spelling_names *s, const char *pointer, uint32_t rule)
{
	struct rule_use use = { pointer, rule };
	if (g_hash_table_contains(s->uses, &use))
		return;
	g_string_truncate(s->text, 0);
	append_class(s->name->str, s->text);
	struct name_class *class = class_of(s, pointer, origin_of(s, rule)->family);
	g_hash_table_insert(s->uses, g_memdup2(&use, sizeof use), class);
}

static void note_use_in_block(struct spelling_names *s, uint32_t variable, const char *pointer,
                              uint32_t rule)
{
	const struct variable *v = &s->variables[variable];
	g_string_truncate(s->name, 0);
	names_append_in_block(s->n, v->block, v->address, v->size, s->name);
	names_keep_form(s->n, s->name);
	note_use(s, pointer, rule);
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
	struct run *run =
	        p.type == NONE ? &s->untyped[p.behind] : run_of(s, &p, within, v->size);
	if (run->rule != 0 && run->pointer == p.pointer)
		return run->rule;
	struct known_part *part = p.type == NONE ? NULL : names_part(s->n, &p, v->size);
	struct rule_of_part *of = part ? &part->rules[p.each == 0] : &s->of_untyped[p.behind];
	if (of->noted != p.pointer && !has_rule(&p, part))
		return 0;
	if (of->rule == 0)
		of->rule = rule_for(s, &p, part);
	if (of->noted != p.pointer)
		note_use_in_block(s, variable, p.pointer, of->rule);
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

/* --- variables in static data ------------------------------------------------------------ */

/* Which of a name's numbers the rule with this path counts by; of two rules with equal texts,
 * whose names may be equal, the second is a family of its own. */
static uint32_t family_of_data(struct spelling_names *s, const char *path, const char *rest)
{
	bool fresh;
	unsigned numbers = 0;
	g_string_printf(s->text, "%s\n%s", path, rest);
	uint32_t own = index_of(s, s->families, &fresh);
	for (const char *c = path; *c != '\0'; c++)
		numbers += *c == '[' || *c == '+' || *c == '#';
	if (!fresh) {
		own = g_hash_table_size(s->families);
		g_string_append_printf(s->text, "\n%u", own);
	} else {
		g_string_printf(s->text, "%u", numbers);
	}
	return index_of(s, s->families, &fresh);
}

/* The rule of the present name and its like, a part of the data's static variable. */
static uint32_t rule_for_data(struct spelling_names *s, const struct debug_count *count,
                              uint64_t address)
{
	g_autoptr(GString) path = g_string_new_len(s->name->str, (gssize)count->from);
	const char *rest = s->name->str + count->to;
	struct name_rule rule = { .base = (uint32_t)(address + count->offset),
		                  .step = (uint32_t)count->each };
	bool fresh;
	g_string_printf(s->text, "%u %u %s\n%s", rule.base, rule.step, path->str, rest);
	uint32_t index = index_of(s, s->rules, &fresh);
	if (fresh) {
		BUG_ON(builder_name_rule(s->b, rule, path->str, rest) !=
		       (NAME_BY_RULE | index));
		struct rule_origin origin = { family_of_data(s, path->str, rest),
			                      names_variable(s->n, s->data.module,
			                                     s->data.of) };
		g_array_append_val(s->origins, origin);
		note_use(s, origin.pointer, NAME_BY_RULE | index);
	}
	return NAME_BY_RULE | index;
}

/* Do the parts like this one get a rule? (Its numbers have 32 bits.) */
static bool data_has_rule(const struct spelling_names *s, const struct debug_count *count)
{
	return count->stride > 0 && count->end - count->first <= UINT32_MAX &&
	       count->each <= UINT32_MAX && count->each > 0 &&
	       (count->end - count->first) / count->stride >= DATA_PARTS &&
	       g_utf8_validate(s->name->str, (gssize)s->name->len, NULL);
}

static inline bool run_has(const struct data_run *r, const struct variable *v)
{
	return v->size == r->size && v->address >= r->first && v->address + v->size <= r->end &&
	       (v->address - r->first) % r->stride == 0;
}

/* The rule of a run that has the variable, or 0. The members of an array of structs come in
 * turn, so the next run is looked at first. */
static uint32_t known_data_rule(struct data_runs *d, const struct variable *v)
{
	unsigned at = d->last;
	for (unsigned i = 0; i < d->count; i++) {
		at = at + 1 < d->count ? at + 1 : 0;
		if (run_has(&d->at[at], v)) {
			d->last = at;
			return d->at[at].rule;
		}
	}
	return 0;
}

static void add_data_run(struct data_runs *d, const struct debug_count *count,
                         const struct variable *v, uint64_t address, uint32_t rule)
{
	struct data_run run = { .end = address + count->end,
		                .stride = count->stride,
		                .size = v->size,
		                .rule = rule };
	/* the lowest part at a distance of a multiple of the stride from this one */
	run.first =
	        v->address - (v->address - (address + count->first)) / run.stride * run.stride;
	d->last = d->count < DATA_RUNS ? d->count++ : (d->last + 1) % DATA_RUNS;
	d->at[d->last] = run;
}

/* The rule of a variable in static data, or 0. */
static uint32_t find_data_rule(struct spelling_names *s, const struct variable *v)
{
	struct data_runs *d = &s->data;
	if (d->of == NULL || v->address < d->low || v->address >= d->high) {
		d->of = names_loaded_data(s->n, v->address, &d->module);
		if (d->of == NULL)
			return 0;
		d->low = names_base(s->n, d->module) + d->of->address;
		d->high = d->low + MAX(d->of->size, 1);
		d->count = d->last = 0;
	}
	uint32_t rule = known_data_rule(d, v);
	if (rule != 0 || d->high - d->low < DATA_PARTS)
		return rule;
	g_string_truncate(s->name, 0);
	struct debug_count count =
	        names_append_part(s->n, d->module, d->of, v->address, v->size, s->name).count;
	if (!data_has_rule(s, &count))
		return 0;
	names_keep_form(s->n, s->name);
	rule = rule_for_data(s, &count, d->low);
	add_data_run(d, &count, v, d->low, rule);
	return rule;
}

/* --- all variables ----------------------------------------------------------------------- */

static void spell_by_rules(struct spelling_names *s, uint64_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct variable *v = &s->variables[i];
		uint32_t rule = v->block == NONE ? find_data_rule(s, v)
		                : in_heap(s, i)  ? find_rule(s, i)
		                                 : 0;
		if (rule != 0)
			v->spelling = rule;
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

struct last_use {
	struct rule_use use;
	const struct name_class *class;
};

/* `last`: of the last variable with a rule, zero before; mostly this one's, too. */
static bool is_doubtful(const struct spelling_names *s, const struct variable *v,
                        struct last_use *last)
{
	if (v->spelling == NONE)
		return true;
	if (!(v->spelling & NAME_BY_RULE))
		return false;
	const char *pointer = v->block == NONE ? origin_of(s, v->spelling)->pointer
	                                       : names_block_pointer(s->n, v->block);
	struct rule_use use = { pointer, v->spelling };
	if (!same_use(&use, &last->use))
		*last = (struct last_use){ use, g_hash_table_lookup(s->uses, &use) };
	return last->class->shared;
}

/* Compares the names of classes with several origins. */
static void spell_doubtful(struct spelling_names *s, uint64_t count)
{
	struct last_use last = { { NULL, 0 }, NULL };
	for (uint32_t i = 0; i < count && s->any_shared; i++) {
		struct variable *v = &s->variables[i];
		if (!is_doubtful(s, v, &last))
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
		.origins = g_array_new(FALSE, FALSE, sizeof(struct rule_origin)),
		.uses = g_hash_table_new_full(hash_use, same_use, g_free, NULL),
		.classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		.name = g_string_new(NULL),
		.text = g_string_new(NULL),
		.last_text = g_string_new(NULL),
	};
	spell_by_rules(&s, partial->variables_count);
	spell_others(&s, partial->variables_count);
	spell_doubtful(&s, partial->variables_count);
	g_hash_table_unref(s.rules);
	g_hash_table_unref(s.families);
	g_array_unref(s.origins);
	g_hash_table_unref(s.uses);
	g_hash_table_unref(s.classes);
	g_string_free(s.name, TRUE);
	g_string_free(s.text, TRUE);
	g_string_free(s.last_text, TRUE);
}
