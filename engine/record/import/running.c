/*
 * running.c - see running.h. All records but accesses and calls go through the importer, whose
 * events they become; accesses, which are most, go to the sink without values, names and
 * contexts of the builder.
 */
#include <string.h>

#include "engine/base/hash.h"
#include "engine/record/codec.h"
#include "engine/record/import/running_private.h"

enum { MOST_BYTES = 1 << 30 }; /* bound on one access; a damaged log may have any number */
static const struct block_life no_life = { .dead = true, .block = NONE };

static inline struct calling *calling_at(struct running *r, uint32_t thread)
{
	if (G_UNLIKELY(r->threads->len <= thread))
		g_array_set_size(r->threads, thread + 1);
	return &g_array_index(r->threads, struct calling, thread);
}

/* Passes the run on; before any other event, and before memory is divided. */
static void end_run(struct running *r)
{
	struct flow_run run = { r->lane, r->run_count, r->run };
	if (run.count > 0)
		r->sink.run(r->sink.context, &run);
	r->run_count = 0;
}

/* Completes and passes an access whose op, flags, point, and block are set. */
static void pass_access(struct running *r, struct variable_range range)
{
	struct flow_event *x = &r->access;
	uint32_t one = *range_byte(&r->ranges, range.address);
	if (x->op <= OP_WRITE &&
	    is_range(range_at(&r->ranges, one), range.address, range.size, range.life)) {
		r->run[r->run_count++] =
		        (struct flow_access){ x->point, r->events++, one, { x->block, x->op } };
		if (r->run_count == RUN)
			end_run(r);
		return;
	}
	end_run(r);
	x->thread = r->lane;
	x->number = r->events++;
	x->variables = ranges_cover(&r->ranges, range, &x->variables_count);
	r->sink.event(r->sink.context, x);
}

/* The heap block of a life: others are never freed. */
static uint32_t block_of(const struct block_life *life)
{
	return life && life->heap ? life->block : NONE;
}

static void take_access(struct running *r, const struct log_record *record)
{
	_Static_assert(LOG_RMW - LOG_READ == OP_RMW - OP_READ, "in the same order");
	uint64_t address = record->address & LOG_ADDRESS_MASK;
	unsigned order = record->flags & LOG_ORDER_MASK;
	uint32_t place = running_points_place(r->points, record);
	struct flow_event *x = &r->access;
	if (record->size == 0 || record->size > MOST_BYTES)
		return;
	const struct block_life *life = import_life(r->im, address);
	x->op = (enum op)(OP_READ + (record->tag - LOG_READ));
	x->flags = (uint8_t)MIN(order, (unsigned)ORDER_SEQ_CST);
	x->block = block_of(life);
	x->point = point_of(calling_at(r, r->thread)->context, place);
	if (record->tag != LOG_RMW && record->code < LOG_RANGE) {
		uint64_t first =
		        log_word(record->tag, record->flags & LOG_SITE_FLAGS, record->pc);
		r->sites[record->slot] = (struct recent_access){
			.key = log_site_key(first, record->code),
			.life = life ? life : &no_life,
			.of = { x->block, x->op },
			.place = place,
			.size = (uint32_t)record->size,
			.plain = x->op <= OP_WRITE ? (uint32_t)record->size : 0,
			.flags = x->flags,
		};
	}
	pass_access(r, (struct variable_range){ address, (uint32_t)record->size, life });
}

/* Takes the next records as long as they have one word, are plain accesses of one variable by
 * known instructions, and another record follows: most are. (The loop's own is in registers.)
 */
static __attribute__((noinline)) void take_plain_shorts(struct running *r)
{
	struct log_reader *reader = so_far_reader(r->log);
	struct log_site *const lasts = reader->sites.at;
	const struct variable_range *const ranges = range_at(&r->ranges, 0);
	const uint64_t context = point_of(calling_at(r, r->thread)->context, 0);
	const uint64_t *at = reader->at;
	const uint64_t *end = at + MIN(reader->end - at - 1, (ptrdiff_t)(RUN - r->run_count));
	struct flow_access *to = r->run + r->run_count;
	uint32_t number = r->events;
	for (; at < end; at++, to++) {
		const uint64_t word = *at;
		const unsigned slot = log_short_slot(word);
		const uint64_t address = lasts[slot].address + log_short_offset(word);
		const uint64_t page = address >> PAGE_BITS;
		const struct recent_page *known = &r->ranges.page[page % PAGES];
		if (G_UNLIKELY(!log_is_short(word) || at[1] == 0 || known->number != page))
			break;
		const uint32_t one = known->at[address % PAGE_BYTES];
		const struct recent_access *site = &r->sites[slot];
		const struct block_life *life = site->life;
		if (G_UNLIKELY(site->key != lasts[slot].key || life->dead ||
		               log_short_field(word) == LOG_DELTA_FOLLOWS ||
		               !is_range(&ranges[one], address, site->plain, life)))
			break;
		lasts[slot].address = address;
		to->point = context | site->place;
		to->number = number++;
		to->variable = one;
		to->of = site->of;
	}
	r->events = number;
	r->run_count = (uint32_t)(to - r->run);
	reader->at = at;
}

