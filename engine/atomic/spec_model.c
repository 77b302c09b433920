/*
 * spec_model.c - atomic sets and units of work as `atomics` blocks of specifications declare
 * them: a set for each instance of a structure that the trace shows, units on the instances
 * that an activation touches.
 */
#include "engine/atomic/model.h"
#include "engine/atomic/places.h"
#include "engine/commute/spec.h"

#include <string.h>

struct activation { /* of a function that is a unit */
	uint32_t event;
	const GPtrArray *declared; /* struct spec_set * */
};

struct specifier {
	struct atomic_model *m;
	const struct trace *t;
	struct atomic_places *places;
	GArray *memberships;
	const struct spec_set **of_set; /* by set of the model: what declares it, or NULL */
	GHashTable *units;              /* function -> GPtrArray of struct spec_set * */
	GHashTable *listed;             /* list of a ubeg -> GPtrArray of struct spec_set * */
	const struct specs *specs;
	GHashTable *instances;       /* "set instance" -> set + 1 */
	GHashTable *instance_counts; /* struct spec_set * -> instances */
	GHashTable *owner;           /* instance (interned) -> instance that owns it */
	GArray *sets_made;           /* struct made */
	GArray **sets;               /* by event: what it opens */
	GArray **open;               /* by thread: struct activation */
};

struct made {
	uint32_t set;
	const struct spec_set *of;
	const char *instance;
};

/* -- sets ------------------------------------------------------------------------------------
 */

static bool listed(const GPtrArray *names, const char *name)
{
	for (guint i = 0; name && i < names->len; i++)
		if (strcmp(names->pdata[i], name) == 0)
			return true;
	return false;
}

/* A global is named as it is, or by what it holds: "table" is "table[3]" and "table.x". */
static bool is_global_of(const struct spec_set *s, const char *name)
{
	for (guint i = 0; i < s->members->len; i++) {
		size_t length = strlen(s->members->pdata[i]);
		if (strncmp(name, s->members->pdata[i], length) == 0 &&
		    strchr(".[+@", name[length]) != NULL)
			return true;
	}
	return false;
}

/* Without a known type the member's name alone decides. */
static bool belongs(const struct spec_set *s, const struct atomic_place *place,
                    const char *name)
{
	if (s->type == NULL)
		return is_global_of(s, name);
	if (place->member == NULL ||
	    (place->type[0] != '\0' && strcmp(place->type, s->type) != 0))
		return false;
	return s->members->len == 0 ? place->type[0] != '\0'
	                            : listed(s->members, place->member);
}

static const char *outermost_owner(struct specifier *k, const char *instance)
{
	for (int hops = 0; hops < 64; hops++) {
		const char *owner = g_hash_table_lookup(k->owner, instance);
		if (owner == NULL || owner == instance)
			break;
		instance = owner;
	}
	return instance;
}

static uint32_t instance_set(struct specifier *k, const struct spec_set *s,
                             const char *instance)
{
	char *key = s->type ? g_strdup_printf("%s %s", s->name, instance) : g_strdup(s->name);
	uint32_t set = GPOINTER_TO_UINT(g_hash_table_lookup(k->instances, key)) - 1;
	if (set == NONE) {
		set = atomic_model_set(k->m, key, 'B');
		struct made made = { set, s, instance };
		g_array_append_val(k->sets_made, made);
		g_hash_table_insert(k->instances, key, GUINT_TO_POINTER(set + 1));
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(k->instance_counts, s));
		g_hash_table_insert(k->instance_counts, (gpointer)s,
		                    GUINT_TO_POINTER(count + 1));
		return set;
	}
	g_free(key);
	return set;
}

static void add_set_members(struct specifier *k, const struct spec_set *s)
{
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		const struct atomic_place *place = &k->places->at[v];
		if (!belongs(s, place, trace_string(k->t, k->t->variables[v].name)))
			continue;
		struct membership x = { v, instance_set(k, s, place->instance) };
		g_array_append_val(k->memberships, x);
	}
}

/* The one instance of a set needs no name of its own. */
static void name_sets(struct specifier *k)
{
	for (guint i = 0; i < k->sets_made->len; i++) {
		const struct made *made = &g_array_index(k->sets_made, struct made, i);
		if (GPOINTER_TO_UINT(g_hash_table_lookup(k->instance_counts, made->of)) != 1)
			continue;
		g_free(k->m->sets->pdata[made->set]);
		k->m->sets->pdata[made->set] = g_strdup(made->of->name);
	}
}

/* -- owned members ----------------------------------------------------------------------- */

/* The instance that a written value points to: a block by its address, or by its name. */
static const char *pointed_instance(struct specifier *k, uint32_t value, uint32_t event)
{
	const struct trace *t = k->t;
	const struct value *x = &t->values[value];
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		const struct block *b = &t->blocks[i];
		if (b->alloc == NONE || b->alloc > event ||
		    (b->free != NONE && b->free < event))
			continue;
		bool same =
		        x->kind == V_INT
		                ? b->address != 0 && (uint64_t)x->integer == b->address
		                : x->kind == V_TOKEN && strcmp(trace_string(t, x->string),
		                                               trace_string(t, b->name)) == 0;
		if (!same)
			continue;
		for (uint64_t v = 0; v < t->variables_count; v++)
			if (t->variables[v].block == i)
				return k->places->at[v].instance;
	}
	return NULL;
}

