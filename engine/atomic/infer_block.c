/*
 * infer_block.c - builds the inferred `atomics` block: sets of members and globals, and the
 * functions that are units on them.
 *
 * A structure's members are split by the lock held at most accesses of each, when two locks
 * guard parts of one instance. The split is the same for all instances, so locks are compared
 * by role: the member that the lock is ("lock"), else its name without numbers
 * ("bucket_locks").
 */
#include "engine/atomic/infer.h"

#include <string.h>

/* A member of a structure, in all instances; or of an object of unknown type. */
struct member {
	GHashTable *roles; /* role -> accesses under it */
	const char *spelt; /* its spelling in the block */
	bool exempt;
};

struct structure {
	const char *type;    /* "": one object of unknown type */
	GHashTable *members; /* name -> struct member */
	GPtrArray *names;    /* const char *: its members, in order of occurrence */
	bool split;          /* two locks guard parts of an instance */
};

struct shapes {
	struct inference *k;
	GHashTable *structures; /* type, or instance of unknown type -> struct structure */
	GPtrArray *order;       /* the same structures, in order of occurrence */
	GHashTable *guards;     /* instance -> first lock seen to guard a part + 1 */
	GHashTable *used;       /* names of sets */
	GHashTable *namesakes;  /* names with an '@', cut there */
	GStringChunk *strings;
};

/* -- locks by role ------------------------------------------------------------------------ */

/* Append without numbers: "pool#2->lock" and "locks[7]" become "pool->lock" and "locks". */
static void append_unnumbered(GString *out, const char *name)
{
	for (; *name; name++) {
		if (*name == '#')
			name += strspn(name + 1, "0123456789");
		else if (*name == '[')
			name += strcspn(name, "]");
		else
			g_string_append_c(out, *name);
		if (*name == '\0')
			break;
	}
}

static const char *role_of(struct shapes *s, uint32_t lock, const char *instance)
{
	const char *name = trace_string(s->k->t, s->k->t->objects[lock].name);
	size_t length = strlen(instance);
	g_autoptr(GString) role = g_string_new(NULL);
	if (strncmp(name, instance, length) == 0)
		append_unnumbered(role, name + length + (name[length] == '.'));
	else
		append_unnumbered(role, name);
	return g_string_chunk_insert_const(s->strings, role->str);
}

/* -- facts about structures --------------------------------------------------------------- */

static void free_member(gpointer data)
{
	g_hash_table_unref(((struct member *)data)->roles);
	g_free(data);
}

static void free_structure(gpointer data)
{
	struct structure *s = data;
	g_hash_table_unref(s->members);
	g_ptr_array_unref(s->names);
	g_free(s);
}

static char *structure_key(const struct atomic_place *p)
{
	return g_strdup_printf("%s %s", p->type, p->type[0] ? "" : p->instance);
}

static const char *member_name(const struct atomic_place *p)
{
	return p->member ? p->member : p->instance;
}

static struct structure *structure_of(struct shapes *s, const struct atomic_place *p)
{
	char *key = structure_key(p);
	struct structure *x = g_hash_table_lookup(s->structures, key);
	if (x) {
		g_free(key);
		return x;
	}
	x = g_new0(struct structure, 1);
	x->type = p->type;
	x->members = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_member);
	x->names = g_ptr_array_new();
	g_hash_table_insert(s->structures, key, x);
	g_ptr_array_add(s->order, x);
	return x;
}

/* The trace's spelling up to the member: "pool->queue", "block@pool.c:12+8". */
static const char *spell(struct shapes *s, uint32_t v)
{
	const struct atomic_place *p = &s->k->places->at[v];
	const char *name = trace_variable_name(s->k->t, v);
	const char *member = p->member ? strstr(name + strlen(p->instance), p->member) : NULL;
	size_t length =
	        member ? (size_t)(member - name) + strlen(p->member) : strlen(p->instance);
	g_autofree char *copy = g_strndup(name, length);
	return g_string_chunk_insert_const(s->strings, copy);
}

static struct member *member_of(struct shapes *s, struct structure *x, uint32_t v)
{
	const struct atomic_place *p = &s->k->places->at[v];
	const char *name = member_name(p);
	struct member *m = g_hash_table_lookup(x->members, name);
	if (m)
		return m;
	m = g_new0(struct member, 1);
	m->roles = g_hash_table_new(g_str_hash, g_str_equal);
	m->spelt = p->type[0] ? name : spell(s, v);
	g_hash_table_insert(x->members, (gpointer)name, m);
	g_ptr_array_add(x->names, (gpointer)name);
	return m;
}

