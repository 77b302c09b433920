/*
 * running_shadow.c - what the program has compared itself (runtime/log/shadow.h): its numbers
 * of calls, places and segments, and the pairs of accesses that its synchronisation may order.
 */
#include "engine/record/codec.h"
#include "engine/record/import/running_private.h"

/* A damaged log may have any numbers. */
enum { MOST_NUMBERS = 1 << 28 };

static void *at(GArray *array, uint64_t number)
{
	if (number >= MOST_NUMBERS)
		number = 0;
	if (number >= array->len)
		g_array_set_size(array, (guint)number + 1);
	return array->data + number * g_array_get_element_size(array);
}

static void note_context(struct running *r, const struct log_record *record)
{
	const uint64_t *w = record->words;
	struct told_call *c = at(r->told_contexts, record->pc); /* its caller's is lower */
	*c = (struct told_call){ { log_frame_function(w[3]), w[2], log_frame_begin(w[3]) },
		                 w[1] < record->pc ? (uint32_t)w[1] : 0 };
}

static void note_point(struct running *r, const struct log_record *record)
{
	uint64_t access = record->words[1];
	unsigned tag = access >> 48 & 255, flags = (unsigned)(access >> 56);
	if (tag < LOG_READ || tag > LOG_RMW)
		return;
	const struct event e = { .op = import_op[tag],
		                 .flags = import_order((enum op)import_op[tag], flags) |
		                          (flags & LOG_VOLATILE ? EVENT_VOLATILE : 0),
		                 .location =
		                         import_location(r->im, access & LOG_ADDRESS_MASK) };
	struct told_point *p = at(r->told_points, record->pc);
	*p = (struct told_point){ running_site_of(r, &e), (enum op)e.op };
}

static uint64_t point_at(struct running *r, uint64_t context, uint64_t point)
{
	const struct told_point *p = at(r->told_points, point);
	at(r->told_contexts, context);
	return point_of(context && context < MOST_NUMBERS ? (uint32_t)context | TOLD_CONTEXT
	                                                  : 0,
	                p->site);
}

static const struct segment *segment_at(const struct running *r, uint64_t number)
{
	return &g_array_index(r->segments, struct segment,
	                      number < r->segments->len ? number : 0);
}

/* The first access of a pair, or a use: its segment and context << 32. */
static struct running_access earlier(struct running *r, uint64_t word, uint64_t point)
{
	const struct segment *s = segment_at(r, (uint32_t)word);
	return (struct running_access){ s->thread, point_at(r, word >> 32, point), s->number,
		                        0 };
}

static struct running_bytes bytes_of(uint64_t word)
{
	const unsigned bytes = log_conflict_bytes(word);
	const unsigned first = bytes ? (unsigned)__builtin_ctz(bytes) : 0;
	return (struct running_bytes){ (word & LOG_ADDRESS_MASK) + first,
		                       bytes ? (uint32_t)__builtin_ctz(~(bytes >> first)) : 1 };
}

static void take_pair(struct running *r, uint32_t thread, const struct log_record *record)
{
	const uint64_t *w = record->words;
	const struct running_access first = earlier(r, w[1], w[2] & UINT32_MAX);
	const enum op op = ((const struct told_point *)at(r->told_points, w[2] >> 32))->op;
	uint32_t events = builder_event_count(r->im->b);
	const struct flow_event x = {
		.op = op,
		.thread = thread,
		.number = record->flags && events > 0 ? events - 1 : events,
		.target = NONE,
		.block = NONE,
		.point = point_at(r, w[3], w[2] >> 32),
	};
	r->sink.pair(r->sink.context, &first, &x, bytes_of(w[4]));
}

static void take_use(struct running *r, const struct log_record *record)
{
	const uint64_t *w = record->words;
	const struct running_access use = earlier(r, w[1], w[2]);
	const struct running_bytes memory = bytes_of(w[3]);
	const struct block_life *life = import_life(r->im, memory.address);
	if (life && life->block != NONE)
		r->sink.used(r->sink.context, &use, (uint32_t)w[1], life->block, memory);
}

/* The variables that these bytes are, and their block; valid until the next. */
static const uint32_t *variables_at(struct running *r, struct running_bytes memory,
                                    uint32_t *count, uint32_t *block)
{
	const struct block_life *life = import_life(r->im, memory.address);
	const struct variable_range range = { memory.address, memory.size,
		                              life ? life->region : import_flat_region(r->im),
		                              life ? life->block : NONE, 0 };
	*block = range.block;
	return ranges_cover(&r->ranges, range, count);
}

uint32_t running_variable(struct running *r, struct running_bytes memory)
{
	uint32_t count, block;
	return variables_at(r, memory, &count, &block)[0];
}

static void take_touch(struct running *r, uint32_t thread, const struct log_record *record)
{
	const uint32_t size = (uint32_t)record->words[1];
	const struct running_bytes memory = { record->pc, size };
	struct running_touch touch = {
		.thread = thread,
		.number = builder_event_count(r->im->b),
		.late = record->flags & 2 ? segment_at(r, record->words[1] >> 32)->number
		                          : NONE,
		.writes = record->flags & 1,
	};
	if (size == 0 || size > LOG_TOUCH_MOST)
		return;
	touch.variables = variables_at(r, memory, &touch.count, &touch.block);
	r->sink.touch(r->sink.context, &touch);
}

void running_shadow(struct running *r, uint32_t id, const struct log_record *record)
{
	const uint32_t thread = import_lane(r->im, id)->thread;
	switch (record->tag) {
	case LOG_CONTEXT:
		note_context(r, record);
		return;
	case LOG_POINT:
		note_point(r, record);
		return;
	default:
		break;
	}
	builder_show(r->im->b); /* the events before it */
	if (record->tag == LOG_SEGMENT) {
		const struct segment s = { thread, builder_event_count(r->im->b) };
		g_array_append_val(r->segments, s); /* they come in a row */
		r->sink.segment(r->sink.context, thread, s.number, r->segments->len - 1);
	} else if (record->tag == LOG_CONFLICT) {
		take_pair(r, thread, record);
	} else if (record->tag == LOG_USED) {
		take_use(r, record);
	} else if (record->tag == LOG_TOUCH) {
		take_touch(r, thread, record);
	}
}
