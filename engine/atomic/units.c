/*
 * units.c - which activations are units of work, and on which sets.
 *
 * A function is declared on kinds. An activation is a unit on the instances that its parameters
 * pointed to and on those that it accesses itself. Arguments are not recorded: a parameter is
 * taken to point to the first instance of its type that the activation or its callees access
 * (as many instances as such parameters). A function without such a parameter that never
 * accesses a member itself is a unit on all that its callees access.
 */
#include "engine/base/arrays.h"
#include "engine/atomic/layout.h"
#include "engine/predict/effort.h"
#include "engine/base/hash.h"

#include <string.h>

/* An instance that a parameter is taken to point to. */
struct parameter_binding {
	const char *type, *instance;
};

struct activation {
	uint32_t event, function;
	const uint64_t *units, *unitfors; /* kinds it is declared on; NULL: none */
	const GPtrArray *listed;          /* kinds named by a ubeg, or NULL */
	GArray *bounds;                   /* struct parameter_binding, or NULL */
	uint32_t last;                    /* set that was opened last */
};

struct resolver {
	struct layout *l;
	GArray **frames;  /* by thread: struct activation */
	GArray **opened;  /* by event: uint32_t sets, or NULL */
	GHashTable *once; /* event << 32 | set: already opened, for activations on many sets */
	GHashTable *late_once; /* the same for `late` */
	GArray *late;          /* struct late_set */
	uint64_t *
	        *own; /* by string: kinds that the function accesses itself or by parameters */
	const bool *never; /* while discovering; else NULL */
	GHashTable *lists; /* list of a ubeg -> GPtrArray of names of kinds */
};

/* A set accessed only by the activation's callees. */
struct late_set {
	uint32_t event, function, set;
};

static bool note_once(GHashTable *once, uint32_t event, uint32_t set)
{
	return g_hash_table_add(once, GSIZE_TO_POINTER((uint64_t)event << 32 | set));
}

static void open_on(struct resolver *r, struct activation *a, uint32_t set)
{
	GArray **sets = &r->opened[a->event];
	a->last = set;
	for (guint i = 0; *sets && i < MIN((*sets)->len, 8); i++)
		if (g_array_index(*sets, uint32_t, i) == set)
			return;
	if (*sets && (*sets)->len >= 8 && !note_once(r->once, a->event, set))
		return;
	if (*sets == NULL)
		*sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*sets, set);
	if ((*sets)->len == 8) /* longer lists go into the hash table, too */
		for (guint i = 0; i < 8; i++)
			note_once(r->once, a->event, g_array_index(*sets, uint32_t, i));
}

/* May a parameter of the activation have pointed to the instance? */
static bool is_bound(struct resolver *r, struct activation *a, const char *type,
                     const char *instance)
{
	const struct atomic_function *f = &r->l->functions->at[a->function];
	if (type == NULL || type[0] == '\0' || f->parameters == NULL)
		return false;
	guint room = atomic_function_takes(f, type);
	for (guint i = 0; a->bounds && i < a->bounds->len && room > 0; i++) {
		const struct parameter_binding *b =
		        &g_array_index(a->bounds, struct parameter_binding, i);
		if (b->type == type && b->instance == instance)
			return true;
		room -= b->type == type;
	}
	if (room == 0)
		return false;
	struct parameter_binding b = { type, instance };
	if (a->bounds == NULL)
		a->bounds = g_array_new(FALSE, FALSE, sizeof b);
	g_array_append_val(a->bounds, b);
	return true;
}

/* Does the access touch the bound instance itself, or one that it owns? */
static bool touches_bound(struct resolver *r, struct activation *a, uint32_t v, uint32_t set)
{
	const struct atomic_place *p = &r->l->places->at[v];
	const struct layout_set *s = &g_array_index(r->l->sets, struct layout_set, set);
	bool bound = is_bound(r, a, p->type, p->instance);
	return bound || (s->instance != p->instance && is_bound(r, a, s->type, s->instance));
}

/* Globals have one instance; without debug information instances cannot be told apart. */
static bool all_alike(const struct resolver *r, uint32_t set)
{
	const struct layout_set *s = &g_array_index(r->l->sets, struct layout_set, set);
	return s->type == NULL || !r->l->functions->any;
}

/* -- text traces: parameters by name ------------------------------------------------------ */

static bool named(const char *instance, const char *name)
{
	size_t length = strlen(name);
	return strncmp(instance, name, length) == 0 &&
	       (instance[length] == '\0' || strcmp(instance + length, "->") == 0);
}

/* Without debug information, a parameter is the object of the same name, if the trace has
 * one. */
