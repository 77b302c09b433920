/*
 * linear_story.c - explains a history that is not linearizable: the smallest part that fails,
 * drawn as lanes, and the results that the next invocations would have returned.
 */
#include "engine/commute/linear/linear_trace.h"

#include "engine/trace/own_code.h"

#include <stdlib.h>
#include <string.h>

/* Configurations of a check, and of all checks that make a history smaller. */
enum { MOST_CONFIGURATIONS = 1000000, MOST_SHOWN = 24, WIDEST = 100 };

struct linear_drawing {
	const struct linear_part *part;
	struct model *m;
	const struct linear_history *h; /* the whole one */
	struct linear_history small;
	GArray *kept;
	struct linear_result why; /* of the small one */
	struct linear_story *story;
	GString *text;
};

static const struct linear_call *original(const struct linear_drawing *g, uint32_t small)
{
	return &g->part->calls[g_array_index(g->kept, struct linear_kept, small).of];
}

static char *call_text(const struct linear_drawing *g, uint32_t small)
{
	const struct linear_call *c = original(g, small);
	struct call call = { .event = c->call, .object = g->part->object };
	char *text = model_call_text(g->m, &call), *end;
	if (g->small.calls[small].ret == NONE && (end = strstr(text, ") / ")) != NULL)
		end[1] = 0;
	return text;
}

static const char *thread_name(const struct linear_drawing *g, uint32_t small)
{
	return trace_thread_name(g->m->t, g->part->threads[g->small.calls[small].thread]);
}

static const char *place_of(const struct linear_drawing *g, uint32_t small)
{
	return own_code_place_name(g->m->t, original(g, small)->call);
}

/* -- lanes --------------------------------------------------------------------------------- */

/* A call or a return, and its column. */
struct mark {
	uint32_t at, call;
	bool returns;
};

static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->returns - y->returns;
}

static GArray *marks_of(const struct linear_history *h)
{
	GArray *marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
	for (uint32_t i = 0; i < h->count; i++) {
		struct mark call = { h->calls[i].call, i, false },
		            ret = { h->calls[i].ret, i, true };
		g_array_append_val(marks, call);
		if (ret.at != NONE)
			g_array_append_val(marks, ret);
	}
	g_array_sort(marks, by_time);
	return marks;
}

/* Columns in the order of time, so wide that the labels fit. Returns the width. */
static uint32_t place_columns(const struct linear_history *h, const GArray *marks,
                              char **labels, uint32_t *from, uint32_t *to)
{
	uint32_t free_from[LINEAR_MOST_THREADS] = { 0 }, x = 0;
	for (guint i = 0; i < marks->len; i++) {
		struct mark m = g_array_index(marks, struct mark, i);
		uint32_t thread = h->calls[m.call].thread;
		uint32_t length = (uint32_t)g_utf8_strlen(labels[m.call], -1);
		if (m.returns) {
			x = MAX(x, from[m.call] + length + 1);
			to[m.call] = x;
			free_from[thread] = x + 2;
		} else {
			x = MAX(x, free_from[thread]);
			from[m.call] = x;
			to[m.call] = NONE;
		}
		x++;
	}
	for (uint32_t i = 0; i < h->count; i++)
		if (to[i] == NONE)
			x = MAX(x, from[i] + (uint32_t)g_utf8_strlen(labels[i], -1) + 4);
	return x;
}

static void draw_lane(const struct linear_drawing *g, uint32_t thread, char **labels,
                      const uint32_t *from, const uint32_t *to, uint32_t width)
{
	uint32_t x = 0;
	for (uint32_t i = 0; i < g->small.count; i++) {
		if (g->small.calls[i].thread != thread)
			continue;
		g_string_append_printf(g->text, "%*s[%s", (int)(from[i] - x), "", labels[i]);
		x = from[i] + 1 + (uint32_t)g_utf8_strlen(labels[i], -1);
		for (; x < MIN(to[i], width); x++)
			g_string_append_c(g->text, to[i] == NONE ? '.' : '-');
		if (to[i] != NONE) {
			g_string_append_c(g->text, ']');
			x++;
		}
	}
	g_string_append_c(g->text, '\n');
}

