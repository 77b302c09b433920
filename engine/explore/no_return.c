/*
 * no_return.c - see no_return.h.
 */
#include "engine/explore/no_return.h"

#include "engine/explore/runs/channel_steps.h"
#include "engine/explore/runs/lifetimes.h"
#include "engine/predict/deadlock/completion.h"
#include "engine/trace/own_code.h"

#include <string.h>

enum {
	MOST_KEPT_EVENTS = 2000000, /* of all of them */
	MOST_ERRORS = 16,           /* errors whose points are computed */
	MOST_WORK = 20000000,       /* events taken, and steps of searches, for one error */
	MOST_STATES = 20000,        /* for one question: can the run's end be reached? */
	MOST_CHOICES = 64,          /* choices of the threads that signals woke */
};

struct kept_run {
	uint32_t run;
	struct trace *trace;
};

struct no_return {
	const GPtrArray *finals; /* char *: names, or NULL */
	GArray *runs;            /* struct kept_run */
	uint64_t events;
	bool left_out; /* some run was not kept */
};

struct no_return *no_return_new(const GPtrArray *finals)
{
	struct no_return *n = g_new0(struct no_return, 1);

	n->finals = finals;
	n->runs = g_array_new(FALSE, FALSE, sizeof(struct kept_run));
	return n;
}

void no_return_clear(struct no_return *n)
{
	for (guint i = 0; i < n->runs->len; i++)
		trace_close(g_array_index(n->runs, struct kept_run, i).trace);
	g_array_set_size(n->runs, 0);
	n->events = 0;
	n->left_out = false;
}

void no_return_free(struct no_return *n)
{
	if (n == NULL)
		return;
	no_return_clear(n);
	g_array_free(n->runs, TRUE);
	g_free(n);
}

void no_return_keep(struct no_return *n, uint32_t run, struct trace *trace)
{
	struct kept_run k = { run, trace };

	if (n->runs->len >= NO_RETURN_RUNS ||
	    n->events + trace->events_count > MOST_KEPT_EVENTS) {
		n->left_out = true;
		trace_close(trace);
		return;
	}
	n->events += trace->events_count;
	g_array_append_val(n->runs, k);
}

/* -- one failing run and one that passed ----------------------------------------------------- */

struct failing {
	struct trace *t;
	GPtrArray *texts; /* char *: its events in words, without wants */
	uint32_t *woken;  /* by signal: the thread that it woke, or NONE */
	uint32_t count;
	uint64_t work; /* events taken in all comparisons */
	/* -- the best so far */
	uint32_t good;             /* events after which some run passes */
	uint32_t passing, instead; /* that run, and its next event there, or NONE */
	const struct trace *passing_t;
	bool open; /* for some run the answer is unknown */
};

/* Names of stack variables depend on the run, so they are left out: the place and the value
 * identify the event, as a thread's behaviour follows from the values that it reads. */
static void drop_stack_name(const struct trace *t, const struct event *e, GString *text)
{
	uint32_t block =
	        op_is_access(e->op) ? t->variables[event_variables(t, e).first].block : NONE;
	if (block == NONE || t->blocks[block].alloc != NONE)
		return;
	GString *name = g_string_new(NULL);
	trace_append_variable(t, e, name);
	const char *at = name->len > 0 ? strstr(text->str, name->str) : NULL;
	if (at != NULL)
		g_string_erase(text, at - text->str, (gssize)name->len);
	g_string_free(name, TRUE);
}

static char *event_text(const struct trace *t, uint32_t e)
{
	GString *text = g_string_new(trace_thread_name(t, t->events[e].thread));

	g_string_append_c(text, ' ');
	trace_append_operation(t, e, text);
	drop_stack_name(t, &t->events[e], text);
	g_string_append_printf(text, " %s", trace_location_name(t, e));
	return g_string_free(text, FALSE);
}

/* Finds the thread that each signal woke, from the trace's must-order: no event says it. */
static void pair_wakes(struct failing *f)
{
	const struct trace *t = f->t;

	f->woken = g_new(uint32_t, t->events_count + 1);
	memset(f->woken, 0xff, sizeof(uint32_t) * (t->events_count + 1));
	for (uint64_t i = 0; i < t->index->must_count; i++) {
		const struct must_edge *edge = &t->index->must[i];

		if (edge->rule == MUST_WAKER)
			f->woken[edge->before] = t->events[edge->after].thread;
	}
}

