/*
 * witness_calls.c - the calls and returns of a schedule that can be hidden: of functions of
 * libraries, and of functions around a single step, such as a wrapper of a lock. See
 * view_witness.h.
 */
#include "tui/explorer/views/view_witness.h"

#include "engine/trace/own_code.h"

/* A call that has not returned yet. */
struct open_call {
	guint at;    /* index of the call */
	guint steps; /* number of steps so far that are no calls or returns */
};

static bool is_scope(const struct trace *t, uint32_t event)
{
	enum op op = (enum op)t->events[event].op;

	return op == OP_ENTER || op == OP_LEAVE;
}

/* Is the call or return in a file of the user's? A return is located in the function, a call
 * in the caller. */
static bool is_own(const struct trace *t, uint32_t event)
{
	const struct frame frame = { .function = t->events[event].target,
		                     .location = t->events[event].location };

	return own_code_has(t, &frame);
}

static void close_call(const struct trace *t, const GArray *events, GArray *open, guint leave,
                       uint8_t *left)
{
	struct open_call call = g_array_index(open, struct open_call, open->len - 1);
	bool tells = call.steps > 1 && is_own(t, g_array_index(events, uint32_t, leave));

	g_array_set_size(open, open->len - 1);
	if (open->len)
		g_array_index(open, struct open_call, open->len - 1).steps += call.steps;
	left[call.at] = left[leave] = !tells;
}

uint8_t *witness_calls_left(const struct trace *t, const GArray *events, guint *count)
{
	uint8_t *left = g_new0(uint8_t, events->len + 1);
	g_autofree GArray **open = g_new0(GArray *, t->threads_count + 1);

	for (uint32_t u = 0; u < t->threads_count; u++)
		open[u] = g_array_new(FALSE, FALSE, sizeof(struct open_call));
	for (guint i = 0; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		GArray *own = open[t->events[event].thread];
		struct open_call call = { i, 0 };

		if (t->events[event].op == OP_ENTER)
			g_array_append_val(own, call);
		else if (t->events[event].op == OP_LEAVE && own->len)
			close_call(t, events, own, i, left);
		else if (!is_scope(t, event) && own->len)
			g_array_index(own, struct open_call, own->len - 1).steps++;
	}
	for (uint32_t u = 0; u < t->threads_count; u++) {
		/* calls that do not end within the schedule */
		for (guint k = 0; k < open[u]->len; k++) {
			guint at = g_array_index(open[u], struct open_call, k).at;
			left[at] = !is_own(t, g_array_index(events, uint32_t, at));
		}
		g_array_free(open[u], TRUE);
	}
	*count = 0;
	for (guint i = 0; i < events->len; i++) {
		bool begins = i == 0 ||
		              t->events[g_array_index(events, uint32_t, i)].thread !=
		                      t->events[g_array_index(events, uint32_t, i - 1)].thread;
		left[i] = left[i] && !begins;
		*count += left[i];
	}
	return left;
}
