/*
 * spec.c - constructs, frees, finds and prints declarations (spec.h).
 */
#include "engine/commute/language/spec.h"
#include "engine/commute/language/tree.h"

#include <inttypes.h>
#include <string.h>

const char *sort_word(enum sort sort)
{
	static const char *const words[SORT_COUNT] = { "int", "bool",  "map",
		                                       "set", "value", "partition" };
	return words[sort];
}

const char *const spec_split_words[] = { "wait",  "join", "fork", "barrier", "take",
	                                 "sleep", "poll", "none", NULL };

/* -- freeing ------------------------------------------------------------------------------ */

static void expr_free(void *node)
{
	struct expr *e = node;
	g_free(e->text);
	g_free(e);
}

static void parameter_clear(void *parameter)
{
	struct bind_parameter *p = parameter;
	g_free(p->type_text);
	g_free(p->name);
}

void spec_bind_free(void *bind)
{
	struct spec_bind *b = bind;
	g_free(b->function);
	g_array_unref(b->parameters);
	parameter_clear(&b->result);
	g_free(b->text);
	g_free(b);
}

static void method_free(void *method)
{
	struct spec_method *m = method;
	g_free(m->name);
	g_strfreev(m->names);
	if (m->effect)
		g_array_unref(m->effect);
	g_ptr_array_unref(m->binds);
	g_free(m);
}

static void condition_free(void *condition)
{
	struct spec_condition *c = condition;
	g_strfreev(c->names[0]);
	g_strfreev(c->names[1]);
	g_free(c);
}

static void state_clear(void *state)
{
	g_free(((struct spec_state *)state)->name);
}

static void order_free_one(void *order)
{
	struct spec_order *o = order;
	g_array_unref(o->before);
	g_array_unref(o->after);
	g_free(o);
}

static void object_free(void *object)
{
	struct spec_object *o = object;
	g_free(o->name);
	g_free(o->file);
	g_ptr_array_unref(o->methods);
	g_ptr_array_unref(o->conditions);
	g_array_unref(o->table);
	g_array_unref(o->states);
	g_ptr_array_unref(o->orders);
	g_ptr_array_unref(o->nodes);
	g_free(o);
}

static void set_free(void *set)
{
	struct spec_set *s = set;
	g_free(s->name);
	g_free(s->type);
	g_ptr_array_unref(s->members);
	g_free(s);
}

static void unit_free(void *unit)
{
	struct spec_unit *u = unit;
	g_free(u->function);
	g_ptr_array_unref(u->sets);
	g_free(u);
}

static void owned_free(void *owned)
{
	struct spec_owned *o = owned;
	g_free(o->type);
	g_free(o->member);
	g_free(o);
}

static void unitfor_free(void *unitfor)
{
	struct spec_unitfor *u = unitfor;
	g_free(u->function);
	g_free(u->parameter);
	g_free(u);
}

void spec_atomics_free(struct spec_atomics *a)
{
	g_free(a->name);
	g_free(a->file);
	g_ptr_array_unref(a->sets);
	g_ptr_array_unref(a->units);
	g_ptr_array_unref(a->owned);
	g_ptr_array_unref(a->unitfors);
	if (a->splits)
		g_ptr_array_unref(a->splits);
	g_free(a);
}

static void atomics_free(void *atomics)
{
	spec_atomics_free(atomics);
}

static void missing_function_free(void *function)
{
	struct spec_missing_function *f = function;
	g_free(f->name);
	g_ptr_array_unref(f->parameters);
	g_ptr_array_unref(f->reaches);
	g_ptr_array_unref(f->bytes);
	g_ptr_array_unref(f->near);
	g_ptr_array_unref(f->globals);
	g_free(f);
}

static void missing_free(void *missing)
{
	struct spec_missing *m = missing;
	g_free(m->file);
	g_ptr_array_unref(m->libraries);
	g_ptr_array_unref(m->threads);
	g_ptr_array_unref(m->functions);
	g_free(m);
}

/* -- construction, for the parser (tree.h) ------------------------------------------------ */

struct spec_object *spec_object_new(const char *name, const char *file, uint32_t line)
{
	struct spec_object *o = g_new0(struct spec_object, 1);
	o->name = g_strdup(name);
	o->file = g_strdup(file);
	o->line = line;
	o->methods = g_ptr_array_new_with_free_func(method_free);
	o->conditions = g_ptr_array_new_with_free_func(condition_free);
	o->table = g_array_new(FALSE, TRUE, sizeof(struct spec_condition *));
	o->states = g_array_new(FALSE, FALSE, sizeof(struct spec_state));
	g_array_set_clear_func(o->states, state_clear);
	o->orders = g_ptr_array_new_with_free_func(order_free_one);
	o->nodes = g_ptr_array_new_with_free_func(expr_free);
	return o;
}

