/*
 * running.c - see running.h. The builder passes its events on in parts (builder_watch). An
 * access has its place there: the table of known places says which variable that is, and only
 * where it does not the bytes are looked at.
 */
#include <string.h>

#include "engine/base/hash.h"
#include "engine/record/import/running_private.h"

enum { MOST_BYTES = 1 << 30 }; /* bound on one access; a damaged log may have any number */

/* Passes the run on; before any other event, and before a variable changes. */
static void end_run(struct running *r)
{
	struct flow_run run = { r->lane, r->run_count, r->run };
	r->run_count = 0;
	if (run.count > 0)
		r->sink.run(r->sink.context, &run);
}

static inline uint32_t site_of(struct running *r, const struct event *e)
{
	uint64_t head = event_head(e) & ~(uint64_t)EVENT_THREADS;
	const struct running_place *last =
	        &g_array_index(r->latest, struct running_place, running_site_slot(e));
	if (G_LIKELY(running_site_slot(e) < r->latest->len && last->head == head &&
	             last->site != 0))
		return last->site;
	return running_site_of(r, e);
}

/* Before a variable is split or becomes other memory (struct running_sink): earlier accesses
 * were of the old one. */
static void before_split(void *context, uint32_t from, uint32_t to)
{
	struct running *r = context;
	end_run(r);
	r->sink.split(r->sink.context, from, to);
}

static void before_renewal(void *context, uint32_t variable)
{
	struct running *r = context;
	end_run(r);
	r->sink.renew(r->sink.context, variable);
}

/* Adds a plain access of these variables to the run. */
static void add_to_run(struct running *r, const struct flow_event *x)
{
	for (uint32_t i = 0; i < x->variables_count; i++) {
		if (r->run_count == RUN)
			end_run(r);
		r->run[r->run_count++] = (struct flow_access){
			x->point, x->number, x->variables[i], { i ? NONE : x->block, x->op }
		};
	}
}

/* An access of a place that is not known to be a variable, or an atomic one. */
static __attribute__((noinline)) void take_access(struct running *r, const struct event *e,
                                                  uint32_t stack, uint32_t number)
{
	struct place_memory m = builder_place_memory(r->im->b, e->target);
	if (m.size == 0 || m.size > MOST_BYTES)
		return;
	struct flow_event x = { .op = (enum op)e->op,
		                .flags = e->flags & EVENT_ORDER_MASK,
		                .thread = e->thread,
		                .number = number,
		                .target = NONE,
		                .block = m.block,
		                .point = point_of(stack, site_of(r, e)) };
	struct variable_range range = { import_original(r->im, m.address, m.region), m.size,
		                        m.region, m.block, e->target + 1 };
	x.variables = ranges_cover(&r->ranges, range, &x.variables_count);
	if (x.op <= OP_WRITE) {
		add_to_run(r, &x);
		return;
	}
	end_run(r);
	r->sink.event(r->sink.context, &x);
}

static void pass_invocation(struct running *r, const struct event *e, struct flow_event *x)
{
	const struct builder *b = r->im->b;
	const uint32_t *values;
	const struct invocation_part *part = builder_invocation_at(b, e->aux, &values);
	struct flow_call call = {
		.type = builder_text(b, builder_instance_at(b, e->target)->type),
		.method = builder_text(b, part->method),
		.arguments = part->arguments,
		.results = part->results,
	};
	struct invoked at = { x->number, *e };
	g_array_append_val(r->invoked, at);
	g_array_set_size(r->values, 0);
	for (uint32_t i = 0; i < call.arguments + call.results; i++) {
		struct value value = builder_value_at(b, values[i]);
		g_array_append_val(r->values, value);
	}
	call.values = (const struct value *)(void *)r->values->data;
	x->call = &call;
	r->sink.event(r->sink.context, x);
}

/* Is the event's place needed for reports? */
static bool has_point(enum op op)
{
	return op == OP_FREE || op == OP_CALL || op == OP_WAIT || op_wakes(op);
}

/* Other events. */
static void take_other(struct running *r, const struct event *e, uint32_t stack,
                       uint32_t number)
{
	struct flow_event x = { .op = (enum op)e->op,
		                .flags = e->flags,
		                .thread = e->thread,
		                .number = number,
		                .target = e->target,
		                .block = NONE };
	end_run(r);
	if (op_table[e->op].operand == OPERAND_OBJECT) {
		const struct object *o = builder_object_at(r->im->b, e->target);
		bool ends = op_tells(x.op) || x.op == OP_WAKE || x.op == OP_DEPART;
		x.count = o->count;
		x.block = ends && !event_inert(e) ? NONE : o->block;
	}
	if (has_point(x.op))
		x.point = point_of(stack, site_of(r, e));
	if (op_table[x.op].class == OP_CLASS_CALL)
		pass_invocation(r, e, &x);
	else
		r->sink.event(r->sink.context, &x);
}

/* Events that the analyses do not take; the wants are of the program's end. */
static const bool is_left_out[OP_COUNT] = {
	[OP_ENTER] = true, [OP_LEAVE] = true, [OP_MISS] = true,
	[OP_BACK] = true,  [OP_WANT] = true,  [OP_WANTJOIN] = true,
};