static void note_member(struct shapes *s, uint32_t v)
{
	struct inference *k = s->k;
	const struct atomic_place *p = &k->places->at[v];
	struct structure *x = structure_of(s, p);
	struct member *m = member_of(s, x, v);
	uint32_t lock = k->locks[v].lock;
	if (!infer_counts(k, v) || lock == NONE)
		return;
	const char *role = role_of(s, lock, p->instance);
	guint count = GPOINTER_TO_UINT(g_hash_table_lookup(m->roles, role)) + k->locks[v].count;
	g_hash_table_insert(m->roles, (gpointer)role, GUINT_TO_POINTER(count));
	guint first = GPOINTER_TO_UINT(g_hash_table_lookup(s->guards, p->instance));
	if (first == 0)
		g_hash_table_insert(s->guards, (gpointer)p->instance,
		                    GUINT_TO_POINTER(lock + 1));
	else if (first != lock + 1)
		x->split = true;
}

/* A member is exempt in all instances when it is in one, be that on a stack or in the hands of
 * one thread. */
static void note_exempt(struct shapes *s, uint32_t v)
{
	const struct atomic_place *p = &s->k->places->at[v];
	g_autofree char *key = structure_key(p);
	const struct structure *x = g_hash_table_lookup(s->structures, key);
	struct member *m = x ? g_hash_table_lookup(x->members, member_name(p)) : NULL;
	if (m)
		m->exempt = true;
}

/* The lock held at most accesses of the member; NULL: never any. */
static const char *main_role(const struct member *m)
{
	const char *best = NULL;
	guint most = 0;
	GHashTableIter i;
	gpointer role, count;
	g_hash_table_iter_init(&i, m->roles);
	while (g_hash_table_iter_next(&i, &role, &count)) {
		guint n = GPOINTER_TO_UINT(count);
		if (n > most || (n == most && best && strcmp(role, best) < 0)) {
			most = n;
			best = role;
		}
	}
	return best;
}

/* -- sets --------------------------------------------------------------------------------- */

static char *identifier(const char *text)
{
	GString *out = g_string_new(g_ascii_isdigit(text[0]) ? "_" : "");
	for (; *text; text++)
		if (g_ascii_isalnum(*text) || *text == '_')
			g_string_append_c(out, *text);
		else if (out->len && out->str[out->len - 1] != '_')
			g_string_append_c(out, '_');
	while (out->len && out->str[out->len - 1] == '_')
		g_string_truncate(out, out->len - 1);
	if (out->len == 0)
		g_string_append(out, "unnamed");
	return g_string_free(out, FALSE);
}

static struct spec_set *add_set(struct shapes *s, const char *name, const char *type)
{
	struct spec_set *set = g_new0(struct spec_set, 1);
	g_autofree char *base = identifier(name);
	set->name = g_strdup(base);
	for (unsigned n = 2; g_hash_table_contains(s->used, set->name); n++) {
		g_free(set->name);
		set->name = g_strdup_printf("%s_%u", base, n);
	}
	g_hash_table_add(s->used, set->name);
	set->type = type && type[0] ? g_strdup(type) : NULL;
	set->members = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(s->k->block->sets, set);
	return set;
}

/* Can the name be written without quotes? */
static bool is_plain(const char *name)
{
	bool plain = g_ascii_isalpha(name[0]) || name[0] == '_';
	for (; plain && *name; name++)
		plain = g_ascii_isalnum(*name) || *name == '_';
	return plain;
}

/* Collect names with an '@': the same name without it is ambiguous. */
static void note_namesakes(struct shapes *s)
{
	for (uint64_t v = 0; v < s->k->t->variables_count; v++) {
		const char *name = trace_variable_name(s->k->t, v);
		const char *at = strchr(name, '@');
		if (at)
			g_hash_table_add(s->namesakes, g_strndup(name, (gsize)(at - name)));
	}
}

static void add_member(struct shapes *s, struct spec_set *set, const char *name)
{
	g_ptr_array_add(set->members, g_strdup(name));
	set->exact |= set->type == NULL &&
	              (!is_plain(name) || g_hash_table_contains(s->namesakes, name));
}

