/*
 * check_state.c - the checker's state: cells and the log by which changes are undone; and the
 * sentence of a refusal.
 */
#include "engine/witness/check_private.h"

#include <string.h>

bool check_refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                  const char *format, ...)
{
	va_list list;

	if (reason == NULL)
		return false;
	g_string_append_printf(reason, "%s: ", rule);
	trace_append_event(c->t, e, reason);
	g_string_append_c(reason, ' ');
	va_start(list, format);
	g_string_append_vprintf(reason, format, list);
	va_end(list);
	return false;
}

bool check_refuse_by(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                     const char *before, uint32_t other, const char *after)
{
	if (reason == NULL)
		return false;
	check_refuse(c, reason, rule, e, "%s ", before);
	trace_append_event(c->t, other, reason);
	g_string_append(reason, after);
	return false;
}

void checker_clear(struct checker *c)
{
	const struct trace *t = c->t;

	memset(c->taken, 0, sizeof(uint32_t) * (t->threads_count + 1));
	memset(c->last, 0xff, sizeof(uint32_t) * (t->variables_count + 1));
	memset(c->owner, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->readers, 0, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->waker_too_early, 0, sizeof(uint32_t) * (c->f.wakes->len + 1));
	memset(c->busy, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	for (uint32_t o = 0; o < t->objects_count; o++)
		c->count[o] = (uint32_t)t->objects[o].count;
	for (uint32_t i = 0; i < t->instances_count; i++) {
		if (c->abstract[i] != NULL && c->options.semantics->state_free != NULL)
			c->options.semantics->state_free(c->options.semantics->context,
			                                 c->abstract[i]);
		c->abstract[i] = NULL;
		if (c->invoked[i] != NULL)
			g_array_set_size(c->invoked[i], 0);
	}
	for (uint64_t b = 0; b < t->blocks_count; b++)
		c->life[b] = t->blocks[b].alloc != NONE ? LIFE_ASKED
		             : c->f.stack_of[b] != NONE ? LIFE_STACK
		                                        : LIFE_OPEN;
	c->prefix = c->recorded = 0;
	c->undoing = c->by_event = c->decides = false;
	c->changes.count = 0;
}

void change_log_grow(struct change_log *log)
{
	log->room = MAX(1024, 2 * log->room);
	log->of = g_renew(struct undo_change, log->of, log->room);
}

void checker_undo(struct checker *c, uint32_t length)
{
	for (uint32_t i = c->changes.count; i-- > length;)
		*c->changes.of[i].cell = c->changes.of[i].old;
	c->changes.count = length;
}