struct expr *spec_expr_new(struct spec_object *o, enum expr_op op, struct expr *a,
                           struct expr *b)
{
	struct expr *e = g_new0(struct expr, 1);
	e->op = op;
	e->a = a;
	e->b = b;
	e->depth = 1 + MAX(a ? a->depth : 0, b ? b->depth : 0);
	g_ptr_array_add(o->nodes, e);
	return e;
}

struct spec_method *spec_method_new(struct spec_object *o, const char *name)
{
	struct spec_method *m = g_new0(struct spec_method, 1);
	m->name = g_strdup(name);
	m->binds = g_ptr_array_new_with_free_func(spec_bind_free);
	g_ptr_array_add(o->methods, m);
	return m;
}

struct spec_condition *spec_condition_new(struct spec_object *o)
{
	struct spec_condition *c = g_new0(struct spec_condition, 1);
	g_ptr_array_add(o->conditions, c);
	return c;
}

struct spec_order *spec_order_new(struct spec_object *o)
{
	struct spec_order *order = g_new0(struct spec_order, 1);
	order->before = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	order->after = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_ptr_array_add(o->orders, order);
	return order;
}

struct spec_atomics *spec_atomics_new(const char *name, const char *file, uint32_t line)
{
	struct spec_atomics *a = g_new0(struct spec_atomics, 1);
	a->name = g_strdup(name);
	a->file = g_strdup(file);
	a->line = line;
	a->sets = g_ptr_array_new_with_free_func(set_free);
	a->units = g_ptr_array_new_with_free_func(unit_free);
	a->owned = g_ptr_array_new_with_free_func(owned_free);
	a->unitfors = g_ptr_array_new_with_free_func(unitfor_free);
	return a;
}

struct spec_missing *spec_missing_new(const char *file, uint32_t line)
{
	struct spec_missing *m = g_new0(struct spec_missing, 1);
	m->file = g_strdup(file);
	m->line = line;
	m->libraries = g_ptr_array_new_with_free_func(g_free);
	m->threads = g_ptr_array_new_with_free_func(g_free);
	m->functions = g_ptr_array_new_with_free_func(missing_function_free);
	return m;
}

/* Build the table of conditions, when all methods are known. */
void spec_object_index(struct spec_object *o)
{
	guint n = o->methods->len;
	g_array_set_size(o->table, 0);
	g_array_set_size(o->table, n * n); /* cleared by GLib */
	for (guint i = 0; i < o->conditions->len; i++) {
		struct spec_condition *c = o->conditions->pdata[i];
		g_array_index(o->table, struct spec_condition *,
		              c->methods[0] * n + c->methods[1]) = c;
		g_array_index(o->table, struct spec_condition *,
		              c->methods[1] * n + c->methods[0]) = c;
	}
}

struct specs *specs_new(void)
{
	struct specs *s = g_new0(struct specs, 1);
	s->objects = g_ptr_array_new_with_free_func(object_free);
	s->atomics = g_ptr_array_new_with_free_func(atomics_free);
	s->missing = g_ptr_array_new_with_free_func(missing_free);
	s->files = g_ptr_array_new_with_free_func(g_free);
	return s;
}

void specs_free(struct specs *s)
{
	if (s == NULL)
		return;
	g_ptr_array_unref(s->objects);
	g_ptr_array_unref(s->atomics);
	g_ptr_array_unref(s->missing);
	g_ptr_array_unref(s->files);
	g_free(s);
}

/* -- lookup ------------------------------------------------------------------------------- */

struct spec_object *specs_object(const struct specs *s, const char *name)
{
	for (guint i = 0; i < s->objects->len; i++) {
		struct spec_object *o = s->objects->pdata[i];
		if (strcmp(o->name, name) == 0)
			return o;
	}
	return NULL;
}

uint32_t spec_method_find(const struct spec_object *o, const char *name)
{
	for (guint i = 0; i < o->methods->len; i++)
		if (strcmp(spec_method_at(o, i)->name, name) == 0)
			return i;
	return NONE;
}

const struct spec_condition *spec_condition_of(const struct spec_object *o, uint32_t m1,
                                               uint32_t m2)
{
	return g_array_index(o->table, struct spec_condition *, m1 * o->methods->len + m2);
}

static bool contains(const GArray *methods, uint32_t method)
{
	for (guint i = 0; i < methods->len; i++)
		if (g_array_index(methods, uint32_t, i) == method)
			return true;
	return false;
}

int spec_good_order(const struct spec_object *o, uint32_t m1, uint32_t m2)
{
	bool good = false, wrong = false;
	for (guint i = 0; i < o->orders->len; i++) {
		const struct spec_order *order = o->orders->pdata[i];
		good |= contains(order->before, m1) && contains(order->after, m2);
		wrong |= contains(order->before, m2) && contains(order->after, m1);
	}
	return good ? 1 : wrong ? -1 : 0;
}