static void find_owned(struct specifier *k, const struct spec_owned *o)
{
	const struct trace *t = k->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!op_is_access(t->events[e].op) || !op_writes(t->events[e].op) ||
		    t->events[e].aux == 0)
			continue;
		const struct atomic_place *place =
		        &k->places->at[event_variables(t, &t->events[e]).first];
		if (place->member == NULL || strcmp(place->member, o->member) != 0 ||
		    (place->type[0] && strcmp(place->type, o->type) != 0))
			continue;
		const char *inner = pointed_instance(k, t->events[e].aux, e);
		if (inner != NULL && inner != place->instance)
			g_hash_table_insert(k->owner, (gpointer)inner,
			                    (gpointer)place->instance);
	}
}

/* What an owned instance holds belongs to its owner's sets, of whatever declaration. */
static void merge_owned(struct specifier *k)
{
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		const char *instance = k->places->at[v].instance;
		const char *outer = outermost_owner(k, instance);
		for (guint i = 0; outer != instance && i < k->sets_made->len; i++) {
			const struct made *made = &g_array_index(k->sets_made, struct made, i);
			struct membership x = { v, made->set };
			if (made->of->type != NULL && made->instance == outer)
				g_array_append_val(k->memberships, x);
		}
	}
}

/* -- units ------------------------------------------------------------------------------------
 */

static void add_unit(struct specifier *k, const char *function, const struct spec_set *s)
{
	GPtrArray *sets = g_hash_table_lookup(k->units, function);
	if (sets == NULL) {
		sets = g_ptr_array_new();
		g_hash_table_insert(k->units, g_strdup(function), sets);
	}
	g_ptr_array_add(sets, (gpointer)s);
}

static void add_units(struct specifier *k, const struct spec_atomics *a)
{
	for (guint i = 0; i < a->units->len; i++) {
		const struct spec_unit *u = a->units->pdata[i];
		for (guint j = 0; j < a->sets->len; j++) {
			const struct spec_set *s = a->sets->pdata[j];
			if (listed(u->sets, s->name))
				add_unit(k, u->function, s);
		}
	}
	/* Without recorded arguments a parameter's object is what the activation touches. */
	for (guint i = 0; i < a->unitfors->len; i++)
		for (guint j = 0; j < a->sets->len; j++) {
			const struct spec_set *s = a->sets->pdata[j];
			if (s->type != NULL)
				add_unit(k,
				         ((struct spec_unitfor *)a->unitfors->pdata[i])
				                 ->function,
				         s);
		}
}

static void note_touch(struct specifier *k, const struct activation *a, uint32_t set)
{
	GArray **opened = &k->sets[a->event];
	if (k->of_set[set] == NULL ||
	    !g_ptr_array_find((GPtrArray *)a->declared, k->of_set[set], NULL))
		return;
	if (*opened == NULL)
		*opened = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < (*opened)->len; i++)
		if (g_array_index(*opened, uint32_t, i) == set)
			return;
	g_array_append_val(*opened, set);
}

static void note_access(struct specifier *k, const struct event *e)
{
	const uint32_t *start = (const uint32_t *)(void *)k->m->member_start->data;
	struct wide run = event_variables(k->t, e);
	const GArray *open = k->open[e->thread];
	for (uint32_t v = run.first; open && v < run.first + run.count; v++)
		for (uint32_t i = start[v]; i < start[v + 1]; i++)
			for (guint a = 0; a < open->len; a++)
				note_touch(k, &g_array_index(open, struct activation, a),
				           g_array_index(k->m->members, uint32_t, i));
}

/* The sets of the specifications that a ubeg names itself, and those of its function. */
static const GPtrArray *sets_of_ubeg(struct specifier *k, const struct event *e)
{
	const struct trace *t = k->t;
	const GPtrArray *function = g_hash_table_lookup(k->units, trace_string(t, e->target));
	const struct value *list = &t->values[e->aux];
	gpointer key = GUINT_TO_POINTER(e->aux + 1);
	GPtrArray *sets = g_hash_table_lookup(k->listed, key);
	if (function != NULL || list->kind != V_LIST)
		return function;
	if (sets != NULL)
		return sets;
	sets = g_ptr_array_new();
	g_hash_table_insert(k->listed, key, sets);
	for (uint32_t i = 0; i < list->count; i++)
		for (guint a = 0; a < k->specs->atomics->len; a++) {
			const GPtrArray *all =
			        ((struct spec_atomics *)k->specs->atomics->pdata[a])->sets;
			const char *name = trace_string(
			        t, t->values[t->value_lists[list->first + i]].string);
			for (guint j = 0; j < all->len; j++)
				if (strcmp(((struct spec_set *)all->pdata[j])->name, name) == 0)
					g_ptr_array_add(sets, all->pdata[j]);
		}
	return sets;
}

