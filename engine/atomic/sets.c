/*
 * sets.c - the sets of `atomics` blocks: one for each instance of a structure in the trace;
 * objects behind an owned pointer belong to the owner's set.
 */
#include "engine/atomic/layout.h"
#include "engine/atomic/pointers.h"

#include <string.h>

void layout_begin(struct layout *l, struct trace *t, struct atomic_model *m, char grade)
{
	*l = (struct layout){ .m = m, .t = t, .grade = grade };
	l->places = atomic_places_new(t, true);
	l->functions = atomic_functions_new(t, l->places);
	l->blocks = g_ptr_array_new();
	l->kinds = g_ptr_array_new();
	l->sets = g_array_new(FALSE, TRUE, sizeof(struct layout_set));
	l->owner = g_new(uint32_t, t->blocks_count + 1);
	memset(l->owner, 0xff, (t->blocks_count + 1) * sizeof *l->owner);
	l->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->parameters =
	        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	l->units = g_new0(uint64_t *, t->string_offsets_count + 1);
	l->unitfors = g_new0(uint64_t *, t->string_offsets_count + 1);
}

void layout_end(struct layout *l)
{
	for (uint64_t s = 0; s < l->t->string_offsets_count; s++) {
		g_free(l->units[s]);
		g_free(l->unitfors[s]);
	}
	for (guint i = 0; i < l->sets->len; i++)
		if (g_array_index(l->sets, struct layout_set, i).kinds)
			g_array_unref(g_array_index(l->sets, struct layout_set, i).kinds);
	g_free(l->units);
	g_free(l->unitfors);
	g_free(l->owner);
	g_array_unref(l->sets);
	g_hash_table_unref(l->by_name);
	g_hash_table_unref(l->parameters);
	g_ptr_array_unref(l->blocks);
	g_ptr_array_unref(l->kinds);
	atomic_functions_free(l->functions);
	atomic_places_free(l->places);
}

/* -- bit sets of kinds -------------------------------------------------------------------- */

bool layout_has(const uint64_t *kinds, const struct layout_set *s)
{
	for (guint i = 0; kinds && s->kinds && i < s->kinds->len; i++) {
		uint32_t kind = g_array_index(s->kinds, uint32_t, i);
		if (kinds[kind / 64] >> kind % 64 & 1)
			return true;
	}
	return false;
}

void layout_add_kinds(struct layout *l, uint64_t **kinds, const struct layout_set *s)
{
	if (*kinds == NULL)
		*kinds = g_new0(uint64_t, l->words + 1);
	for (guint i = 0; s->kinds && i < s->kinds->len; i++) {
		uint32_t kind = g_array_index(s->kinds, uint32_t, i);
		(*kinds)[kind / 64] |= UINT64_C(1) << kind % 64;
	}
}

/* -- the kinds of a variable -------------------------------------------------------------- */

static bool listed(const GPtrArray *names, const char *name)
{
	for (guint i = 0; name && i < names->len; i++)
		if (strcmp(names->pdata[i], name) == 0)
			return true;
	return false;
}

/* A global by its name, or a part of it: "table" matches "table[3]" and "table.x". */
static bool is_global_of(const struct spec_set *s, const char *name)
{
	for (guint i = 0; i < s->members->len; i++) {
		size_t length = strlen(s->members->pdata[i]);
		if (strncmp(name, s->members->pdata[i], length) == 0 &&
		    strchr(s->exact ? ".[+" : ".[+@", name[length]) != NULL)
			return true;
	}
	return false;
}

/* Without a known type, the member's name alone decides. */
static bool belongs(const struct spec_set *s, const struct atomic_place *place,
                    const char *name)
{
	if (s->everything)
		return !place->local && !place->exempt;
	if (s->type == NULL)
		return is_global_of(s, name);
	if (place->member == NULL ||
	    (place->type[0] != '\0' && strcmp(place->type, s->type) != 0))
		return false;
	return s->members->len == 0 ? place->type[0] != '\0'
	                            : listed(s->members, place->member);
}

/* -- owners ------------------------------------------------------------------------------- */

static bool is_owner(const struct layout *l, const struct atomic_place *p)
{
	for (guint b = 0; p->member && b < l->blocks->len; b++) {
		const struct spec_atomics *a = l->blocks->pdata[b];
		for (guint i = 0; i < a->owned->len; i++) {
			const struct spec_owned *o = a->owned->pdata[i];
			if (strcmp(p->member, o->member) == 0 &&
			    (p->type[0] == '\0' || strcmp(p->type, o->type) == 0))
				return true;
		}
	}
	return false;
}

static void note_owner(void *context, uint32_t variable, uint32_t block)
{
	struct layout *l = context;
	if (l->t->variables[variable].block != block && is_owner(l, &l->places->at[variable]))
		l->owner[block] = variable;
}

static void find_owners(struct layout *l)
{
	for (guint b = 0; b < l->blocks->len; b++)
		if (((const struct spec_atomics *)l->blocks->pdata[b])->owned->len > 0) {
			atomic_pointers(l->t, note_owner, l);
			return;
		}
}