static void draw(const struct linear_drawing *g)
{
	uint32_t count = g->small.count, widest = 0;
	uint32_t *from = g_new(uint32_t, count + 1), *to = g_new(uint32_t, count + 1);
	char **labels = g_new0(char *, count + 1), **texts = g_new0(char *, count + 1);
	GArray *marks = marks_of(&g->small);
	for (uint32_t i = 0; i < count; i++) {
		labels[i] = g_strdup(texts[i] = call_text(g, i));
		widest = MAX(widest, (uint32_t)strlen(thread_name(g, i)));
	}
	uint32_t width = place_columns(&g->small, marks, labels, from, to);
	bool numbers = width > WIDEST;
	for (uint32_t i = 0; i < count && numbers; i++) {
		g_free(labels[i]);
		labels[i] = g_strdup_printf("%u", i + 1);
	}
	if (numbers)
		width = place_columns(&g->small, marks, labels, from, to);
	for (uint32_t u = 0; u < g->part->threads_count; u++) {
		uint32_t first = 0;
		while (first < count && g->small.calls[first].thread != u)
			first++;
		if (first == count)
			continue;
		g_string_append_printf(g->text, "  %-*s  ", (int)widest, thread_name(g, first));
		draw_lane(g, u, labels, from, to, width);
	}
	for (uint32_t i = 0; i < count && numbers; i++)
		g_string_append_printf(g->text, "  %2u  %s by %s, %s\n", i + 1, texts[i],
		                       thread_name(g, i), place_of(g, i));
	g_array_unref(marks);
	g_strfreev(labels);
	g_strfreev(texts);
	g_free(from);
	g_free(to);
}

/* -- the reason ---------------------------------------------------------------------------- */

static bool is_in_order(const struct linear_drawing *g, uint32_t call)
{
	for (guint i = 0; i < g->why.order->len; i++)
		if (g_array_index(g->why.order, uint32_t, i) == call)
			return true;
	return false;
}

/* May the invocation come next after the order? */
static bool may_be_next(const struct linear_drawing *g, uint32_t call)
{
	const struct linear_call *calls = g->small.calls;
	if (is_in_order(g, call) || calls[call].call > calls[g->why.failed].ret)
		return false;
	for (uint32_t i = 0; i < g->small.count; i++)
		if (calls[i].ret < calls[call].call && !is_in_order(g, i))
			return false;
	return true;
}

static void append_results(const struct linear_drawing *g, const struct spec_method *m,
                           const struct val *names)
{
	for (uint32_t i = 0; i < m->results; i++) {
		g_string_append(g->text, i ? ", " : "");
		model_append_value(g->m, names[m->arguments + i], g->text);
	}
}

static void tell_next(const struct linear_drawing *g, struct linear *l, uint32_t state,
                      uint32_t call)
{
	const struct linear_call *c = &g->small.calls[call];
	const struct spec_method *m = spec_method_at(g->part->h.o, c->method);
	const struct val *would = linear_would_return(l, state, call);
	bool same = would != NULL && m->results > 0;
	for (uint32_t i = m->arguments; same && i < m->arguments + m->results; i++)
		same = val_equal(would[i], c->names[i]);
	if (c->ret == NONE || same)
		return;
	char *text = call_text(g, call);
	g_string_append_printf(g->text, "  then %.*s by %s (%s) ",
	                       (int)(strstr(text, ") / ") ? strstr(text, ") / ") - text + 1
	                                                  : (ptrdiff_t)strlen(text)),
	                       text, thread_name(g, call), place_of(g, call));
	if (would && m->results > 0) {
		g_string_append(g->text, "would return ");
		append_results(g, m, would);
		g_string_append(g->text, ", and not ");
		append_results(g, m, c->names);
	} else if (m->results > 0) {
		g_string_append(g->text, "cannot return ");
		append_results(g, m, c->names);
	} else {
		g_string_append(g->text, "cannot be called");
	}
	g_string_append_c(g->text, '\n');
	g_free(text);
}

static void tell_reason(const struct linear_drawing *g)
{
	struct linear *l = linear_new(&g->small, MOST_CONFIGURATIONS);
	const GArray *order = g->why.order;
	uint32_t state =
	        linear_state_after(l, (const uint32_t *)(void *)order->data, order->len);
	if (order->len == 0)
		g_string_append(g->text, "  at first");
	else
		g_string_append(g->text, "  the longest order that fits is ");
	for (guint i = 0; i < order->len; i++) {
		char *text = call_text(g, g_array_index(order, uint32_t, i));
		g_string_append_printf(g->text, "%s%s", i ? ", then " : "", text);
		g_free(text);
	}
	g_string_append(g->text, ":\n");
	for (uint32_t i = 0; i < g->small.count && state != NONE; i++)
		if (may_be_next(g, i))
			tell_next(g, l, state, i);
	linear_free(l);
}

/* ------------------------------------------------------------------------------------------ */

static void note_shown(const struct linear_drawing *g)
{
	for (uint32_t i = 0; i < g->small.count; i++) {
		struct linear_shown s = { .thread = g_strdup(thread_name(g, i)),
			                  .text = call_text(g, i),
			                  .place = g_strdup(place_of(g, i)),
			                  .call = original(g, i)->call,
			                  .ret = g->small.calls[i].ret == NONE
			                                 ? NONE
			                                 : original(g, i)->ret,
			                  .order = NONE };
		for (guint k = 0; k < g->why.order->len; k++)
			if (g_array_index(g->why.order, uint32_t, k) == i)
				s.order = k;
		g_array_append_val(g->story->shown, s);
	}
}

