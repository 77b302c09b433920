/*
 * run_state_cells.c - the cells of a state: changed with a log, so that changes can be taken
 * back, and summed in the state's key.
 */
#include "engine/base/hash.h"
#include "engine/predict/deadlock/run_state_private.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x7fb5d329728ea185);
	x ^= x >> 27;
	x *= UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

/* Is the cell part of the state's identity? The order of two writes that no event reads, and
 * cells that follow from the events done, do not distinguish states. */
static bool is_keyed(const struct run_state *s, uint32_t cell)
{
	uint32_t variables = (uint32_t)(s->last - s->cells);

	if (cell < s->threads * 4)
		return true; /* done, woken, arrival, halted */
	if (s->channels.count > 0 && cell >= (uint32_t)(s->order - s->cells))
		return cell < (uint32_t)(s->reads - s->cells);
	return cell >= variables && cell < variables + s->t->variables_count &&
	       s->read[cell - variables];
}

static void toggle(struct run_state *s, uint32_t cell, uint32_t value)
{
	uint64_t word = (uint64_t)cell << 32 | value;

	s->key[0] ^= mix(word + HASH_FACTOR);
	s->key[1] ^= mix(word ^ UINT64_C(0xd1342543de82ef95));
}

static void change(struct run_state *s, uint32_t cell, uint32_t value)
{
	if (s->cells[cell] == value)
		return;
	if (is_keyed(s, cell)) {
		toggle(s, cell, s->cells[cell]);
		toggle(s, cell, value);
	}
	s->cells[cell] = value;
}

void state_set(struct run_state *s, uint32_t *cell, uint32_t value)
{
	struct state_change c = { (uint32_t)(cell - s->cells), *cell };

	g_array_append_val(s->log, c);
	change(s, c.cell, value);
}

void run_state_undo(struct run_state *s, uint32_t mark)
{
	for (guint i = s->log->len; i-- > mark;) {
		const struct state_change *c = &g_array_index(s->log, struct state_change, i);

		change(s, c->cell, c->old);
	}
	g_array_set_size(s->log, mark);
}
