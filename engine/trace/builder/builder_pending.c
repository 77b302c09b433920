/*
 * builder_pending.c - where the events of a recording go once they are checked: to the tape of
 * its file at once; those that make a difference to the must-order of the index; and, while
 * analyses watch, all of them to these, in parts that are still in the cache.
 */
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/index_private.h"

void builder_watch(struct builder *b, const struct builder_watch *watch)
{
	b->watch = *watch;
	if (b->writer && b->room == NULL) {
		b->room = g_new(struct event, WATCHED);
		b->room_stacks = g_new(uint32_t, WATCHED);
	}
}

void builder_show(struct builder *b)
{
	uint64_t first = b->shown, count = b->events.count - first;
	if (b->watch.events == NULL || count == 0)
		return;
	const struct event *events = b->room;
	const uint32_t *stacks = b->room_stacks;
	if (b->writer == NULL) {
		events = column_at(&b->events, first);
		stacks = b->any_scope ? column_at(&b->stacks, first) : NULL;
	}
	b->shown = b->events.count;
	b->watch.events(b->watch.context, events, stacks, (uint32_t)first, (uint32_t)count);
}

void builder_put_marked(struct builder *b)
{
	struct marked *m = b->marked;
#define LEND(member) .member = (void *)b->member->data, .member##_count = b->member->len
	const struct trace tables = { LEND(threads), LEND(objects), LEND(blocks) };
#undef LEND
	const struct must_places places = { b->lines.data + offsetof(struct line, block),
		                            sizeof(struct line), LINE_BITS };
	if (b->must)
		must_maker_recorded(b->must, &tables, &places, m->events, m->numbers, m->count);
	m->count = 0;
}

/* The tape has got one more event, or several. */
static void end_events(struct builder *b, uint32_t count)
{
	b->events.count += count;
	b->tape->room -= count;
	if (b->tape->room == 0) {
		b->plain = NONE;
		binary_end_block(b->writer);
	}
	if (b->watch.events && b->events.count - b->shown == WATCHED)
		builder_show(b);
}

/* Does the must-order need the event? Of an ENTER or a LEAVE only that it occurs, and whose it
 * is where the event before is another thread's. */
static bool is_marked(struct builder *b, const struct event *e)
{
	const struct tape *t = b->tape->tape;
	uint64_t operation = OPERATION(e->op);
	bool goes_on = t->track_count > 0 && t->tracks[t->track].thread == e->thread;
	if ((e->op == OP_ENTER || e->op == OP_LEAVE) && goes_on &&
	    b->marked_operations & operation)
		return false;
	b->marked_operations |= operation;
	return true;
}

void builder_put_event(struct builder *b, const struct event *e, uint32_t context,
                       uint32_t number)
{
	const struct tape_stacks stacks = { .contexts = (void *)b->contexts->data,
		                            .count = b->contexts->len };
	if (!b->taped)
		return;
	if (is_marked(b, e))
		builder_mark(b, e, number);
	b->tape->at = tape_put_event(b->tape->tape, e, &context, &stacks, b->tape->at);
}

void builder_hand_over(struct builder *b, const struct event *e, uint32_t context)
{
	uint64_t kept = b->events.count - b->shown;
	builder_put_event(b, e, context, (uint32_t)b->events.count);
	if (b->watch.events) {
		b->room[kept] = *e;
		b->room_stacks[kept] = context;
	}
	end_events(b, 1);
}

/* -- accesses of one thread ----------------------------------------------------------------- */

bool builder_room(struct builder *b, uint32_t thread, struct access_room *room)
{
	const struct block_bounds *blocks = &b->clues.blocks;
	bool low = blocks->high > 0 && blocks->low < VALUE_SMALL_END;
	*room = (struct access_room){ .thread = thread,
		                      .first = (uint32_t)b->events.count,
		                      .count = ROOM,
		                      .plain = low ? blocks->low : VALUE_SMALL_END,
		                      .blocks = *blocks };
	if (b->writer == NULL) {
		room->events = b->room;
		return true;
	}
	room->tape = b->taped ? b->tape : NULL;
	room->count = b->tape->room;
	if (b->watch.events) {
		uint64_t kept = b->events.count - b->shown;
		room->events = b->room + kept;
		room->count = MIN(room->count, (uint32_t)(WATCHED - kept));
	}
	return builder_is_plain(b, thread);
}

/* A place that is not noted, or a value that may be the address of a block. */
static __attribute__((noinline)) void look_closely(struct builder *b, const struct event *e,
                                                   uint32_t number, bool mark, bool pointer)
{
	struct line *line = builder_line(b, e->target);
	line->met |= line_bit(e->target);
	if (!b->taped)
		return;
	if (mark)
		builder_mark(b, e, number);
	if (pointer || !builder_place_spent(b, line, e->target, e->thread)) {
		b->events.count = number;
		builder_take_clue(b, e);
	}
}

uint32_t builder_look(struct builder *b, uint64_t head, uint32_t place, uint32_t number,
                      unsigned how, int64_t value)
{
	bool pointer = false;
	uint32_t known = 0;
	if (how & LOOK_VALUED) {
		pointer = builder_may_be_block(b, (uint64_t)value) &&
		          op_writes((enum op)(head >> 48 & 0xff));
		known = builder_integer(b, value);
	}
	if (how & LOOK_NOTED && !pointer)
		return known;
	struct event e = access_event(head, place, known);
	look_closely(b, &e, number, !(how & (LOOK_NOTED | LOOK_AGAIN)), pointer);
	return known;
}

void builder_put_access(struct builder *b, const struct event *e, uint32_t number)
{
	builder_put_event(b, e, b->plain_state->context, number);
}

bool builder_added(struct builder *b, const struct access_room *room, uint32_t count)
{
	b->events.count = room->first;
	if (b->writer == NULL)
		return false;
	if (room->events)
		for (uint32_t i = 0; i < count; i++)
			b->room_stacks[room->first - b->shown + i] = b->plain_state->context;
	end_events(b, count);
	return true;
}

bool builder_add_access(struct builder *b, struct event *e, bool valued, int64_t value)
{
	if (b->writer && builder_is_plain(b, e->thread)) {
		e->aux = builder_look(b, event_head(e), e->target, (uint32_t)b->events.count,
		                      LOOK_AGAIN | (valued ? LOOK_VALUED : 0), value);
		builder_hand_over(b, e, b->plain_state->context);
		return true;
	}
	e->aux = valued ? builder_integer(b, value) : 0;
	builder_line(b, e->target)->met |= line_bit(e->target);
	return false;
}