void linear_shown_clear(void *data)
{
	struct linear_shown *s = data;
	g_free(s->thread);
	g_free(s->text);
	g_free(s->place);
}

static void tell(struct linear_drawing *g)
{
	uint32_t failed = g->why.failed, left = g->h->count - g->small.count;
	char *object = model_object_name(g->m, g->part->object);
	g_string_append_printf(g->text,
	                       "%s is not linearizable: in no order of its invocations, each "
	                       "between its call and its return, do all return what they did\n",
	                       object);
	if (g->small.count <= MOST_SHOWN)
		draw(g);
	tell_reason(g);
	if (left > 0)
		g_string_append_printf(g->text,
		                       "  (%u more invocation%s make%s no difference)\n", left,
		                       plural(left), left == 1 ? "s" : "");
	note_shown(g);
	g->story->call = original(g, failed)->call;
	g->story->place = g_strdup(place_of(g, failed));
	g->story->key = g_strdup_printf(
	        "%s %s %s", g->part->h.o->name,
	        spec_method_at(g->part->h.o, g->small.calls[failed].method)->name,
	        g->story->place);
	g_free(object);
}

static struct linear_story *story_of(const struct linear_part *part, struct model *m,
                                     const struct linear_history *h,
                                     const struct linear_result *r, const uint32_t *of)
{
	uint64_t used = 0;
	struct linear_drawing g = {
		.part = part, .m = m, .h = h, .story = g_new0(struct linear_story, 1)
	};
	g.kept = linear_shrink(h, r, 4 * (uint64_t)MOST_CONFIGURATIONS);
	g.small = linear_part_of(h, g.kept);
	for (guint i = 0; i < g.kept->len; i++) {
		struct linear_kept *k = &g_array_index(g.kept, struct linear_kept, i);
		k->of = of[k->of];
	}
	g.why = linear_check(&g.small, MOST_CONFIGURATIONS, &used);
	g.story->shown = g_array_new(FALSE, FALSE, sizeof(struct linear_shown));
	g_array_set_clear_func(g.story->shown, linear_shown_clear);
	g.text = g_string_new(NULL);
	tell(&g);
	g_string_truncate(g.text, g.text->len - 1);
	g.story->text = g_string_free(g.text, FALSE);
	linear_result_release(&g.why);
	g_array_unref(g.kept);
	g_free((void *)g.small.calls);
	return g.story;
}

void linear_story_free(struct linear_story *s)
{
	if (s == NULL)
		return;
	g_array_unref(s->shown);
	g_free(s->text);
	g_free(s->place);
	g_free(s->key);
	g_free(s);
}

static char *undecided(const struct linear_part *part, struct model *m,
                       const struct linear_result *r)
{
	char *object = model_object_name(m, part->object), *text;
	if (r->unclear == NONE)
		text = g_strdup_printf(
		        "whether the history of %s is linearizable was not decided "
		        "within %d configurations",
		        object, MOST_CONFIGURATIONS);
	else
		text = g_strdup_printf(
		        "whether the history of %s is linearizable was not decided: its effects "
		        "do not say what %s returned or did",
		        object,
		        spec_method_at(part->h.o, part->calls[r->unclear].method)->name);
	g_free(object);
	return text;
}

enum linear_answer linear_judge(const struct linear_part *part, struct model *m,
                                const struct linear_times *at, struct linear_story **story,
                                char **why)
{
	struct linear_call *calls = g_new(struct linear_call, part->h.count + 1);
	uint32_t *of = g_new(uint32_t, part->h.count + 1);
	struct linear_history h = { part->h.o, part->h.texts, calls, 0 };
	uint64_t used = 0;
	for (uint32_t i = 0; i < part->h.count; i++) {
		if (at && at[i].call == NONE)
			continue;
		calls[h.count] = part->calls[i];
		if (at) {
			calls[h.count].call = at[i].call;
			calls[h.count].ret = at[i].ret;
		}
		of[h.count++] = i;
	}
	struct linear_result r = linear_check(&h, MOST_CONFIGURATIONS, &used);
	enum linear_answer answer = r.answer;
	if (answer == LINEAR_NO)
		*story = story_of(part, m, &h, &r, of);
	if (answer == LINEAR_UNDECIDED) {
		r.unclear = r.unclear == NONE ? NONE : of[r.unclear];
		*why = undecided(part, m, &r);
	}
	linear_result_release(&r);
	g_free(calls);
	g_free(of);
	return answer;
}