/* The set of a structure's members under one lock; `role` NULL: under no lock. */
static struct spec_set *set_under(struct shapes *s, const struct structure *x,
                                  const struct member *m, const char *name, const char *role)
{
	g_autofree char *base = x->type[0] ? g_strdup(x->type)
	                        : strcmp(m->spelt, name) == 0
	                                ? g_strdup(name)
	                                : g_strndup(m->spelt, strlen(m->spelt) - strlen(name));
	while (base[0] && strchr(".->+", base[strlen(base) - 1]))
		base[strlen(base) - 1] = '\0';
	g_autofree char *full = !x->split ? g_strdup(base)
	                        : role    ? g_strdup_printf("%s_under_%s", base, role)
	                                  : g_strdup_printf("%s_unlocked", base);
	return add_set(s, full, x->type);
}

static void add_structure(struct shapes *s, const struct structure *x)
{
	g_autoptr(GHashTable) by_role = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < x->names->len; i++) {
		const struct member *m = g_hash_table_lookup(x->members, x->names->pdata[i]);
		const char *role = x->split ? main_role(m) : NULL;
		gpointer key = (gpointer)(role ? role : "");
		struct spec_set *set = g_hash_table_lookup(by_role, key);
		if (m->exempt)
			continue;
		if (set == NULL) {
			set = set_under(s, x, m, x->names->pdata[i], role);
			g_hash_table_insert(by_role, key, set);
		}
		add_member(s, set, m->spelt);
	}
}

static void add_globals(struct shapes *s)
{
	struct inference *k = s->k;
	g_autoptr(GHashTable) sets = g_hash_table_new(NULL, NULL); /* root's instance -> set */
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		const struct atomic_place *p = &k->places->at[v];
		if (!infer_is_scalar_global(k, v) || !infer_counts(k, v) ||
		    !g_hash_table_add(seen, (gpointer)p->instance))
			continue;
		const char *root = k->places->at[infer_root(k, v)].instance;
		struct spec_set *set = g_hash_table_lookup(sets, root);
		if (set == NULL) {
			set = add_set(s, root, NULL);
			g_hash_table_insert(sets, (gpointer)root, set);
		}
		add_member(s, set, p->instance);
	}
}

/* Elements of an array are joined, so that they are in one set. */
static void join_arrays(struct inference *k)
{
	g_autoptr(GHashTable) first = g_hash_table_new(NULL, NULL);
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		gpointer instance = (gpointer)k->places->at[v].instance;
		if (!infer_is_scalar_global(k, v) || !infer_counts(k, v))
			continue;
		guint known = GPOINTER_TO_UINT(g_hash_table_lookup(first, instance));
		if (known)
			k->joined[infer_root(k, v)] = infer_root(k, known - 1);
		else
			g_hash_table_insert(first, instance, GUINT_TO_POINTER(v + 1));
	}
}

/* -- owned members ------------------------------------------------------------------------ */

static char *member_key(const struct atomic_place *p)
{
	return g_strdup_printf("%s.%s", p->type, p->member);
}

/* A member owns its target when in all instances no other pointer led there, and some function
 * accessed both objects. */
static void add_owned(struct shapes *s)
{
	struct inference *k = s->k;
	g_autoptr(GHashTable) done =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		const struct atomic_place *p = &k->places->at[v];
		if (k->shares[v] && p->member)
			g_hash_table_add(done, member_key(p));
	}
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		const struct atomic_place *p = &k->places->at[v];
		if (!k->together[v] || p->type[0] == '\0' || p->member == NULL ||
		    !g_hash_table_add(done, member_key(p)))
			continue;
		struct spec_owned *o = g_new0(struct spec_owned, 1);
		o->type = g_strdup(p->type);
		o->member = g_strdup(p->member);
		g_ptr_array_add(k->block->owned, o);
	}
}