/* The next record, if it has one word, is of a known instruction and block, and another record
 * follows. */
static bool take_short(struct running *r)
{
	struct log_reader *reader = so_far_reader(r->log);
	if (reader->second || reader->at + 1 >= reader->end || !log_is_short(reader->at[0]) ||
	    reader->at[1] == 0)
		return false;
	const uint64_t word = reader->at[0];
	const struct recent_access *site = &r->sites[log_short_slot(word)];
	struct log_site *last = &reader->sites.at[log_short_slot(word)];
	const struct block_life *life = site->life;
	uint64_t address = (last->address + log_short_offset(word)) & LOG_ADDRESS_MASK;
	if (log_short_field(word) == LOG_DELTA_FOLLOWS || site->key != last->key ||
	    life->dead || address - life->low >= life->high - life->low)
		return false;
	last->address = address;
	reader->at++;
	struct flow_event *x = &r->access;
	x->op = (enum op)site->of.op;
	x->flags = site->flags;
	x->block = site->of.block;
	x->point = point_of(calling_at(r, r->thread)->context, site->place);
	pass_access(r, (struct variable_range){ address, site->size, life });
	return true;
}

static void take_shorts(struct running *r)
{
	do {
		if (so_far_reader(r->log)->second == 0)
			take_plain_shorts(r);
		if (r->run_count == RUN)
			end_run(r);
	} while (take_short(r));
}

static void leave(struct running *r, struct calling *c, uint64_t frames)
{
	for (; frames > 0 && c->depth > 0; frames--) {
		c->context = running_points_call_at(r->points, c->context)->parent;
		c->depth--;
		r->events++;
	}
}

static void enter(struct running *r, const struct log_record *record)
{
	struct calling *c = calling_at(r, r->thread);
	leave(r, c, record->left);
	const struct call call = { record->address, record->pc, record->value, c->context };
	c->context = running_points_call(r->points, &call);
	c->depth++;
	r->events++;
}