/* False when cancelled. */
static bool failing_init(struct failing *f, struct trace *t, const struct progress *progress)
{
	*f = (struct failing){ .t = t, .passing = NONE, .instead = NONE };
	if (!trace_need(t, INDEX_MATCH | INDEX_MUST, progress))
		return false;
	pair_wakes(f);
	f->texts = g_ptr_array_new_with_free_func(g_free);
	f->count = (uint32_t)t->events_count;
	while (f->count > 0 && op_wants(t->events[f->count - 1].op))
		f->count--;
	for (uint32_t e = 0; e < f->count; e++)
		g_ptr_array_add(f->texts, event_text(t, e));
	return true;
}

static void failing_release(struct failing *f)
{
	g_ptr_array_unref(f->texts);
	g_free(f->woken);
}

static uint32_t thread_named(const struct trace *t, const char *name)
{
	for (uint32_t u = 0; u < t->threads_count; u++) {
		if (strcmp(trace_thread_name(t, u), name) == 0)
			return u;
	}
	return NONE;
}

/* A run that passed. */
struct passing {
	struct run_state *s;
	struct persistent *reduction;
	uint32_t *threads; /* by the failing run's */
	GArray *choices;   /* struct choice */
	uint32_t next;     /* of the last sequence found: its first event, or NONE */
	bool *final;       /* by variable: does its last value count? */
	uint32_t *last;    /* by variable: its last write in the run, or NONE */
};

/* A signal of the failing run that woke one of `of` threads, without the run showing which. */
struct choice {
	uint32_t at, of;
};

/* The next way to choose; false after the last one. */
static bool choose_next(GArray *choices)
{
	while (choices->len > 0) {
		struct choice *c = &g_array_index(choices, struct choice, choices->len - 1);

		if (++c->at < c->of)
			return true;
		g_array_set_size(choices, choices->len - 1);
	}
	return false;
}

/* Was the thread of the failing run still in its wait when the run ended? */
static bool waits_on(const struct failing *f, uint32_t from, uint32_t thread)
{
	for (uint32_t e = from; e < f->count; e++) {
		if (f->t->events[e].thread == thread)
			return false;
	}
	return true;
}

/* The thread that the failing run's signal wakes. If no wake shows it, the `chosen`-th choice
 * selects one of those that still wait. */
static uint32_t waiter(const struct failing *f, uint32_t signal, const struct passing *p,
                       uint32_t *chosen)
{
	const struct event *x = &f->t->events[signal];
	uint32_t e = run_state_event(p->s, p->threads[x->thread]), count = 0, found = NONE;

	if (x->op != OP_SIGNAL)
		return NONE;
	if (f->woken[signal] != NONE)
		return p->threads[f->woken[signal]];
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t at = 0, i = 0;

		if (round == 1 && count > 1) {
			struct choice c = { 0, count };
			if (*chosen == p->choices->len)
				g_array_append_val(p->choices, c);
			at = g_array_index(p->choices, struct choice, (*chosen)++).at;
		}
		for (uint32_t u = 0; u < f->t->threads_count; u++) {
			uint32_t other = p->threads[u];

			if (other == NONE || !run_state_may_wake(p->s, e, other) ||
			    !waits_on(f, signal, u))
				continue;
			count += round == 0;
			found = round == 1 && i++ == at ? other : found;
		}
	}
	return found;
}

/* Takes the failing run's first events, `most` at most, as long as they are also next in the
 * passing run, with the same outcome; returns their number. */
static uint32_t follow(struct failing *f, const struct passing *p, uint32_t most)
{
	struct run_state *s = p->s;
	uint32_t i = 0, chosen = 0;

	run_state_undo(s, 0);
	for (; i < most; i++) {
		uint32_t u = p->threads[f->t->events[i].thread];

		f->work++;
		if (u == NONE || run_state_event(s, u) == NONE ||
		    run_state_next(s, u) != NEXT_RUNS)
			break;
		char *text = event_text(s->t, run_state_event(s, u));
		bool same = strcmp(text, f->texts->pdata[i]) == 0;
		g_free(text);
		if (!same)
			break;
		run_state_step(s, u, waiter(f, i, p, &chosen));
	}
	return i;
}

static uint32_t value_written(const struct trace *t, uint32_t e)
{
	const struct event *x = &t->events[e];

	return x->op == OP_RMW && x->aux != 0 ? trace_value(t, x->aux).second : x->aux;
}