void infer_sets(struct inference *k)
{
	struct shapes s = { .k = k };
	s.structures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_structure);
	s.order = g_ptr_array_new();
	s.guards = g_hash_table_new(NULL, NULL);
	s.used = g_hash_table_new(g_str_hash, g_str_equal);
	s.namesakes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s.strings = g_string_chunk_new(4096);
	note_namesakes(&s);
	join_arrays(k);
	for (uint32_t v = 0; v < k->t->variables_count; v++)
		if (!infer_is_scalar_global(k, v) && !k->places->at[v].local &&
		    g_array_index(k->since, uint32_t, v) != NONE)
			note_member(&s, v);
	for (uint32_t v = 0; v < k->t->variables_count; v++)
		if (k->places->at[v].exempt)
			note_exempt(&s, v);
	for (guint i = 0; i < s.order->len; i++)
		add_structure(&s, s.order->pdata[i]);
	add_globals(&s);
	add_owned(&s);
	g_hash_table_unref(s.structures);
	g_ptr_array_unref(s.order);
	g_hash_table_unref(s.guards);
	g_hash_table_unref(s.used);
	g_hash_table_unref(s.namesakes);
	g_string_chunk_free(s.strings);
}

void infer_heap(struct inference *k)
{
	struct spec_set *set = g_new0(struct spec_set, 1);
	set->name = g_strdup("heap");
	set->members = g_ptr_array_new_with_free_func(g_free);
	set->everything = true;
	g_ptr_array_add(k->block->sets, set);
}

/* -- units -------------------------------------------------------------------------------- */

void infer_units(struct inference *k)
{
	const struct layout *l = &k->layout;
	for (uint32_t s = 1; s + 1 < k->t->string_offsets_count; s++) {
		if (l->units[s] == NULL)
			continue;
		struct spec_unit *u = g_new0(struct spec_unit, 1);
		u->function = g_strdup(trace_string(k->t, s));
		u->sets = g_ptr_array_new_with_free_func(g_free);
		for (uint32_t kind = 0; kind < l->kinds->len; kind++)
			if (l->units[s][kind / 64] >> kind % 64 & 1)
				g_ptr_array_add(
				        u->sets,
				        g_strdup(
				                ((const struct spec_set *)l->kinds->pdata[kind])
				                        ->name));
		g_ptr_array_add(k->block->units, u);
	}
}

void infer_habits(struct inference *k)
{
	g_autofree uint32_t *kinds = g_new0(uint32_t, k->m->sets->len + 1);
	for (guint i = 0; i < k->m->sets->len; i++) {
		const GArray *of = g_array_index(k->layout.sets, struct layout_set, i).kinds;
		kinds[i] = of ? g_array_index(of, uint32_t, 0) : 0;
	}
	atomic_habits_note(k->m, k->t, kinds);
}

/* -- text --------------------------------------------------------------------------------- */

static void append_names(GString *out, const GPtrArray *names, bool quoted)
{
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_string_append(out, i ? ", " : "");
		if (quoted || !is_plain(name))
			g_string_append_printf(out, "\"%s\"", name);
		else
			g_string_append(out, name);
	}
}

static void append_set(GString *out, const struct spec_set *s)
{
	if (s->everything) {
		g_string_append_printf(out, "  # set %s: all memory\n", s->name);
		return;
	}
	g_string_append_printf(out, "  set %s : ", s->name);
	if (s->type)
		g_string_append_printf(
		        out, is_plain(s->type) ? "struct %s { " : "struct \"%s\" { ", s->type);
	else
		g_string_append(out, "global ");
	append_names(out, s->members, s->type == NULL && s->exact);
	g_string_append(out, s->type ? " }\n" : "\n");
}

char *infer_print(const struct inference *k)
{
	const struct spec_atomics *a = k->block;
	GString *out = g_string_new("atomics inferred {\n");
	for (guint i = 0; i < a->sets->len; i++)
		append_set(out, a->sets->pdata[i]);
	for (guint i = 0; i < a->units->len; i++) {
		const struct spec_unit *u = a->units->pdata[i];
		g_string_append_printf(
		        out, is_plain(u->function) ? "  unit %s on " : "  unit \"%s\" on ",
		        u->function);
		append_names(out, u->sets, false);
		g_string_append_c(out, '\n');
	}
	for (guint i = 0; i < a->owned->len; i++) {
		const struct spec_owned *o = a->owned->pdata[i];
		g_string_append_printf(out,
		                       is_plain(o->type) ? "  owned struct %s . %s\n"
		                                         : "  owned struct \"%s\" . %s\n",
		                       o->type, o->member);
	}
	g_string_append(out, "  only shared\n  split ");
	if (a->splits->len)
		append_names(out, a->splits, false);
	else
		g_string_append(out, "none");
	g_string_append(out, "\n}\n");
	return g_string_free(out, FALSE);
}
