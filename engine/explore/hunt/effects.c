/* effects.c - see effects.h. */
#include "engine/explore/hunt/effects.h"

#include "engine/base/hash.h"

enum {
	LOOKED_AT = 64,  /* events of the variable, for the write or read that is nearest */
	MOST_STEPS = 400 /* events of a thread, for the beginning of its section */
};

uint64_t effect_place(const struct trace *t, uint32_t event)
{
	const struct location *l = &t->locations[t->events[event].location];
	return hash_word(l->address * 64 + l->module % 64);
}

uint64_t effect_places(const struct trace *t, struct effect_source source)
{
	return (source.read == NONE ? 2 : effect_place(t, source.read)) * 31 +
	       (source.write == NONE ? 1 : effect_place(t, source.write));
}

/* The value that the access read; 0: unknown. */
static uint32_t value_read(const struct trace *t, const struct event *e)
{
	struct value v = trace_value(t, e->aux);
	return e->flags & EVENT_WIDE ? 0 : v.kind == V_PAIR ? v.first : e->aux;
}

/* The value that the access wrote; 0: unknown. */
static uint32_t value_written(const struct trace *t, const struct event *e)
{
	struct value v = trace_value(t, e->aux);
	return e->flags & EVENT_WIDE ? 0 : v.kind == V_PAIR ? v.second : e->aux;
}

/* `read` sees `write` and the value `is`; in the run it was `was`. */
static void add(struct effect *x, uint32_t read, uint32_t write, uint32_t was, uint32_t is)
{
	x->source[x->count++] = (struct effect_source){ read, write };
	x->same &= was != 0 && was == is;
}

/* The second one reads what was there before the first, or what its own thread wrote
 * between them. */
static void second_reads(struct effect *x, const struct trace *t, struct event_list list,
                         uint64_t first, uint64_t second)
{
	const struct event *a = &t->events[list.items[first]];
	const struct event *b = &t->events[list.items[second]];
	uint32_t write = NONE, value = op_reads(a->op) ? value_read(t, a) : 0;
	for (uint64_t n = second; n-- > 0 && second - n <= LOOKED_AT && write == NONE;) {
		const struct event *e = &t->events[list.items[n]];
		if (n >= first && e->thread != b->thread)
			continue;
		if (op_writes(e->op)) {
			write = list.items[n];
			value = value_written(t, e);
		} else if (value == 0 && n < first) {
			value = value_read(t, e);
		}
	}
	add(x, list.items[second], write, value_read(t, b), value);
}

/* Of two writes the first one comes last: whoever reads next sees that. */
static void first_remains(struct effect *x, const struct trace *t, struct event_list list,
                          uint64_t first, uint64_t second)
{
	const struct event *a = &t->events[list.items[first]];
	const struct event *b = &t->events[list.items[second]];
	uint64_t n = second + 1;
	bool near = n < list.count;
	bool read = near && op_reads(t->events[list.items[n]].op);
	add(x, read ? list.items[n] : NONE, list.items[first], value_written(t, b),
	    value_written(t, a));
}

struct effect effect_of_turn(const struct trace *t, struct event_list list, uint64_t first,
                             uint64_t second)
{
	const struct event *a = &t->events[list.items[first]];
	const struct event *b = &t->events[list.items[second]];
	struct effect x = { .same = true };
	if (!op_is_access(a->op) || !op_is_access(b->op))
		return (struct effect){ 0 };
	if (op_reads(a->op) && op_writes(b->op))
		add(&x, list.items[first], list.items[second], value_read(t, a),
		    value_written(t, b));
	if (op_writes(a->op) && op_reads(b->op))
		second_reads(&x, t, list, first, second);
	if (x.count == 0)
		first_remains(&x, t, list, first, second);
	return x;
}

uint32_t effect_section(const struct trace *t, uint32_t event, uint64_t common)
{
	struct event_list own =
	        event_list_at(&t->index->thread_events, t->events[event].thread);
	uint32_t at = t->index->position[event], begin = event;
	uint64_t closed = 0; /* locks whose release stands between */
	for (uint32_t i = at; i-- > 0 && common != 0 && at - i <= MOST_STEPS;) {
		const struct event *e = &t->events[own.items[i]];
		uint64_t lock = 1ull << e->target % 64;
		if (op_releases(e->op)) {
			closed |= lock;
		} else if (op_acquires(e->op) && (common & lock & ~closed)) {
			begin = own.items[i];
			common &= ~lock;
		} else if (op_acquires(e->op)) {
			closed &= ~lock;
		}
	}
	return begin;
}