/* Notes `object` as the record's object. */
static void keep_address(struct running *r, uint32_t object, const struct log_record *record)
{
	if (object >= r->addresses->len)
		g_array_set_size(r->addresses, object + 1);
	g_array_index(r->addresses, uint64_t, object) = record->words[1];
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
	struct invoked at = { x->number, builder_event_count(b) - 1 };
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

/* Passes the importer's new events of one record on. */
static void pass_on(struct running *r, uint32_t from, const struct log_record *record)
{
	struct builder *b = r->im->b;
	if (from < builder_event_count(b))
		end_run(r);
	for (uint32_t i = from; i < builder_event_count(b); i++) {
		const struct event *e = builder_event(b, i);
		struct flow_event x = { .op = (enum op)e->op,
			                .flags = e->flags,
			                .thread = e->thread,
			                .number = r->events++,
			                .target = e->target,
			                .block = NONE };
		if (op_table[e->op].operand == OPERAND_OBJECT) {
			const struct object *o = builder_object_at(b, e->target);
			bool ends = op_tells(x.op) || x.op == OP_WAKE || x.op == OP_DEPART;
			x.count = o->count;
			x.block = ends && !event_inert(e) ? NONE : o->block;
			if (x.op == OP_WAIT || op_wakes(x.op))
				keep_address(r, e->target, record);
		}
		if (has_point(x.op))
			x.point = point_of(calling_at(r, r->thread)->context,
			                   running_points_place(r->points, record));
		if (op_table[x.op].class == OP_CLASS_CALL)
			pass_invocation(r, e, &x);
		else
			r->sink.event(r->sink.context, &x);
	}
}

static void keep(struct running *r, const struct log_record *record)
{
	uint64_t words = record->tag == LOG_MODULE ? 5 + (record->words[4] + 7) / 8 : 5;
	struct log_record *kept = g_malloc0(sizeof *kept + words * sizeof *kept->words);
	*kept = *record;
	kept->words = (const void *)(kept + 1);
	memcpy(kept + 1, record->words, words * sizeof *kept->words);
	g_ptr_array_add(r->kept, kept);
}

static void keep_allocation(struct running *r, const struct log_record *record)
{
	struct allocated *a = g_new0(struct allocated, 1);
	*a = (struct allocated){ .thread = r->thread,
		                 .context = calling_at(r, r->thread)->context,
		                 .pc = record->pc,
		                 .words = { 0, record->words[1], record->words[2] } };
	g_hash_table_insert(r->allocated, import_life(r->im, record->words[1]), a);
}

/* Records that synchronise, or that change the meaning of later records. */
static void take_other(struct running *r, const struct log_record *record)
{
	uint32_t from = builder_event_count(r->im->b);
	switch (record->tag) {
	case LOG_MODULE:
	case LOG_THREAD:
		keep(r, record);
		break;
	case LOG_FORK:
	case LOG_JOIN:
		if (record->words[1] >= LOG_THREADS)
			return; /* damaged log */
		break;
	default:
		break;
	}
	import_record(r->im, r->thread, record);
	if (record->tag == LOG_ALLOC)
		keep_allocation(r, record);
	pass_on(r, from, record);
}

static void take_record(struct running *r, const struct log_record *record)
{
	struct calling *c = calling_at(r, r->thread);
	switch (record->tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW:
		take_access(r, record);
		break;
	case LOG_SWITCH:
		end_run(r);
		r->thread = record->pc < LOG_THREADS ? (uint32_t)record->pc : r->thread;
		r->lane = import_lane(r->im, r->thread)->thread;
		break;
	case LOG_ENTER:
		enter(r, record);
		break;
	case LOG_LEAVE:
		leave(r, c, record->pc);
		break;
	case LOG_MISS:
		c->missing++;
		r->events++;
		break;
	case LOG_BACK:
		r->events += c->missing > 0;
		c->missing -= c->missing > 0;
		break;
	case LOG_NOTE:
	case LOG_CLOCK:
	case LOG_RANDOM:
	case LOG_INPUT:
	case LOG_FAR:
	case LOG_REPEAT:
	case LOG_BLOCKED:
	case LOG_CRASH:
		break; /* facts for the trace */
	default:
		take_other(r, record);
		break;
	}
}

static bool begin(struct running *r)
{
	if (!so_far_header(r->log, &r->header) || !(r->header.flags & LOG_CONTROLLED))
		return false;
	r->im = import_new(&r->facts);
	r->im->header = &r->header;
	import_init(r->im, r->path, "the recording so far");
	r->lane = import_lane(r->im, 0)->thread;
	return true;
}

bool running_look(struct running *r)
{
	struct log_record record = { .slot = 0 };
	bool any = false;
	if (r->im == NULL && !begin(r))
		return false;
	for (; so_far_next(r->log, &record); any = true) {
		take_record(r, &record);
		take_shorts(r);
	}
	end_run(r);
	return any;
}

int64_t running_text(void *running, const char *text, size_t length)
{
	struct running *r = running;
	return builder_string(r->im->b, text, length);
}

/* -- making and ending ---------------------------------------------------------------------- */

struct running *running_new(const char *path, int buffer, const struct running_sink *sink)
{
	struct so_far *log = so_far_new(path, buffer);
	if (log == NULL)
		return NULL;
	struct running *r = g_new0(struct running, 1);
	r->sink = *sink;
	r->access.target = NONE;
	r->log = log;
	r->path = g_strdup(path);
	r->threads = g_array_new(FALSE, TRUE, sizeof(struct calling));
	r->points = running_points_new();
	ranges_init(&r->ranges, &r->sink);
	for (int i = 0; i < LOG_SITES; i++)
		r->sites[i].life = &no_life;
	r->allocated = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	r->kept = g_ptr_array_new_with_free_func(g_free);
	r->invoked = g_array_new(FALSE, FALSE, sizeof(struct invoked));
	r->values = g_array_new(FALSE, FALSE, sizeof(struct value));
	r->addresses = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return r;
}

void running_free(struct running *r)
{
	if (r == NULL)
		return;
	if (r->im)
		import_free(r->im);
	record_facts_release(&r->facts);
	so_far_free(r->log);
	running_points_free(r->points);
	ranges_release(&r->ranges);
	GArray *arrays[] = { r->threads, r->invoked, r->values, r->addresses };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_free(arrays[i], TRUE);
	g_hash_table_destroy(r->allocated);
	g_ptr_array_free(r->kept, TRUE);
	g_free(r->path);
	g_free(r);
}