/* The outermost member in the chain of owners of a variable's block; NONE: not owned. */
static uint32_t outermost_owner(const struct layout *l, uint32_t variable)
{
	uint32_t owner = NONE, block = l->t->variables[variable].block;
	for (int hops = 0; hops < 64 && block != NONE && l->owner[block] != NONE; hops++) {
		owner = l->owner[block];
		block = l->t->variables[owner].block;
	}
	return owner;
}

/* -- sets --------------------------------------------------------------------------------- */

static char *set_name(const struct spec_set *s, const char *instance)
{
	size_t length = strlen(instance);
	if (s->type == NULL)
		return g_strdup(s->name);
	if (length > 2 && strcmp(instance + length - 2, "->") == 0)
		return g_strdup_printf("%s *%.*s", s->name, (int)length - 2, instance);
	return g_strdup_printf("%s %s", s->name, instance);
}

/* The set of a kind in an instance; created when absent. */
static uint32_t set_of(struct layout *l, uint32_t kind, const struct atomic_place *place)
{
	const struct spec_set *s = l->kinds->pdata[kind];
	g_autofree char *name = set_name(s, place->instance);
	g_autofree char *key = g_strdup_printf("%u %s", kind, name);
	uint32_t set = GPOINTER_TO_UINT(g_hash_table_lookup(l->by_name, key)) - 1;
	if (set == NONE) {
		set = atomic_model_set(l->m, name, l->grade);
		g_hash_table_insert(l->by_name, g_strdup(key), GUINT_TO_POINTER(set + 1));
		if (set >= l->sets->len)
			g_array_set_size(l->sets, set + 1);
		struct layout_set *x = &g_array_index(l->sets, struct layout_set, set);
		if (x->kinds == NULL)
			x->kinds = g_array_new(FALSE, FALSE, sizeof kind);
		g_array_append_val(x->kinds, kind);
		x->type = s->type ? atomic_places_intern(l->places, s->type) : NULL;
		x->instance = place->instance;
	}
	return set;
}

static void join_kind(struct layout *l, uint32_t set, uint32_t kind)
{
	GArray *kinds = g_array_index(l->sets, struct layout_set, set).kinds;
	for (guint i = 0; i < kinds->len; i++)
		if (g_array_index(kinds, uint32_t, i) == kind)
			return;
	g_array_append_val(kinds, kind);
}

static void append_membership(GArray *to, uint32_t variable, uint32_t set)
{
	struct membership x = { variable, set };
	g_array_append_val(to, x);
}

/* Append the sets of an owned object: those of the owning pointer; if it is in none, all sets
 * of its structure. */
static void owners_sets(struct layout *l, uint32_t owner, GArray *sets)
{
	const struct atomic_place *p = &l->places->at[owner];
	for (int exactly = 1; exactly >= 0 && sets->len == 0; exactly--)
		for (uint32_t k = 0; k < l->kinds->len; k++) {
			const struct spec_set *s = l->kinds->pdata[k];
			bool typed = s->type != NULL &&
			             (p->type[0] == '\0' || strcmp(p->type, s->type) == 0);
			if (!typed ||
			    (exactly && s->members->len && !listed(s->members, p->member)))
				continue;
			uint32_t set = set_of(l, k, p);
			g_array_append_val(sets, set);
		}
}

/* Kinds that a variable may be of, by its type and by the head of its name. */
struct candidates {
	GHashTable *by_type, *by_head; /* char * -> GArray of uint32_t */
	GArray *structures, *all;      /* uint32_t */
};

static void add_candidate(GHashTable *by, char *key, uint32_t kind)
{
	GArray *kinds = g_hash_table_lookup(by, key);
	if (kinds == NULL)
		g_hash_table_insert(by, g_strdup(key),
		                    kinds = g_array_new(FALSE, FALSE, sizeof kind));
	if (kinds->len == 0 || g_array_index(kinds, uint32_t, kinds->len - 1) != kind)
		g_array_append_val(kinds, kind);
	g_free(key);
}

static char *head_of(const char *name)
{
	return g_strndup(name, strcspn(name, ".[+@-"));
}

static void find_candidates(const struct layout *l, struct candidates *c)
{
	c->by_type = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                   (GDestroyNotify)g_array_unref);
	c->by_head = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                   (GDestroyNotify)g_array_unref);
	c->structures = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t k = 0; k < l->kinds->len; k++) {
		const struct spec_set *s = l->kinds->pdata[k];
		if (s->everything)
			g_array_append_val(c->all, k);
		else if (s->type == NULL)
			for (guint i = 0; i < s->members->len; i++)
				add_candidate(c->by_head, head_of(s->members->pdata[i]), k);
		else {
			add_candidate(c->by_type, g_strdup(s->type), k);
			g_array_append_val(c->structures, k);
		}
	}
}

static void release_candidates(struct candidates *c)
{
	g_hash_table_unref(c->by_type);
	g_hash_table_unref(c->by_head);
	g_array_unref(c->structures);
	g_array_unref(c->all);
}