static bool may_be_parameter(struct resolver *r, const struct activation *a, uint32_t v)
{
	const GPtrArray *names =
	        g_hash_table_lookup(r->l->parameters, GUINT_TO_POINTER(a->function));
	if (r->l->functions->at[a->function].known)
		return false;
	for (guint i = 0; names && i < names->len; i++)
		if (named(r->l->places->at[v].instance, names->pdata[i]))
			return true;
	return names == NULL;
}

/* -- the pass ----------------------------------------------------------------------------- */

static bool lists_kind(const struct resolver *r, const GPtrArray *names, uint32_t set)
{
	const struct layout_set *s = &g_array_index(r->l->sets, struct layout_set, set);
	for (guint i = 0; s->kinds && i < s->kinds->len; i++) {
		const struct spec_set *kind =
		        r->l->kinds->pdata[g_array_index(s->kinds, uint32_t, i)];
		for (guint n = 0; n < names->len; n++)
			if (strcmp(names->pdata[n], kind->name) == 0)
				return true;
	}
	return false;
}

static void access_set(struct resolver *r, struct activation *a, uint32_t v, uint32_t set,
                       bool direct)
{
	const struct layout_set *s = &g_array_index(r->l->sets, struct layout_set, set);
	if (a->last == set)
		return;
	if (a->listed) {
		if (lists_kind(r, a->listed, set))
			open_on(r, a, set);
		return;
	}
	if (layout_has(a->units, s)) {
		bool bound = touches_bound(r, a, v, set);
		if (direct || bound)
			layout_add_kinds(r->l, &r->own[a->function], s);
		if (direct || bound || all_alike(r, set))
			open_on(r, a, set);
		else if (note_once(r->late_once, a->event, set)) {
			struct late_set late = { a->event, a->function, set };
			g_array_append_val(r->late, late);
		}
	} else if (layout_has(a->unitfors, s) &&
	           (touches_bound(r, a, v, set) || may_be_parameter(r, a, v))) {
		open_on(r, a, set);
	}
}

/* Discovery: the function may be a unit on sets it accesses. */
static void discover_set(struct resolver *r, struct activation *a, uint32_t v, uint32_t set,
                         bool direct)
{
	const struct layout_set *s = &g_array_index(r->l->sets, struct layout_set, set);
	const struct spec_set *kind =
	        s->kinds ? r->l->kinds->pdata[g_array_index(s->kinds, uint32_t, 0)] : NULL;
	if (r->never[a->function] || kind == NULL)
		return;
	if (direct || kind->everything ||
	    (r->l->functions->at[a->function].open && touches_bound(r, a, v, set)))
		layout_add_kinds(r->l, &r->l->units[a->function], s);
}

static void note_access(struct resolver *r, uint32_t event)
{
	const struct event *e = &r->l->t->events[event];
	const struct atomic_model *m = r->l->m;
	const uint32_t *start = (const uint32_t *)(void *)m->member_start->data;
	struct wide run = event_variables(r->l->t, e);
	GArray *frames = r->frames[e->thread];
	for (uint32_t v = run.first; frames && v < run.first + run.count; v++) {
		if (m->since->len && event < g_array_index(m->since, uint32_t, v))
			continue;
		for (uint32_t i = start[v]; i < start[v + 1]; i++)
			for (guint a = 0; a < frames->len; a++) {
				struct activation *x =
				        &g_array_index(frames, struct activation, a);
				uint32_t set = g_array_index(m->members, uint32_t, i);
				if (r->never)
					discover_set(r, x, v, set, a + 1 == frames->len);
				else if (x->units || x->unitfors || x->listed)
					access_set(r, x, v, set, a + 1 == frames->len);
			}
	}
}

/* The kinds that a ubeg names; NULL: none. */
static const GPtrArray *listed_kinds(struct resolver *r, const struct event *e)
{
	const struct trace *t = r->l->t;
	const struct value list = trace_value(t, e->aux);
	GPtrArray *names = g_hash_table_lookup(r->lists, GUINT_TO_POINTER(e->aux + 1));
	if (names != NULL || list.kind != V_LIST)
		return names;
	names = g_ptr_array_new();
	g_hash_table_insert(r->lists, GUINT_TO_POINTER(e->aux + 1), names);
	for (uint32_t i = 0; i < list.count; i++)
		g_ptr_array_add(
		        names,
		        (gpointer)trace_string(
		                t, trace_value(t, t->value_lists[list.first + i]).string));
	return names;
}

