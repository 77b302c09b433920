/*
 * both_orders.c - the recorded order and the witness, compared: moved events, context switches
 * with their reasons, calls without a row, the checker's verdict. Each is a pass over the whole
 * witness, so a job does it for a long one.
 */
#include "tui/explorer/views/view_witness.h"

#include "engine/base/compare.h"
#include "engine/witness/check_reach.h"
#include "engine/witness/check_weak.h"
#include "tui/explorer/messages.h"

enum { AT_ONCE = 50000 }; /* events that are compared within 20 ms */

/* The job's data: all that it may read, since the session belongs to the screen's thread. */
struct comparison {
	struct witness_view *view; /* NULL: the view shows another subject by now */
	struct witness_view made;  /* given: `w`; made: stage to `accepted` */
	struct check_options options;
	struct semantics semantics;
	const struct session *session;
	bool weak;
	uint32_t target; /* of CLAIM_REACH */
	orders_taker *take;
};

/* The events in the recorded order; owned by the caller. */
static GArray *recorded_order(const struct trace *t, GArray *events)
{
	enum { FEW = 16 }; /* sorting a sixteenth of the trace costs a pass over all of it */
	if (events->len < t->events_count / FEW) {
		GArray *few = g_array_copy(events);
		g_array_sort(few, compare_u32);
		return few;
	}
	GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), events->len);
	g_autofree uint8_t *has = g_new0(uint8_t, t->events_count + 1);

	for (guint i = 0; i < events->len; i++)
		has[g_array_index(events, uint32_t, i)] = 1;
	for (uint32_t e = 0; e < t->events_count; e++)
		if (has[e])
			g_array_append_val(sorted, e);
	return sorted;
}

static void judge(struct comparison *c)
{
	const struct trace *t = c->session->trace;
	const struct witness *w = &c->made.w;
	const uint32_t *events = (const uint32_t *)(void *)w->events->data;
	const uint32_t *pair = (const uint32_t *)(void *)w->pair->data;
	g_autoptr(GString) reason = g_string_new(NULL);
	bool accepted =
	        c->weak ? witness_check_weak(t, (struct event_list){ events, w->events->len },
	                                     w->weak, w->memory, pair, reason)
	                : witness_check(t, (struct event_list){ events, w->events->len },
	                                claimed_of(w->claim, pair, w->pair->len), &c->options,
	                                reason);
	if (accepted && w->claim == CLAIM_REACH)
		accepted = check_reach(t, events, w->events->len - 1, c->target, w->condition,
		                       reason);
	c->made.accepted = accepted;
	c->made.verdict = g_strdup(accepted ? "checked" : reason->str);
}

static bool compare_orders(struct comparison *c, const struct progress *progress)
{
	const struct trace *t = c->session->trace;
	struct witness_view *v = &c->made;
	v->sorted = recorded_order(t, v->w.events);
	v->moves = schedule_moves(v->w.events);
	stage_init(&v->stage, c->session, v->w.events, false);
	v->calls_left = witness_calls_left(t, v->w.events, &v->calls_count);
	if (!progress_tick(progress, 0.1, NULL))
		return false;
	/* reasons for switches are known for sequentially consistent runs only */
	v->switches = c->weak ? g_array_new(FALSE, FALSE, sizeof(struct context_switch))
	                      : witness_switches(t, &v->w);
	if (!progress_tick(progress, 0.6, NULL))
		return false;
	judge(c);
	return true;
}

static bool compare_run(struct job *job, const struct progress *progress, struct error *error)
{
	return compare_orders(job->data, progress) || error_cancelled(error);
}

void both_orders_free(struct witness_view *v)
{
	stage_release(&v->stage);
	witness_release(&v->w);
	g_clear_pointer(&v->sorted, g_array_unref);
	g_clear_pointer(&v->switches, g_array_unref);
	g_clear_pointer(&v->moves, g_free);
	g_clear_pointer(&v->calls_left, g_free);
	g_clear_pointer(&v->verdict, g_free);
}

static void comparison_free(struct comparison *c)
{
	both_orders_free(&c->made);
	g_free(c);
}

static void compare_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct comparison *c = job->data;
	struct witness_view *v = app->jobs.closing ? NULL : c->view;
	if (v)
		v->comparison = NULL;
	if (v && good) {
		c->take(app, v, &c->made);
		app_refresh(app);
	}
	comparison_free(c);
}

void both_orders_make(struct app *app, struct witness_view *v, const struct witness *w,
                      uint32_t target, orders_taker *take)
{
	struct comparison *c = g_new0(struct comparison, 1);
	both_orders_leave(v);
	c->made.w = *w;
	c->target = target;
	c->take = take;
	c->session = app->session;
	c->weak = app->session->weak;
	c->options = session_check_options(app->session, w->claim, &c->semantics);
	if (w->events->len < AT_ONCE || c->options.semantics) { /* models are one thread's */
		compare_orders(c, NULL);
		take(app, v, &c->made);
		comparison_free(c);
		return;
	}
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup(WORK_BOTH_ORDERS);
	job->context = app;
	job->data = c;
	job->run = compare_run;
	job->done = compare_done;
	job->urgent = true;
	c->view = v;
	v->comparison = c;
	jobs_add(&app->jobs, job);
}

void both_orders_leave(struct witness_view *v)
{
	if (v->comparison)
		v->comparison->view = NULL;
	v->comparison = NULL;
}
