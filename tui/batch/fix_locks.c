/* fix_locks.c - see fix_locks.h. */
#include "tui/batch/fix_locks.h"

#include "tui/batch/reports/report_file.h"

#include <string.h>

struct side {                        /* one place of the finding */
	const char *function, *file; /* names in the finding's place, whose line a fix moves */
	GArray *locks;               /* uint32_t: locks held at all its accesses so far */
	bool any;                    /* has it an access? */
};

struct looking {
	const struct trace *t;
	const json_t *finding;
	struct side sides[2];
	GArray **held; /* by thread: uint32_t, locks held for writing or reading */
};

static bool names_variable(const struct looking *x, uint32_t event)
{
	json_t *list = json_object_get(x->finding, "variables"), *name;
	struct wide run = event_variables(x->t, &x->t->events[event]);
	size_t i;

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		g_autofree char *is = variable_name(x->t, v);
		bool found = false;

		json_array_foreach(list, i, name) found |=
		        g_strcmp0(json_string_value(name), is) == 0;
		if (found)
			return true;
	}
	return false;
}

static bool holds(const GArray *locks, uint32_t lock)
{
	for (guint i = 0; locks && i < locks->len; i++)
		if (g_array_index(locks, uint32_t, i) == lock)
			return true;
	return false;
}

static void narrow(struct side *s, const GArray *held)
{
	if (!s->any) {
		s->any = true;
		g_array_append_vals(s->locks, held->data, held->len);
		return;
	}
	for (guint i = s->locks->len; i-- > 0;)
		if (!holds(held, g_array_index(s->locks, uint32_t, i)))
			g_array_remove_index(s->locks, i);
}

static bool is_at(const struct trace *t, uint32_t location, const struct side *s)
{
	const struct location *l = &t->locations[location];

	return strcmp(trace_string(t, l->function), s->function) == 0 &&
	       strcmp(base_name(trace_string(t, l->file)), s->file) == 0;
}

static void note_access(struct looking *x, uint32_t event)
{
	const struct event *e = &x->t->events[event];

	for (int k = 0; k < 2; k++)
		if (is_at(x->t, e->location, &x->sides[k]) && names_variable(x, event))
			narrow(&x->sides[k], x->held[e->thread]);
}

static void note_event(struct looking *x, uint32_t event)
{
	const struct event *e = &x->t->events[event];
	GArray *held = x->held[e->thread];

	if (event_inert(e))
		return;
	if (op_is_access(e->op))
		note_access(x, event);
	else if (op_releases(e->op)) {
		for (guint i = held->len; i-- > 0;)
			if (g_array_index(held, uint32_t, i) == e->target) {
				g_array_remove_index_fast(held, i);
				break;
			}
	} else if (op_acquires(e->op)) {
		g_array_append_val(held, e->target);
	}
}

static void looking_begin(struct looking *x)
{
	x->held = g_new0(GArray *, x->t->threads_count + 1);
	for (uint32_t u = 0; u < x->t->threads_count; u++)
		x->held[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void looking_end(struct looking *x)
{
	for (uint32_t u = 0; u < x->t->threads_count; u++)
		g_array_unref(x->held[u]);
	g_free(x->held);
}

char *fix_common_lock(const struct trace *t, const json_t *finding)
{
	json_t *sites = json_object_get(finding, "sites");
	struct looking x = { .t = t, .finding = finding };
	char *name = NULL;

	if (json_array_size(sites) != 2 || json_object_get(finding, "variables") == NULL)
		return NULL;
	looking_begin(&x);
	for (int k = 0; k < 2; k++) {
		const json_t *place = json_array_get(sites, (size_t)k);

		x.sides[k].function = json_word(place, "function");
		x.sides[k].file = base_name(json_word(place, "file"));
		x.sides[k].locks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	for (uint64_t e = 0; e < t->events_count; e++)
		note_event(&x, (uint32_t)e);
	for (guint i = 0; x.sides[1].any && i < x.sides[0].locks->len && name == NULL; i++) {
		uint32_t lock = g_array_index(x.sides[0].locks, uint32_t, i);

		if (holds(x.sides[1].locks, lock))
			name = g_strdup(printable(trace_string(t, t->objects[lock].name)));
	}
	for (int k = 0; k < 2; k++)
		g_array_unref(x.sides[k].locks);
	looking_end(&x);
	return name;
}