static void begin_activation(struct resolver *r, uint32_t event)
{
	const struct event *e = &r->l->t->events[event];
	struct activation a = { .event = event, .function = e->target, .last = NONE };
	a.units = r->never ? NULL : r->l->units[e->target];
	a.unitfors = r->never ? NULL : r->l->unitfors[e->target];
	if (e->op == OP_UBEG && !r->never && a.units == NULL)
		a.listed = listed_kinds(r, e);
	if (r->frames[e->thread] == NULL)
		r->frames[e->thread] = g_array_new(FALSE, FALSE, sizeof a);
	g_array_append_val(r->frames[e->thread], a);
}

/* Closes the innermost open activation of the same name. */
static void end_activation(struct resolver *r, uint32_t event)
{
	const struct event *e = &r->l->t->events[event];
	GArray *frames = r->frames[e->thread];
	for (guint i = frames ? frames->len : 0; i-- > 0;) {
		struct activation *a = &g_array_index(frames, struct activation, i);
		const struct event *o = &r->l->t->events[a->event];
		if ((e->op == OP_LEAVE) != (o->op == OP_ENTER) || o->target != e->target)
			continue;
		if (a->bounds)
			g_array_free(a->bounds, TRUE);
		g_array_remove_index(frames, i);
		return;
	}
}

static void resolver_walk(struct resolver *r)
{
	const struct trace *t = r->l->t;
	r->frames = g_new0(GArray *, t->threads_count + 1);
	for (uint32_t i = 0; i < t->events_count; i++) {
		enum op op = t->events[i].op;
		if (i % 4096 == 0 && r->l->deadline != 0)
			r->l->late |= effort_microseconds() > r->l->deadline;
		if (r->l->late)
			break;
		if (event_inert(&t->events[i]))
			continue;
		if (op_is_access(op))
			note_access(r, i);
		else if (op == OP_ENTER || op == OP_UBEG)
			begin_activation(r, i);
		else if (op == OP_LEAVE || op == OP_UEND)
			end_activation(r, i);
	}
	for (uint64_t i = 0; i < t->threads_count; i++) {
		GArray *frames = r->frames[i];
		for (guint f = 0; frames && f < frames->len; f++)
			if (g_array_index(frames, struct activation, f).bounds)
				g_array_free(g_array_index(frames, struct activation, f).bounds,
				             TRUE);
		if (frames)
			g_array_free(frames, TRUE);
	}
	g_free(r->frames);
}

void layout_discover_units(struct layout *l, const bool *never)
{
	struct resolver r = { .l = l, .never = never };
	resolver_walk(&r);
}

/* Units on sets that only callees access, for functions that have no other. */
static void open_late(struct resolver *r)
{
	for (guint i = 0; i < r->late->len; i++) {
		const struct late_set *late = &g_array_index(r->late, struct late_set, i);
		GArray **sets = &r->opened[late->event];
		if (layout_has(r->own[late->function],
		               &g_array_index(r->l->sets, struct layout_set, late->set)))
			continue;
		if (*sets == NULL)
			*sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(*sets, late->set);
	}
}

void layout_units(struct layout *l)
{
	struct resolver r = { .l = l };
	r.opened = g_new0(GArray *, l->t->events_count + 1);
	r.once = g_hash_table_new(hash_pointer, NULL);
	r.late_once = g_hash_table_new(hash_pointer, NULL);
	r.late = g_array_new(FALSE, FALSE, sizeof(struct late_set));
	r.own = g_new0(uint64_t *, l->t->string_offsets_count + 1);
	r.lists = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	resolver_walk(&r);
	open_late(&r);
	atomic_model_opens(l->m, l->t, r.opened);
	arrays_free(r.opened, l->t->events_count);
	for (uint64_t s = 0; s < l->t->string_offsets_count; s++)
		g_free(r.own[s]);
	g_free(r.own);
	g_array_free(r.late, TRUE);
	g_hash_table_unref(r.once);
	g_hash_table_unref(r.late_once);
	g_hash_table_unref(r.lists);
}

/* -- declarations in blocks --------------------------------------------------------------- */

static void declare_unit(struct layout *l, const struct spec_unit *u, const GHashTable *strings)
{
	uint32_t s =
	        GPOINTER_TO_UINT(g_hash_table_lookup((GHashTable *)strings, u->function)) - 1;
	for (uint32_t k = 0; s != NONE && k < l->kinds->len; k++) {
		const struct spec_set *kind = l->kinds->pdata[k];
		for (guint i = 0; i < u->sets->len; i++) {
			if (strcmp(u->sets->pdata[i], kind->name) != 0)
				continue;
			if (l->units[s] == NULL)
				l->units[s] = g_new0(uint64_t, l->words + 1);
			l->units[s][k / 64] |= UINT64_C(1) << k % 64;
		}
	}
}

