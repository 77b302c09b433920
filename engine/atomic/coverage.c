/*
 * coverage.c - limits of an answer about atomicity: the units of work, and the functions that
 * access an atomic set and cannot be units. An inlined function has no activation; a static
 * function is no unit on variables that only its callees access (an optimising compiler may
 * have changed its parameters); start routines of threads are never units.
 */
#include "engine/base/arrays.h"
#include "engine/atomic/atomic.h"

#include <string.h>

enum { NAMED = 6 }; /* functions that a note lists */

struct entered {
	uint32_t function;
	bool marked; /* it and its callers have been marked for an access to a set */
};

struct coverage {
	const struct trace *t;
	const struct atomic_model *m;
	GArray **frames;                       /* by thread: struct entered */
	bool *unit, *inlined, *called, *start; /* by string: functions */
};

static bool in_some_set(const struct coverage *c, const struct event *x)
{
	const uint32_t *start = (const uint32_t *)(const void *)c->m->member_start->data;
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (v + 1 < c->m->member_start->len && start[v] < start[v + 1])
			return true;
	return false;
}

static void note_touch(struct coverage *c, const struct event *x)
{
	GArray *frames = c->frames[x->thread];
	for (uint32_t l = x->location; c->t->locations[l].inlined != NONE;
	     l = c->t->locations[l].inlined)
		c->inlined[c->t->locations[l].function] = true;
	for (guint i = frames->len; i-- > 0;) {
		struct entered *f = &g_array_index(frames, struct entered, i);
		if (f->marked)
			break;
		f->marked = true;
		*(i == 0 ? &c->start[f->function] : &c->called[f->function]) = true;
	}
}

static void coverage_walk(struct coverage *c)
{
	const struct trace *t = c->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *frames = c->frames[x->thread];
		if (event_inert(x))
			continue;
		if (op_is_access(x->op)) {
			if (in_some_set(c, x))
				note_touch(c, x);
		} else if (x->op == OP_ENTER) {
			struct entered f = { x->target, false };
			g_array_append_val(frames, f);
		} else if (x->op == OP_LEAVE && frames->len > 0) {
			g_array_set_size(frames, frames->len - 1);
		}
	}
}

/* Is it the program's own function, not a library's? */
static bool is_own(const struct trace *t, uint32_t function)
{
	const char *name = trace_string(t, function);
	return *name != '\0' && strchr(name, '@') == NULL && !g_str_has_prefix(name, "std::") &&
	       !g_str_has_prefix(name, "__") && !g_str_has_prefix(name, "operator") &&
	       strcmp(name, "main") != 0;
}

/* Append the functions of the set as "f, g and 3 more"; returns their number. */
static guint append_functions(const struct coverage *c, const bool *set, GString *out)
{
	guint count = 0;
	for (uint32_t s = 1; s + 1 < c->t->string_offsets_count; s++) {
		if (!set[s] || !is_own(c->t, s))
			continue;
		if (count++ >= NAMED)
			continue;
		g_string_append(out, count > 1 ? ", " : "");
		append_escaped(out, trace_string(c->t, s), strlen(trace_string(c->t, s)));
	}
	if (count > NAMED)
		g_string_append_printf(out, " and %u more", count - NAMED);
	return count;
}

/* Note "WHY: f, g"; false when the set is empty. */
static bool note_functions(const struct coverage *c, const bool *set, const char *why,
                           struct report *r)
{
	g_autoptr(GString) names = g_string_new(NULL);
	bool any = append_functions(c, set, names) > 0;
	if (any)
		report_note(r, "%s: %s", why, names->str);
	return any;
}

static void note_left_out(struct coverage *c, struct report *r)
{
	const struct trace *t = c->t;
	g_autofree bool *closed = g_new0(bool, t->string_offsets_count + 1);
	for (uint32_t s = 0; s + 1 < t->string_offsets_count; s++) {
		c->inlined[s] &= !c->unit[s] && !c->called[s];
		c->start[s] &= !c->unit[s];
		closed[s] = c->called[s] && !c->unit[s] && !c->start[s] && c->m->closed[s];
	}
	bool inlined =
	        note_functions(c, c->inlined,
	                       "functions that touch these sets and are no units of work, "
	                       "as the compiler inlined them (-fno-inline keeps them)",
	                       r);
	bool statics =
	        note_functions(c, closed,
	                       "functions that touch these sets and are no units of work, "
	                       "as they are static (a specification declares them: unit F "
	                       "on SET)",
	                       r);
	note_functions(c, c->start, "functions in which threads begin are no units of work", r);
	if (inlined || statics)
		report_open(r,
		            "functions that touch these sets are no units of work, as they %s",
		            inlined ? "were inlined" : "are static");
}

static guint count_units(struct coverage *c)
{
	guint count = 0;
	for (guint i = 0; i < c->m->opens->len; i++) {
		const struct atomic_open *o =
		        &g_array_index(c->m->opens, struct atomic_open, i);
		uint32_t name = c->t->events[o->event].target;
		if (o->count == 0)
			continue;
		c->unit[name] = true;
		count++;
	}
	return count;
}

void atomic_coverage(const struct trace *t, const struct atomic_model *m, struct report *report)
{
	uint64_t strings = t->string_offsets_count + 1;
	struct coverage c = { .t = t,
		              .m = m,
		              .frames = arrays_new(t->threads_count, sizeof(struct entered)),
		              .unit = g_new0(bool, strings),
		              .inlined = g_new0(bool, strings),
		              .called = g_new0(bool, strings),
		              .start = g_new0(bool, strings) };
	g_autoptr(GString) names = g_string_new(NULL);
	guint units = count_units(&c);
	append_functions(&c, c.unit, names);
	if (units > 0)
		report_note(report, "units of work: %s (%u call%s)", names->str, units,
		            plural(units));
	if (m->closed != NULL) { /* inferred */
		coverage_walk(&c);
		note_left_out(&c, report);
	}
	if (units == 0) {
		report_note(
		        report,
		        "not complete, as no function was found to be a unit of work%s: nothing was checked",
		        m->sets->len == 0 ? ", and no variables that belong together" : "");
		report_open(report, "no function was found to be a unit of work");
	}
	if (m->lost)
		report_open(report,
		            "a unit of work was inlined, and its calls are not recorded");
	arrays_free(c.frames, t->threads_count);
	g_free(c.unit);
	g_free(c.inlined);
	g_free(c.called);
	g_free(c.start);
}
