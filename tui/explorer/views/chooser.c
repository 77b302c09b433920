/*
 * chooser.c - manual choice of the next event of a schedule: which threads can go on, and why
 * the others cannot.
 */
#include "tui/explorer/schedule.h"
#include "tui/explorer/words/refusal.h"

static void choice_clear(void *data)
{
	struct choice *choice = data;
	g_free(choice->why);
	g_free(choice->reason);
}

static void find_choices(struct chooser *c)
{
	g_array_set_size(c->choices, 0);
	for (uint32_t i = 0; i < c->session->trace->threads_count; i++) {
		uint32_t next = stage_next(&c->stage, i, c->events->len);
		struct choice choice = { .thread = i, .event = next };
		GString *reason = g_string_new(NULL);
		if (choice.event != NONE)
			choice.enabled = checker_enabled(c->checker, choice.event, reason);
		GString *why = g_string_new(NULL);
		if (choice.event != NONE && !choice.enabled)
			refusal_append(&c->stage, choice.event, why);
		choice.why = g_string_free(why, FALSE);
		choice.reason = g_string_free(reason, FALSE);
		g_array_append_val(c->choices, choice);
	}
}

static bool replay(struct chooser *c, GString *reason)
{
	if (c->checker)
		checker_free(c->checker);
	struct check_options options = { .use_missing = c->session->missing };
	c->checker = checker_new(c->session->trace, &options);
	for (guint i = 0; i < c->events->len; i++)
		if (!checker_step(c->checker, g_array_index(c->events, uint32_t, i), reason))
			return false;
	return true;
}

bool chooser_init(struct chooser *c, const struct session *s, const GArray *events, guint count,
                  GString *reason)
{
	*c = (struct chooser){ .session = s };
	c->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->choices = g_array_new(FALSE, FALSE, sizeof(struct choice));
	g_array_set_clear_func(c->choices, choice_clear);
	if (count)
		g_array_append_vals(c->events, events->data, count);
	stage_init(&c->stage, s, c->events, true);
	if (!replay(c, reason))
		return false;
	find_choices(c);
	return true;
}

void chooser_release(struct chooser *c)
{
	if (c->checker)
		checker_free(c->checker);
	stage_release(&c->stage);
	if (c->events)
		g_array_free(c->events, TRUE);
	if (c->choices)
		g_array_free(c->choices, TRUE);
	*c = (struct chooser){ 0 };
}

bool chooser_take(struct chooser *c, uint32_t thread, GString *reason)
{
	uint32_t event = g_array_index(c->choices, struct choice, thread).event;
	if (event == NONE) {
		g_string_append(reason, "the thread has no more events");
		return false;
	}
	if (!checker_step(c->checker, event, reason))
		return false;
	stage_push(&c->stage, event);
	find_choices(c);
	return true;
}

void chooser_undo(struct chooser *c)
{
	g_autoptr(GString) ignored = g_string_new(NULL);
	stage_pop(&c->stage);
	replay(c, ignored);
	find_choices(c);
}

bool chooser_is_at_pair(const struct chooser *c, const uint32_t pair[2])
{
	int found = 0;
	for (guint i = 0; i < c->choices->len; i++) {
		uint32_t event = g_array_index(c->choices, struct choice, i).event;
		found += event != NONE && (event == pair[0] || event == pair[1]);
	}
	return found == 2;
}
