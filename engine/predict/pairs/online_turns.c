/* online_turns.c - see online_turns.h. */
#include "engine/predict/pairs/online_turns.h"

struct online_turns {
	const struct online_sink *sink;
	const struct edc_rules *rules;
	GPtrArray *waiting; /* by the second's thread: GArray of struct online_turn, or NULL */
};

static void report(const struct online_turns *s, const struct online_turn *t)
{
	const struct online_call *c = t->calls;
	bool turned = c[0].at.time > c[1].at.time;
	if (t->block == NONE)
		s->sink->turn(s->sink->context, &c[turned], &c[!turned]);
	else
		s->sink->use_after_free(s->sink->context, &c[0].at, &c[1].at, t->block,
		                        c[c[0].object == NONE].object);
}

enum answer { APART, ORDERED, LATER };

/* `ended`: an open section of the second will not be left. */
static enum answer decide(const struct online_turns *s, const struct online_turn *t, bool ended)
{
	const struct edc_held *a = t->held[0], *b = t->held[1];
	const struct online_call *c = t->calls;
	bool block = t->block != NONE; /* only for a free `object` is NONE */
	const struct edc_pair pair = { { c[0].end, c[1].end },
		                       { block && c[0].object == NONE,
		                         block && c[1].object == NONE } };
	enum answer answer = APART;
	for (uint32_t i = 0; a != NULL && i < a->count; i++)
		for (uint32_t k = 0; b != NULL && k < b->count; k++) {
			const struct edc_section *x = a->sections[i], *y = b->sections[k];
			if (x->lock != y->lock || (x->shared && y->shared))
				continue;
			if (y->end == NONE && !ended)
				answer = LATER;
			else if (edc_sections_clash(s->rules, x, y, &pair))
				return ORDERED;
		}
	return answer;
}

static GArray *list_of(struct online_turns *s, uint32_t thread)
{
	if (thread >= s->waiting->len)
		g_ptr_array_set_size(s->waiting, (int)thread + 1);
	if (s->waiting->pdata[thread] == NULL)
		s->waiting->pdata[thread] =
		        g_array_new(FALSE, FALSE, sizeof(struct online_turn));
	return s->waiting->pdata[thread];
}

void online_turns_add(struct online_turns *s, const struct online_turn *turn)
{
	if (s->sink->known && s->sink->known(s->sink->context, &turn->calls[0].at,
	                                     &turn->calls[1].at, turn->block))
		return;
	if (decide(s, turn, false) == APART) {
		report(s, turn);
		return;
	}
	edc_held_ref(turn->held[0]);
	edc_held_ref(turn->held[1]);
	g_array_append_vals(list_of(s, turn->calls[1].at.thread), turn, 1);
}

static void look_again(struct online_turns *s, GArray *list, bool ended)
{
	for (guint i = 0; i < list->len;) {
		struct online_turn t = g_array_index(list, struct online_turn, i);
		enum answer answer = decide(s, &t, ended);
		if (answer == LATER) {
			i++;
			continue;
		}
		g_array_remove_index_fast(list, i);
		if (answer == APART)
			report(s, &t);
		edc_held_unref(t.held[0]);
		edc_held_unref(t.held[1]);
	}
}

void online_turns_left(struct online_turns *s, uint32_t thread)
{
	if (thread < s->waiting->len && s->waiting->pdata[thread] != NULL)
		look_again(s, s->waiting->pdata[thread], false);
}

void online_turns_end(struct online_turns *s)
{
	for (guint i = 0; i < s->waiting->len; i++)
		if (s->waiting->pdata[i] != NULL)
			look_again(s, s->waiting->pdata[i], true);
}

struct online_turns *online_turns_new(const struct online_sink *sink,
                                      const struct edc_rules *rules)
{
	struct online_turns *s = g_new0(struct online_turns, 1);
	s->sink = sink;
	s->rules = rules;
	s->waiting = g_ptr_array_new();
	return s;
}

void online_turns_free(struct online_turns *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->waiting->len; i++) {
		GArray *list = s->waiting->pdata[i];
		for (guint k = 0; list != NULL && k < list->len; k++)
			for (int side = 0; side < 2; side++)
				edc_held_unref(
				        g_array_index(list, struct online_turn, k).held[side]);
		if (list != NULL)
			g_array_free(list, TRUE);
	}
	g_ptr_array_free(s->waiting, TRUE);
	g_free(s);
}