static void take_events(void *context, const struct event *events, const uint32_t *stacks,
                        uint32_t first, uint32_t count)
{
	enum { AHEAD = 16 };
	struct running *r = context;
	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &events[i];
		uint32_t stack = stacks ? stacks[i] : 0;
		__builtin_prefetch(
		        range_known(&r->ranges, events[MIN(i + AHEAD, count - 1)].target));
		if (G_UNLIKELY(is_left_out[e->op]))
			continue;
		if (G_UNLIKELY(!op_is_access(e->op))) {
			take_other(r, e, stack, first + i);
			continue;
		}
		if (G_UNLIKELY(e->thread != r->lane || r->run_count == RUN)) {
			end_run(r);
			r->lane = e->thread;
		}
		const struct known_place *known = range_known(&r->ranges, e->target);
		if (G_UNLIKELY(e->op > OP_WRITE || known->place != e->target + 1)) {
			take_access(r, e, stack, first + i);
			continue;
		}
		r->run[r->run_count++] = (struct flow_access){ point_of(stack, site_of(r, e)),
			                                       first + i,
			                                       known->variable,
			                                       { known->block, e->op } };
	}
	end_run(r);
}

static void keep(struct running *r, const struct log_record *record)
{
	uint64_t words = record->tag == LOG_MODULE ? 7 + (record->words[6] + 7) / 8 : 6;
	struct log_record *kept = g_malloc0(sizeof *kept + words * sizeof *kept->words);
	*kept = *record;
	kept->words = (const void *)(kept + 1);
	memcpy(kept + 1, record->words, words * sizeof *kept->words);
	g_ptr_array_add(r->kept, kept);
}

/* The call that the thread has just entered. */
static void note_call(struct running *r, uint32_t thread, const struct log_record *record)
{
	const struct lane *lane = &g_array_index(r->im->lanes, struct lane, thread);
	uint32_t stack = builder_stack(r->im->b, lane->thread);
	if (stack >= r->calls->len)
		g_array_set_size(r->calls, stack + 1);
	struct call *call = &g_array_index(r->calls, struct call, stack);
	if (call->pc == 0 && call->function == 0)
		*call = (struct call){ record->address, record->pc, record->value };
}

static void note_allocation(struct running *r, uint32_t thread, const struct log_record *record)
{
	const struct import *im = r->im;
	const struct lane *lane = &g_array_index(im->lanes, struct lane, thread);
	const struct block_life *life = im->all_lives->pdata[im->all_lives->len - 1];
	if (life->block >= r->allocated->len)
		g_array_set_size(r->allocated, life->block + 1);
	g_array_index(r->allocated, struct allocated, life->block) =
	        (struct allocated){ record->pc, record->words[1], record->words[2],
		                    lane->thread, builder_stack(im->b, lane->thread) };
}

void running_record(struct running *r, uint32_t thread, const struct log_record *record)
{
	if (record->tag == LOG_ENTER)
		note_call(r, thread, record);
	else if (record->tag == LOG_ALLOC)
		note_allocation(r, thread, record);
	else if (record->tag == LOG_MODULE || record->tag == LOG_THREAD)
		keep(r, record);
	else if (record->tag >= LOG_CONTEXT)
		running_shadow(r, thread, record);
}

int64_t running_text(void *running, const char *text, size_t length)
{
	struct running *r = running;
	return builder_string(r->im->b, text, length);
}

/* -- making and ending ---------------------------------------------------------------------- */

struct running *running_new(struct import *im, const struct running_watch *watch)
{
	const uint64_t none = 0;
	struct running *r = g_new0(struct running, 1);
	r->im = im;
	r->before = (struct running_sink){ .context = r,
		                           .split = before_split,
		                           .renew = before_renewal };
	ranges_init(&r->ranges, &r->before);
	r->latest = g_array_new(FALSE, TRUE, sizeof(struct running_place));
	r->sites = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_array_append_val(r->sites, none); /* number 0 */
	r->site_of = g_hash_table_new(hash_pointer, NULL);
	r->calls = g_array_new(FALSE, TRUE, sizeof(struct call));
	r->allocated = g_array_new(FALSE, TRUE, sizeof(struct allocated));
	r->segments = g_array_new(FALSE, TRUE, sizeof(struct segment));
	g_array_set_size(r->segments, 1); /* number 0 */
	r->told_contexts = g_array_new(FALSE, TRUE, sizeof(struct told_call));
	r->told_points = g_array_new(FALSE, TRUE, sizeof(struct told_point));
	r->kept = g_ptr_array_new_with_free_func(g_free);
	r->invoked = g_array_new(FALSE, FALSE, sizeof(struct invoked));
	r->values = g_array_new(FALSE, FALSE, sizeof(struct value));
	watch->begin(watch->context, r, &r->sink);
	return r;
}

void running_begin(struct running *r)
{
	builder_watch(r->im->b, &(struct builder_watch){ r, take_events });
}

void running_free(struct running *r)
{
	if (r == NULL)
		return;
	if (r->im->b)
		builder_show(r->im->b);
	r->sink.end(r->sink.context);
	if (r->im->b)
		builder_watch(r->im->b, &(struct builder_watch){ NULL, NULL });
	ranges_release(&r->ranges);
	GArray *arrays[] = { r->latest,    r->sites,         r->calls,
		             r->allocated, r->invoked,       r->values,
		             r->segments,  r->told_contexts, r->told_points };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_free(arrays[i], TRUE);
	g_hash_table_destroy(r->site_of);
	g_ptr_array_free(r->kept, TRUE);
	g_free(r);
}
