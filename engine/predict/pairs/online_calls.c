/* online_calls.c - see online_calls.h. */
#include "engine/predict/pairs/online_calls.h"

/* A call, and its thread's clock as it began. */
struct timed_call {
	struct online_call call;
	uint32_t clock;
	bool specified;
	struct edc_held *held; /* a reference; at its end */
};

struct online_calls {
	const struct online_sink *sink;
	struct clocks *clocks;
	struct online_items *items;
	struct online_turns *turns;
	GPtrArray *open; /* by thread: GArray of struct timed_call, outermost first; or NULL */
	GPtrArray *last; /* by item: GArray of struct timed_call, of calls that have ended */
};

static GArray *list_at(GPtrArray *lists, uint32_t i)
{
	if (i >= lists->len)
		g_ptr_array_set_size(lists, (int)i + 1);
	if (lists->pdata[i] == NULL)
		lists->pdata[i] = g_array_new(FALSE, FALSE, sizeof(struct timed_call));
	return lists->pdata[i];
}

static struct timed_call beginning(struct online_calls *s, const struct flow_event *x)
{
	return (struct timed_call){
		.call = { .at = { x->number + 1, x->thread, x->point },
		          .object = x->target,
		          .method = x->method,
		          .condition = op_table[x->op].operand == OPERAND_OBJECT },
		.clock = clocks_hold(s->clocks, x->thread),
		.specified = x->specified,
	};
}

void online_calls_begin(struct online_calls *s, const struct flow_event *x)
{
	struct timed_call c = beginning(s, x);
	g_array_append_val(list_at(s->open, x->thread), c);
}

uint32_t online_calls_scope(const struct online_calls *s, uint32_t thread)
{
	const GArray *open = thread < s->open->len ? s->open->pdata[thread] : NULL;
	for (guint i = open ? open->len : 0; i-- > 0;) {
		const struct timed_call *c = &g_array_index(open, struct timed_call, i);
		if (c->specified)
			return c->call.object;
	}
	return NONE;
}

/* Compares two calls. `earlier` has ended before `now`, but may have begun later. */
static void compare(struct online_calls *s, const struct timed_call *earlier,
                    const struct timed_call *now)
{
	bool turned = earlier->call.at.time > now->call.at.time;
	const struct timed_call *a = turned ? now : earlier, *b = turned ? earlier : now;
	if (earlier->call.at.thread == now->call.at.thread ||
	    clocks_time(s->clocks, b->clock, a->call.at.thread) >= a->call.at.time ||
	    (!a->call.condition && !s->sink->asks(s->sink->context, &a->call, &b->call)))
		return;
	online_turns_add(s->turns, &(struct online_turn){ { earlier->call, now->call },
	                                                  { earlier->held, now->held },
	                                                  NONE });
}

static void keep(struct online_calls *s, const struct timed_call *now, uint32_t item)
{
	GArray *list = list_at(s->last, item);
	guint i = 0;
	for (; i < list->len; i++) {
		const struct timed_call *c = &g_array_index(list, struct timed_call, i);
		if (c->call.at.thread == now->call.at.thread &&
		    (uint32_t)c->call.at.point == (uint32_t)now->call.at.point)
			break;
	}
	edc_held_ref(now->held);
	if (i == list->len) {
		g_array_append_vals(list, now, 1);
		return;
	}
	edc_held_unref(g_array_index(list, struct timed_call, i).held);
	g_array_index(list, struct timed_call, i) = *now;
}

void online_calls_effect(struct online_calls *s, const struct flow_event *x,
                         struct edc_held *held)
{
	struct timed_call now;
	if (x->op == OP_RET) {
		GArray *open = list_at(s->open, x->thread);
		if (open->len == 0)
			return;
		now = g_array_index(open, struct timed_call, open->len - 1);
		now.call.method = x->method;
		g_array_set_size(open, open->len - 1);
	} else if (x->items_count > 0) {
		now = beginning(s, x);
	}
	for (uint32_t i = 0; i < x->items_count; i++) {
		struct event_list clashing = online_items_clashing(s->items, x->items[i]);
		now.call.end = x->number;
		now.held = held;
		for (uint64_t k = 0; k < clashing.count; k++) {
			const GArray *list = clashing.items[k] < s->last->len
			                             ? s->last->pdata[clashing.items[k]]
			                             : NULL;
			for (guint n = 0; list != NULL && n < list->len; n++)
				compare(s, &g_array_index(list, struct timed_call, n), &now);
		}
	}
	for (uint32_t i = 0; i < x->items_count; i++)
		keep(s, &now, x->items[i]);
}

static void mark_all(const struct online_calls *s, const GPtrArray *lists)
{
	for (guint i = 0; i < lists->len; i++) {
		const GArray *list = lists->pdata[i];
		for (guint k = 0; list != NULL && k < list->len; k++)
			clocks_mark(s->clocks, g_array_index(list, struct timed_call, k).clock);
	}
}

void online_calls_mark(const struct online_calls *s)
{
	mark_all(s, s->open);
	mark_all(s, s->last);
}

struct online_calls *online_calls_new(const struct online_sink *sink, struct clocks *clocks,
                                      struct online_items *items, struct online_turns *turns)
{
	struct online_calls *s = g_new0(struct online_calls, 1);
	*s = (struct online_calls){ .sink = sink,
		                    .clocks = clocks,
		                    .items = items,
		                    .turns = turns,
		                    .open = g_ptr_array_new(),
		                    .last = g_ptr_array_new() };
	return s;
}

static void lists_free(GPtrArray *lists)
{
	for (guint i = 0; i < lists->len; i++) {
		GArray *list = lists->pdata[i];
		for (guint k = 0; list != NULL && k < list->len; k++)
			edc_held_unref(g_array_index(list, struct timed_call, k).held);
		if (list != NULL)
			g_array_free(list, TRUE);
	}
	g_ptr_array_free(lists, TRUE);
}

void online_calls_free(struct online_calls *s)
{
	if (s == NULL)
		return;
	lists_free(s->open);
	lists_free(s->last);
	g_free(s);
}