/* State while variables are placed in sets. */
struct placing {
	struct layout *l;
	struct candidates candidates;
	GArray *memberships; /* struct membership */
	GArray *owners;      /* uint32_t: sets of the current variable's owner */
	bool only_shared;    /* stacks are in no set */
};

static void place_among(struct placing *p, uint32_t v, const GArray *kinds)
{
	const struct atomic_place *place = &p->l->places->at[v];
	const char *name = trace_variable_name(p->l->t, v);
	for (guint n = 0; kinds && n < kinds->len; n++) {
		uint32_t k = g_array_index(kinds, uint32_t, n);
		if (!belongs(p->l->kinds->pdata[k], place, name))
			continue;
		for (guint i = 0; i < p->owners->len; i++) {
			uint32_t set = g_array_index(p->owners, uint32_t, i);
			join_kind(p->l, set, k);
			append_membership(p->memberships, v, set);
		}
		if (p->owners->len == 0)
			append_membership(p->memberships, v, set_of(p->l, k, place));
	}
}

static void place_variable(struct placing *p, uint32_t v)
{
	const struct atomic_place *place = &p->l->places->at[v];
	if (p->only_shared && place->local)
		return;
	uint32_t owner = outermost_owner(p->l, v);
	g_array_set_size(p->owners, 0);
	if (owner != NONE)
		owners_sets(p->l, owner, p->owners);
	for (guint i = 0; i < p->owners->len && !place->exempt; i++)
		append_membership(p->memberships, v, g_array_index(p->owners, uint32_t, i));
	g_autofree char *head = head_of(trace_variable_name(p->l->t, v));
	place_among(p, v, g_hash_table_lookup(p->candidates.by_head, head));
	place_among(p, v,
	            place->type[0] ? g_hash_table_lookup(p->candidates.by_type, place->type)
	                           : p->candidates.structures);
	place_among(p, v, p->candidates.all);
}

/* A kind with one set needs no instance in the name. */
static void shorten_names(struct layout *l)
{
	g_autofree guint *counts = g_new0(guint, l->kinds->len + 1);
	for (guint i = 0; i < l->sets->len; i++) {
		GArray *kinds = g_array_index(l->sets, struct layout_set, i).kinds;
		if (kinds)
			counts[g_array_index(kinds, uint32_t, 0)]++;
	}
	for (guint i = 0; i < l->sets->len; i++) {
		GArray *kinds = g_array_index(l->sets, struct layout_set, i).kinds;
		uint32_t kind = kinds ? g_array_index(kinds, uint32_t, 0) : 0;
		if (kinds == NULL || counts[kind] != 1)
			continue;
		g_free(l->m->sets->pdata[i]);
		l->m->sets->pdata[i] =
		        g_strdup(((const struct spec_set *)l->kinds->pdata[kind])->name);
	}
}

void atomic_sharing(const struct trace *t, GArray *since)
{
	g_autofree uint32_t *first = g_new(uint32_t, t->variables_count + 1);
	guint start = since->len;
	memset(first, 0xff, (t->variables_count + 1) * sizeof *first);
	g_array_set_size(since, (guint)(start + t->variables_count));
	uint32_t *at = &g_array_index(since, uint32_t, start);
	if (t->variables_count)
		memset(at, 0xff, t->variables_count * sizeof *at);
	for (uint32_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (!op_is_access(e->op) || event_inert(e))
			continue;
		struct wide run = event_variables(t, e);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (first[v] == NONE)
				first[v] = e->thread;
			else if (first[v] != e->thread && at[v] == NONE)
				at[v] = i;
		}
	}
}

static bool counts_only_shared(const struct layout *l)
{
	bool shared = false;
	for (guint b = 0; b < l->blocks->len; b++)
		shared |= ((const struct spec_atomics *)l->blocks->pdata[b])->only_shared;
	return shared;
}

static void collect_kinds(struct layout *l)
{
	for (guint b = 0; b < l->blocks->len; b++) {
		const struct spec_atomics *a = l->blocks->pdata[b];
		for (guint i = 0; i < a->sets->len; i++)
			g_ptr_array_add(l->kinds, a->sets->pdata[i]);
	}
	l->words = (l->kinds->len + 63) / 64;
}

void layout_sets(struct layout *l)
{
	struct placing p = { .l = l, .only_shared = counts_only_shared(l) };
	p.memberships = atomic_model_memberships(l->m, l->t);
	p.owners = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	collect_kinds(l);
	find_candidates(l, &p.candidates);
	g_array_set_size(l->sets, l->m->sets->len); /* keep only the sets of the trace itself */
	find_owners(l);
	for (uint32_t v = 0; v < l->t->variables_count; v++)
		place_variable(&p, v);
	g_array_set_size(l->sets, l->m->sets->len);
	shorten_names(l);
	g_array_set_size(l->m->since, 0);
	if (p.only_shared)
		atomic_sharing(l->t, l->m->since);
	atomic_model_members(l->m, l->t, p.memberships);
	release_candidates(&p.candidates);
	g_array_free(p.memberships, TRUE);
	g_array_free(p.owners, TRUE);
}