/* Do the variables that count end with their values in the run? */
static bool ends_so(void *context, const struct run_state *s)
{
	const struct passing *p = context;

	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		uint32_t last = s->last[v] - 1, was = p->last[v];

		if (!p->final[v] || last == was)
			continue;
		if (last == NONE || was == NONE || value_written(s->t, was) == 0 ||
		    value_written(s->t, last) != value_written(s->t, was))
			return false;
	}
	return true;
}

static void find_finals(struct passing *p, const GPtrArray *names)
{
	const struct trace *t = p->s->t;

	p->final = g_new0(bool, t->variables_count + 1);
	p->last = g_new(uint32_t, t->variables_count + 1);
	for (guint i = 0; names != NULL && i < names->len; i++) {
		struct wide range = final_range(t, names->pdata[i]);

		for (uint32_t v = range.first; v < range.first + range.count; v++) {
			p->final[v] = true;
			p->last[v] = final_write(t, v);
			p->s->read[v] =
			        true; /* states differ by it, although no event reads it */
		}
	}
}

static bool is_worked_off(const struct failing *f, const struct passing *p)
{
	return f->work + persistent_work(p->reduction) > MOST_WORK;
}

/* After the failing run's first `count` events, can the passing run still come to its end? */
static bool goes_on(struct failing *f, struct passing *p, uint32_t count)
{
	enum completion c = COMPLETION_NONE;
	unsigned ways = 0;
	uint32_t next;

	g_array_set_size(p->choices, 0);
	do {
		if (follow(f, p, count) < count)
			continue;
		f->work += p->s->t->events_count;
		c = run_state_completes(p->s, p->reduction, MOST_STATES, ends_so, p, &next);
		f->open |= c == COMPLETION_UNKNOWN;
	} while (c != COMPLETION_FOUND && choose_next(p->choices) && ++ways < MOST_CHOICES &&
	         !is_worked_off(f, p));
	f->open |= ways == MOST_CHOICES || (c != COMPLETION_FOUND && is_worked_off(f, p));
	p->next = c == COMPLETION_FOUND ? next : p->next;
	return c == COMPLETION_FOUND;
}

/* The largest number of events of the failing run that can be taken. */
static uint32_t most_followed(struct failing *f, struct passing *p)
{
	uint32_t most = 0;
	unsigned ways = 0;

	g_array_set_size(p->choices, 0);
	do
		most = MAX(most, follow(f, p, f->count));
	while (most < f->count && choose_next(p->choices) && ++ways < MOST_CHOICES);
	f->open |= ways == MOST_CHOICES;
	return most;
}

/* Updates the point if the passing run can still reach its end after more events than those
 * before. */
static void improve(struct failing *f, struct passing *p, uint32_t run)
{
	uint32_t least = f->passing == NONE ? 0 : f->good + 1;
	uint32_t most = most_followed(f, p), low = least;

	if (most < least || !goes_on(f, p, least))
		return;
	while (low < most) {
		uint32_t middle = low + (most - low + 1) / 2;

		if (goes_on(f, p, middle))
			low = middle;
		else
			most = middle - 1;
	}
	if (!goes_on(f, p, low) || p->next == NONE)
		return;
	f->good = low;
	f->passing = run;
	f->passing_t = p->s->t;
	f->instead = p->next;
}

static void compare(struct failing *f, const struct no_return *n, uint32_t run, struct trace *t,
                    const struct progress *progress)
{
	struct passing p = { .s = run_state_new(t, true, progress), .next = NONE };

	if (p.s == NULL || f->work > MOST_WORK) {
		f->open = true;
		run_state_free(p.s);
		return;
	}
	p.reduction = persistent_new(p.s);
	p.choices = g_array_new(FALSE, FALSE, sizeof(struct choice));
	p.threads = g_new(uint32_t, f->t->threads_count + 1);
	for (uint32_t u = 0; u < f->t->threads_count; u++)
		p.threads[u] = thread_named(t, trace_thread_name(f->t, u));
	find_finals(&p, n->finals);
	improve(f, &p, run);
	g_free(p.final);
	g_free(p.last);
	g_free(p.threads);
	g_array_free(p.choices, TRUE);
	f->work += persistent_work(p.reduction);
	persistent_free(p.reduction);
	run_state_free(p.s);
}

/* -- the report ------------------------------------------------------------------------------ */

