/*
 * builder_pending.c - the events of a recording on their way to its file, in parts that are
 * still in the cache: to the writer, and to the must-order of the index.
 */
#include "engine/trace/builder_private.h"
#include "engine/trace/index_private.h"

void builder_watch(struct builder *b, const struct builder_watch *watch)
{
	b->watch = *watch;
}

void builder_show(struct builder *b)
{
	const struct pending *p = b->pending;
	uint64_t first = b->shown, count = b->events.count - first;
	if (b->watch.events == NULL || count == 0)
		return;
	const struct event *events;
	const uint32_t *stacks = NULL;
	if (p) {
		events = p->events + (p->count - count);
		stacks = p->stacks + (p->count - count);
	} else {
		events = column_at(&b->events, first);
		if (b->any_scope)
			stacks = column_at(&b->stacks, first);
	}
	b->shown = b->events.count;
	b->watch.events(b->watch.context, events, stacks, (uint32_t)first, (uint32_t)count);
}

void builder_put_pending(struct builder *b)
{
	struct pending *p = b->pending;
	builder_show(b);
#define LEND(member) .member = (void *)b->member->data, .member##_count = b->member->len
	const struct trace tables = { LEND(threads), LEND(objects), LEND(blocks),
		                      LEND(contexts) };
#undef LEND
	const struct must_places places = { b->lines.data + offsetof(struct line, block),
		                            sizeof(struct line), LINE_BITS };
	b->plain = NONE;
	if (b->must)
		must_maker_marked(b->must, &tables, &places, p->events,
		                  b->events.count - p->count, p->count,
		                  &(struct must_marks){ b->marks, b->marks_count });
	b->marks_count = 0;
	binary_put_pending(b->writer, tables.contexts, tables.contexts_count);
}