static void note_scope(struct specifier *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	GArray **open = &k->open[e->thread];
	if (*open == NULL)
		*open = g_array_new(FALSE, FALSE, sizeof(struct activation));
	if (e->op == OP_ENTER || e->op == OP_UBEG) {
		struct activation a = {
			event,
			e->op == OP_UBEG
			        ? sets_of_ubeg(k, e)
			        : g_hash_table_lookup(k->units, trace_string(k->t, e->target))
		};
		if (a.declared != NULL)
			g_array_append_val(*open, a);
		return;
	}
	/* closes the innermost open one of its name, where that is a unit */
	for (guint i = (*open)->len; i-- > 0;) {
		const struct event *o =
		        &k->t->events[g_array_index(*open, struct activation, i).event];
		if ((e->op == OP_LEAVE) != (o->op == OP_ENTER) || o->target != e->target)
			continue;
		g_array_remove_index(*open, i);
		return;
	}
}

static void find_units(struct specifier *k)
{
	k->sets = g_new0(GArray *, k->t->events_count + 1);
	k->open = g_new0(GArray *, k->t->threads_count + 1);
	k->of_set = g_new0(const struct spec_set *, k->m->sets->len + 1);
	for (guint i = 0; i < k->sets_made->len; i++) {
		const struct made *made = &g_array_index(k->sets_made, struct made, i);
		k->of_set[made->set] = made->of;
	}
	for (uint32_t e = 0; e < k->t->events_count; e++) {
		enum op op = k->t->events[e].op;
		if (op_is_access(op))
			note_access(k, &k->t->events[e]);
		else if (op == OP_ENTER || op == OP_LEAVE || op == OP_UBEG || op == OP_UEND)
			note_scope(k, e);
	}
	atomic_model_opens(k->m, k->t, k->sets);
	for (uint64_t e = 0; e < k->t->events_count; e++)
		if (k->sets[e])
			g_array_free(k->sets[e], TRUE);
	for (uint64_t i = 0; i < k->t->threads_count; i++)
		if (k->open[i])
			g_array_free(k->open[i], TRUE);
	g_free(k->sets);
	g_free(k->open);
	g_free(k->of_set);
}

/* -- the whole
 * --------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum op op;
} splits[] = {
	{ "wait", OP_WAIT },      { "join", OP_JOIN }, { "fork", OP_FORK },
	{ "barrier", OP_ARRIVE }, { "take", OP_TAKE },
};

/* `split` lines replace the default, but for the wait: it splits always. */
static void add_splits(struct specifier *k, const struct spec_atomics *a)
{
	for (size_t i = 0; a->splits && i < G_N_ELEMENTS(splits); i++)
		if (listed(a->splits, splits[i].word))
			k->m->splits |= UINT64_C(1) << splits[i].op;
}

static void warn_of_empty_sets(struct specifier *k, const struct spec_atomics *a)
{
	for (guint i = 0; i < a->sets->len; i++)
		if (g_hash_table_lookup(k->instance_counts, a->sets->pdata[i]) == NULL)
			g_ptr_array_add(
			        k->m->notes,
			        g_strdup_printf("%s:%u: no variable of this trace is in set %s",
			                        a->file, a->line,
			                        ((struct spec_set *)a->sets->pdata[i])->name));
}

bool atomic_model_specify(struct atomic_model *m, const struct trace *t,
                          const struct specs *specs)
{
	if (specs->atomics->len == 0)
		return false;
	struct specifier k = { .m = m, .t = t, .specs = specs };
	k.listed = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	k.places = atomic_places_new(t, true);
	k.memberships = atomic_model_memberships(m, t);
	k.units = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                (GDestroyNotify)g_ptr_array_unref);
	k.instances = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	k.instance_counts = g_hash_table_new(NULL, NULL);
	k.owner = g_hash_table_new(NULL, NULL);
	k.sets_made = g_array_new(FALSE, FALSE, sizeof(struct made));
	for (guint i = 0; i < specs->atomics->len; i++) {
		const struct spec_atomics *a = specs->atomics->pdata[i];
		for (guint j = 0; j < a->sets->len; j++)
			add_set_members(&k, a->sets->pdata[j]);
		for (guint j = 0; j < a->owned->len; j++)
			find_owned(&k, a->owned->pdata[j]);
		add_units(&k, a);
		add_splits(&k, a);
		warn_of_empty_sets(&k, a);
	}
	merge_owned(&k);
	name_sets(&k);
	atomic_model_members(m, t, k.memberships);
	find_units(&k);
	g_array_free(k.memberships, TRUE);
	g_array_free(k.sets_made, TRUE);
	g_hash_table_unref(k.units);
	g_hash_table_unref(k.listed);
	g_hash_table_unref(k.instances);
	g_hash_table_unref(k.instance_counts);
	g_hash_table_unref(k.owner);
	atomic_places_free(k.places);
	return true;
}
