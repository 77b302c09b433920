/*
 * spelt.c - names of variables that are spelt by a rule (struct name_rule): made when they are
 * first asked for, by any thread, and kept until the trace is closed.
 */
#include "engine/base/decimal.h"
#include "engine/trace/storage.h"

struct spelt_names {
	GMutex making;
	char **of;           /* by variable; NULL: not yet made. NULL until the first */
	GStringChunk *bytes; /* NULL until the first */
};

struct spelt_names *spelt_names_new(void)
{
	struct spelt_names *s = g_new0(struct spelt_names, 1);
	g_mutex_init(&s->making);
	return s;
}

void spelt_names_free(struct spelt_names *s)
{
	if (s->bytes)
		g_string_chunk_free(s->bytes);
	g_free(s->of);
	g_mutex_clear(&s->making);
	g_free(s);
}

static void append_by_rule(const struct trace *t, const struct variable *v, GString *name)
{
	const struct name_rule *r = &t->name_rules[v->spelling & ~NAME_BY_RULE];
	if (v->block == NONE) {
		g_string_append(name, trace_string(t, r->path));
		append_decimal(((uint32_t)v->address - r->base) / r->step, name);
		g_string_append(name, trace_string(t, r->rest));
		return;
	}
	const struct block *block = &t->blocks[v->block];
	const char *pointer = trace_string(t, block->name);
	uint64_t offset = v->address - block->address;
	if (r->starred)
		g_string_append_c(name, '*');
	g_string_append(name, pointer + (*pointer == '*'));
	if (r->each) {
		g_string_append_c(name, '[');
		append_decimal(offset / r->each, name);
		g_string_append_c(name, ']');
		offset %= r->each;
	}
	g_string_append(name, trace_string(t, r->path));
	if (r->step)
		append_decimal((offset - r->base) / r->step, name);
	g_string_append(name, trace_string(t, r->rest));
}

/* Under the mutex. */
static char *make(const struct trace *t, uint32_t variable)
{
	struct spelt_names *s = t->spelt;
	g_autoptr(GString) name = g_string_new(NULL);
	if (s->of == NULL) {
		s->bytes = g_string_chunk_new(1 << 12);
		__atomic_store_n(&s->of, g_new0(char *, t->variables_count), __ATOMIC_RELEASE);
	}
	if (s->of[variable] == NULL) {
		append_by_rule(t, &t->variables[variable], name);
		char *made = g_string_chunk_insert_len(s->bytes, name->str, (gssize)name->len);
		__atomic_store_n(&s->of[variable], made, __ATOMIC_RELEASE);
	}
	return s->of[variable];
}

const char *trace_variable_name(const struct trace *t, uint32_t variable)
{
	uint32_t spelling = t->variables[variable].spelling;
	if (!(spelling & NAME_BY_RULE))
		return trace_string(t, spelling);
	char **of = __atomic_load_n(&t->spelt->of, __ATOMIC_ACQUIRE);
	char *made = of ? __atomic_load_n(&of[variable], __ATOMIC_ACQUIRE) : NULL;
	if (made == NULL) {
		g_mutex_lock(&t->spelt->making);
		made = make(t, variable);
		g_mutex_unlock(&t->spelt->making);
	}
	return made;
}