static bool has_passed(const struct explore_report *r, uint32_t run)
{
	const struct explore_run *at = &g_array_index(r->runs, struct explore_run, run);

	if (at->redundant || at->strayed ||
	    (at->end != EXPLORE_FINE && at->end != EXPLORE_STATUS))
		return false;
	for (guint i = 0; i < r->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(r->errors, struct explore_error, i);

		if (e->run == run || (e->end == EXPLORE_STATUS && at->end == EXPLORE_STATUS &&
		                      e->status == at->status))
			return false;
	}
	return true;
}

bool no_return_needs(const struct explore_report *r, uint32_t run)
{
	bool first = false;

	for (guint i = 0; i < r->errors->len && i < MOST_ERRORS; i++)
		first |= g_array_index(r->errors, struct explore_error, i).run == run;
	return first || has_passed(r, run);
}

void no_return_leave_out(struct no_return *n)
{
	n->left_out = true;
}

static struct explore_event event_of(const struct trace *t, uint32_t e)
{
	struct explore_event event = { .event = e };

	if (e == NONE)
		return event;
	/* "lock m", "read x" */
	GString *text = g_string_new(trace_verb(t, e));
	trace_append_operand(t, e, text);
	event.thread = g_strdup(trace_thread_name(t, t->events[e].thread));
	event.text = g_string_free(text, FALSE);
	event.place = g_strdup(own_code_place_name(t, e));
	event.site = g_strdup(trace_location_name(t, e));
	return event;
}

static bool does_something(const struct trace *t, uint32_t e)
{
	enum op_class class = op_table[t->events[e].op].class;

	return class != OP_CLASS_SCOPE && class != OP_CLASS_MARKER &&
	       !event_inert(&t->events[e]);
}

/* The last event before `end` that has an effect, or NONE. */
static uint32_t last_before(const struct trace *t, uint32_t end)
{
	while (end > 0 && !does_something(t, end - 1))
		end--;
	return end == 0 ? NONE : end - 1;
}

/* The thread's first event from `e` on that has an effect. */
static uint32_t first_from(const struct trace *t, uint32_t e)
{
	for (uint32_t i = e; i < t->events_count; i++) {
		if (t->events[i].thread == t->events[e].thread && does_something(t, i))
			return i;
	}
	return e;
}

/* Passing runs are reordered without regard to functions that return (predict/deadlock's
 * run_state), so that a use after a return might count as passed. */
static bool uses_after_return(struct trace *t)
{
	struct lifetimes *l = lifetimes_new(t);
	bool any = lifetimes_any_return(l);
	lifetimes_free(l);
	return any;
}

/* They are reordered without regard to what is in channels (runs/channel_steps.h), too. */
static bool uses_channels(const struct trace *t)
{
	uint32_t v = 0;
	while (v < t->variables_count && !channel_steps_variable(t, v))
		v++;
	return v < t->variables_count;
}

static void find_point(struct no_return *n, struct explore_report *report, uint32_t error,
                       const struct progress *progress)
{
	uint32_t run = g_array_index(report->errors, struct explore_error, error).run;
	struct trace *t = NULL;
	struct failing f;

	for (guint i = 0; i < n->runs->len; i++) {
		const struct kept_run *k = &g_array_index(n->runs, struct kept_run, i);

		t = k->run == run ? k->trace : t;
	}
	if (t == NULL || uses_after_return(t) || uses_channels(t) ||
	    !failing_init(&f, t, progress))
		return;
	for (guint i = 0; i < n->runs->len; i++) {
		const struct kept_run *k = &g_array_index(n->runs, struct kept_run, i);

		if (has_passed(report, k->run))
			compare(&f, n, k->run, k->trace, progress);
	}
	if (f.passing != NONE && f.good < f.count) {
		struct explore_point point = {
			.error = error,
			.run = run,
			.passing = f.passing,
			.passes = event_of(t, last_before(t, f.good)),
			.fails = event_of(t, f.good),
			.instead = event_of(f.passing_t, first_from(f.passing_t, f.instead)),
			.every = report->complete && !n->left_out && !f.open,
		};
		g_array_append_val(report->points, point);
	}
	failing_release(&f);
}

void no_return_find(struct no_return *n, struct explore_report *report,
                    const struct progress *progress)
{
	for (guint i = 0; i < report->errors->len && i < MOST_ERRORS; i++) {
		const struct explore_error *e =
		        &g_array_index(report->errors, struct explore_error, i);
		/* a reordering of a run that ends well may have a failing history */
		if (e->end != EXPLORE_LINEARIZABILITY)
			find_point(n, report, i, progress);
	}
}