/* -- printing ----------------------------------------------------------------------------- */

static const struct {
	const char *word;
	int strength; /* C's precedence; larger binds tighter */
} operators[] = {
	[X_OR] = { " || ", 1 },  [X_AND] = { " && ", 2 }, [X_EQ] = { " == ", 3 },
	[X_NE] = { " != ", 3 },  [X_LT] = { " < ", 4 },   [X_LE] = { " <= ", 4 },
	[X_GT] = { " > ", 4 },   [X_GE] = { " >= ", 4 },  [X_ADD] = { " + ", 5 },
	[X_SUB] = { " - ", 5 },  [X_MUL] = { " * ", 6 },  [X_MOD] = { " % ", 6 },
	[X_IN] = { " in ", 4 },  [X_SAME] = { " ~ ", 4 }, [X_NOT] = { "!", 7 },
	[X_NEGATE] = { "-", 7 },
};

static int strength(const struct expr *e)
{
	return e->op < G_N_ELEMENTS(operators) && operators[e->op].strength
	               ? operators[e->op].strength
	               : 8;
}

static void print_text(const struct expr *e, GString *out)
{
	g_string_append_c(out, '"');
	for (uint32_t i = 0; i < e->text_length; i++) {
		unsigned char c = (unsigned char)e->text[i];
		if (c == '"' || c == '\\')
			g_string_append_printf(out, "\\%c", c);
		else if (c == '\n')
			g_string_append(out, "\\n");
		else if (c < 0x20 || c == 0x7f)
			g_string_append_printf(out, "\\x%02X", c);
		else
			g_string_append_c(out, (char)c);
	}
	g_string_append_c(out, '"');
}

static void print_expr(const struct spec_object *o, const struct expr *e, char **const names[2],
                       int around, GString *out)
{
	bool parens = strength(e) < around;
	const char *state = e->op >= X_STATE && e->op <= X_SAME
	                            ? g_array_index(o->states, struct spec_state, e->index).name
	                            : NULL;
	if (parens)
		g_string_append_c(out, '(');
	switch (e->op) {
	case X_NIL:
		g_string_append(out, "nil");
		break;
	case X_FALSE:
		g_string_append(out, "false");
		break;
	case X_TRUE:
		g_string_append(out, "true");
		break;
	case X_INT:
		g_string_append_printf(out, "%" PRId64, e->integer);
		break;
	case X_TEXT:
		print_text(e, out);
		break;
	case X_NAME:
		g_string_append(out, names[e->side][e->index]);
		break;
	case X_STATE:
		g_string_append(out, state);
		break;
	case X_LOOKUP:
		g_string_append_printf(out, "%s[", state);
		print_expr(o, e->a, names, 0, out);
		g_string_append_c(out, ']');
		break;
	case X_IN:
		print_expr(o, e->a, names, 5, out);
		g_string_append_printf(out, " in %s", state);
		break;
	case X_SAME:
		print_expr(o, e->a, names, 5, out);
		g_string_append(out, " ~ ");
		print_expr(o, e->b, names, 5, out);
		g_string_append_printf(out, " in %s", state);
		break;
	case X_NOT:
	case X_NEGATE:
		g_string_append(out, operators[e->op].word);
		print_expr(o, e->a, names, 7, out);
		break;
	default:
		/* && within || is put in parentheses for readability. */
		print_expr(o, e->a, names, e->op == X_OR && e->a->op == X_AND ? 3 : strength(e),
		           out);
		g_string_append(out, operators[e->op].word);
		print_expr(o, e->b, names,
		           e->op == X_OR && e->b->op == X_AND ? 3 : strength(e) + 1, out);
	}
	if (parens)
		g_string_append_c(out, ')');
}

void expr_print(const struct spec_object *o, const struct expr *e, char **const names[2],
                GString *out)
{
	print_expr(o, e, names, 0, out);
}

static void print_pattern(const struct spec_method *m, char **names, GString *out)
{
	g_string_append_printf(out, "%s(", m->name);
	for (uint32_t i = 0; i < m->arguments; i++)
		g_string_append_printf(out, "%s%s", i ? ", " : "", names[i]);
	g_string_append_c(out, ')');
	for (uint32_t i = 0; i < m->results; i++)
		g_string_append_printf(out, "%s%s", i ? ", " : " / ", names[m->arguments + i]);
}

void spec_print_method(const struct spec_method *m, GString *out)
{
	print_pattern(m, m->names, out);
}

void spec_print_side(const struct spec_object *o, const struct spec_condition *c, int side,
                     GString *out)
{
	const struct spec_method *m = spec_method_at(o, c->methods[side]);
	if (c->names[side] == NULL)
		g_string_append(out, m->name);
	else
		print_pattern(m, c->names[side], out);
}