static void note_parameter_name(struct layout *l, uint32_t function, const char *name)
{
	gpointer key = GUINT_TO_POINTER(function);
	GPtrArray *names = g_hash_table_lookup(l->parameters, key);
	for (uint64_t v = 0; v < l->t->variables_count; v++)
		if (named(l->places->at[v].instance, name)) {
			if (names == NULL)
				g_hash_table_insert(l->parameters, key,
				                    names = g_ptr_array_new());
			g_ptr_array_add(names, (gpointer)name);
			return;
		}
}

/* Declare on the kinds of the structure that the parameter points to; without debug
 * information, on those of any structure. */
static void declare_unitfor(struct layout *l, const struct spec_atomics *a,
                            const struct spec_unitfor *u, GHashTable *strings)
{
	uint32_t s = GPOINTER_TO_UINT(g_hash_table_lookup(strings, u->function)) - 1;
	if (s == NONE)
		return;
	const struct atomic_function *f = &l->functions->at[s];
	const char *type = NULL;
	for (guint i = 0; f->parameters && i < f->parameters->len; i++) {
		const struct atomic_parameter *p =
		        &g_array_index(f->parameters, struct atomic_parameter, i);
		if (strcmp(p->name, u->parameter) == 0)
			type = p->type;
	}
	if (!f->known)
		note_parameter_name(l, s, u->parameter);
	if (f->known && type == NULL)
		g_ptr_array_add(l->m->notes,
		                g_strdup_printf("%s:%u: %s has no parameter %s that points to "
		                                "a structure",
		                                a->file, a->line, u->function, u->parameter));
	if (type && atomic_function_takes(f, type) > 1)
		g_ptr_array_add(l->m->notes,
		                g_strdup_printf("%s:%u: unitfor %s(%s) is taken for all its "
		                                "parameters of that type: arguments are not "
		                                "recorded",
		                                a->file, a->line, u->function, u->parameter));
	for (uint32_t k = 0; k < l->kinds->len && (type || !f->known); k++) {
		const struct spec_set *kind = l->kinds->pdata[k];
		if (kind->type == NULL || (type && strcmp(kind->type, type) != 0))
			continue;
		if (l->unitfors[s] == NULL)
			l->unitfors[s] = g_new0(uint64_t, l->words + 1);
		l->unitfors[s][k / 64] |= UINT64_C(1) << k % 64;
	}
}

/* By string, of functions. */
struct met {
	bool *entered, *inlined;
};

static struct met functions_met(const struct trace *t)
{
	uint64_t strings = t->string_offsets_count + 1;
	struct met met = { g_new0(bool, strings), g_new0(bool, strings) };
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_ENTER || x->op == OP_UBEG)
			met.entered[x->target] = true;
		for (uint32_t l = x->location; t->locations[l].inlined != NONE;
		     l = t->locations[l].inlined)
			met.inlined[t->locations[l].function] = true;
	}
	return met;
}

/* Notes a declared unit that was not entered: the result lacks it, and is incomplete if it
 * ran all the same. */
static void note_unentered(struct layout *l, const struct spec_atomics *a, const char *function,
                           GHashTable *strings, const struct met *met)
{
	uint32_t s = GPOINTER_TO_UINT(g_hash_table_lookup(strings, function)) - 1;
	if (s != NONE && met->entered[s])
		return;
	bool inlined = s != NONE && met->inlined[s];
	l->m->lost |= inlined;
	g_ptr_array_add(l->m->notes,
	                g_strdup_printf("%s:%u: unit %s: %s", a->file, a->line, function,
	                                inlined ? "not complete, as the compiler inlined it "
	                                          "and its calls are not recorded "
	                                          "(-fno-inline keeps them)"
	                                        : "no function of this name was entered in "
	                                          "this run"));
}

void layout_declare_units(struct layout *l)
{
	g_autoptr(GHashTable) strings = g_hash_table_new(g_str_hash, g_str_equal);
	for (uint32_t s = 1; s + 1 < l->t->string_offsets_count; s++)
		g_hash_table_insert(strings, (gpointer)trace_string(l->t, s),
		                    GUINT_TO_POINTER(s + 1));
	struct met met = functions_met(l->t);
	for (guint b = 0; b < l->blocks->len; b++) {
		const struct spec_atomics *a = l->blocks->pdata[b];
		for (guint i = 0; i < a->units->len; i++) {
			const struct spec_unit *u = a->units->pdata[i];
			declare_unit(l, u, strings);
			note_unentered(l, a, u->function, strings, &met);
		}
		for (guint i = 0; i < a->unitfors->len; i++) {
			const struct spec_unitfor *u = a->unitfors->pdata[i];
			declare_unitfor(l, a, u, strings);
			note_unentered(l, a, u->function, strings, &met);
		}
	}
	g_free(met.entered);
	g_free(met.inlined);
}
