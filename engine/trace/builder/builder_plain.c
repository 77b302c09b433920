/* builder_plain.c - the thread whose accesses need no check; see builder_private.h. */
#include "engine/trace/builder/builder_private.h"

#include "engine/trace/binary/tape.h"

bool builder_needs_no_check(const struct builder *b, uint32_t thread)
{
	bool too_many = b->threads->len > EVENT_THREADS || b->locations->len > EVENT_LOCATIONS;
	if (thread >= b->states->len || b->events.count >= NONE - 1 || G_UNLIKELY(too_many))
		return false;
	const struct thread_state *s = AT(b->states, struct thread_state, thread);
	return s->started && !s->ended && !s->joined && !s->wants;
}

static bool becomes_plain(struct builder *b, uint32_t thread)
{
	bool room = b->events.count < NONE - 2 * TAPE_BLOCK &&
	            b->locations->len < EVENT_LOCATIONS - 2 * TAPE_BLOCK;
	if (b->writer == NULL || !room || !builder_needs_no_check(b, thread))
		return false;
	b->plain = thread;
	b->plain_state = AT(b->states, struct thread_state, thread);
	return true;
}

bool builder_is_plain(struct builder *b, uint32_t thread)
{
	return thread == b->plain || becomes_plain(b, thread);
}
