/*
 * running.c - see running.h. All records but accesses and calls go through the importer, whose
 * events they become; accesses, which are most, go to the sink without values, names and
 * contexts of the builder.
 */
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/record/codec.h"
#include "engine/record/import/import_private.h"
#include "engine/record/import/running.h"
#include "engine/record/import/so_far.h"

/* A call, as a node of the tree of calling contexts; 0: none. */
struct call {
	uint32_t parent;
	uint64_t function, pc, frame; /* as in LOG_ENTER */
};
enum { PLACE_FLAGS = LOG_ORDER_MASK | LOG_VOLATILE };
/* An instruction that accesses or frees memory. A point is its number, with its context's in
 * the upper half. */
struct access_place {
	enum log_tag tag;
	unsigned flags;
	uint64_t pc;
};
/* The last access of a slot of the log's sites; `life` is no_life where it is not known. */
struct recent_access {
	uint64_t key; /* the site's */
	const struct block_life *life;
	uint32_t place, size, plain; /* plain: the size of a plain access, or 0 */
	struct flow_kind of;
	uint8_t flags;
};
static const struct block_life no_life = { .dead = true, .block = NONE };
struct recent_place {
	uint64_t key;
	uint32_t place; /* + 1 */
};

struct calling { /* a thread */
	uint32_t context, depth, missing;
};

/* The place where a block was allocated. */
struct allocated {
	uint32_t thread, context; /* the runtime's number */
	uint64_t pc, words[3];
};

/* An event of an invocation. */
struct invoked {
	uint32_t number, event; /* event: in the importer's builder */
};

struct variable_range {
	uint64_t address;
	uint32_t size; /* 0: it is no longer a variable */
	const struct block_life *life;
};
enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, PAGES = 1024, RECENT = 1024 };
enum { RUN = 256 };            /* accesses that are passed on at once */
#define NO_PAGE UINT64_MAX     /* a page's number that no address has */
enum { MOST_BYTES = 1 << 30 }; /* bound on one access; a damaged log may have any number */
struct memory_page {
	uint64_t number;
	uint32_t at[PAGE_BYTES]; /* by byte: variable, or 0 */
};

struct running {
	struct running_sink sink;
	struct so_far *log;
	char *path;
	struct record_facts facts;
	struct log_header header;
	struct import *im; /* NULL: the log has no header yet */
	uint32_t thread;   /* thread of the next record, the runtime's number */
	uint32_t lane;     /* the number of that thread in the events */
	uint32_t events;   /* so far */
	GArray *threads;   /* struct calling, by the runtime's number */
	GArray *calls;     /* struct call */
	uint32_t *call_of; /* hash table of calls, open addressing: index, or 0 */
	uint32_t calls_mask;
	GArray *places;       /* struct access_place */
	GHashTable *place_of; /* hash of the key -> index + 1 */
	struct recent_place recent[RECENT];
	struct recent_access sites[LOG_SITES];
	struct flow_event access; /* the last access; fields that stay are not set again */
	GHashTable *pages;        /* number -> struct memory_page, owned */
	struct memory_page *page[PAGES]; /* by number; at first that of NO_PAGE */
	struct flow_access run[RUN];     /* accesses of the lane that are not passed on yet */
	uint32_t run_count;
	GArray *variables;     /* struct variable_range; 0 is none */
	GArray *covered;       /* uint32_t: the variables of an access that covers several */
	GHashTable *allocated; /* life -> struct allocated, owned */
	GPtrArray *kept;       /* struct log_record, with words: of modules and threads */
	GArray *invoked;       /* struct invoked, ascending */
	GArray *values;        /* struct value: of the present invocation */
	GArray *addresses;     /* uint64_t: address of an object, by its number */
};

/* -- interning ----------------------------------------------------------------------------- */

static uint64_t key_of(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = hash_word(a + 1);
	hash = hash_join(hash ^ hash >> 29, b);
	return hash_join(hash ^ hash >> 29, c);
}

static uint32_t *call_slot(const struct running *r, const struct call *c)
{
	uint32_t at = hash_top(key_of(c->parent, c->function, c->pc)) & r->calls_mask;
	for (; r->call_of[at]; at = (at + 1) & r->calls_mask) {
		const struct call *x = &g_array_index(r->calls, struct call, r->call_of[at]);
		if (x->parent == c->parent && x->function == c->function && x->pc == c->pc)
			break;
	}
	return &r->call_of[at];
}

static void more_calls(struct running *r)
{
	r->calls_mask = 2 * r->calls_mask + 1;
	g_free(r->call_of);
	r->call_of = g_new0(uint32_t, (gsize)r->calls_mask + 1);
	for (guint i = 1; i < r->calls->len; i++)
		*call_slot(r, &g_array_index(r->calls, struct call, i)) = i;
}

static uint32_t context_of(struct running *r, struct call call)
{
	uint32_t *slot = call_slot(r, &call), made = r->calls->len;
	if (*slot)
		return *slot;
	*slot = made;
	g_array_append_val(r->calls, call);
	if (2 * r->calls->len > r->calls_mask)
		more_calls(r);
	return made;
}

/* The number of a record's place. Two places with one hash are taken for one: the chance is 1
 * in 2^64. */
static uint32_t place_of(struct running *r, const struct log_record *record)
{
	unsigned flags = record->flags & PLACE_FLAGS;
	uint64_t key = key_of(record->tag, flags, record->pc);
	struct recent_place *recent = &r->recent[hash_top(key) % RECENT];
	if (G_LIKELY(recent->place && recent->key == key))
		return recent->place - 1;
	struct access_place place = { record->tag, flags, record->pc };
	gpointer found = g_hash_table_lookup(r->place_of, GSIZE_TO_POINTER(key));
	if (found == NULL) {
		g_array_append_val(r->places, place);
		found = GUINT_TO_POINTER(r->places->len);
		g_hash_table_insert(r->place_of, GSIZE_TO_POINTER(key), found);
	}
	*recent = (struct recent_place){ key, GPOINTER_TO_UINT(found) };
	return recent->place - 1;
}

/* -- memory -------------------------------------------------------------------------------- */

static __attribute__((noinline)) struct memory_page *page_new(struct running *r,
                                                              uint64_t number)
{
	gpointer key = GSIZE_TO_POINTER(number);
	struct memory_page *page = g_hash_table_lookup(r->pages, key);
	if (page == NULL) {
		page = g_new0(struct memory_page, 1);
		page->number = number;
		g_hash_table_insert(r->pages, key, page);
	}
	return page;
}

static inline uint32_t *byte_at(struct running *r, uint64_t address)
{
	uint64_t number = address >> PAGE_BITS;
	struct memory_page **page = &r->page[number % PAGES];
	if (G_UNLIKELY((*page)->number != number))
		*page = page_new(r, number);
	return &(*page)->at[address % PAGE_BYTES];
}

static inline struct variable_range *range_at(struct running *r, uint32_t variable)
{
	return &g_array_index(r->variables, struct variable_range, variable);
}

/* The variable at a byte; 0: none yet in this life of the memory. */
static uint32_t variable_at(struct running *r, uint64_t address, const struct block_life *life)
{
	uint32_t variable = *byte_at(r, address);
	const struct variable_range *v = range_at(r, variable);
	bool is = v->life == life && address >= v->address && address - v->address < v->size;
	return is ? variable : 0;
}

static void set_bytes(struct running *r, uint32_t variable)
{
	const struct variable_range v = *range_at(r, variable);
	for (uint32_t i = 0; i < v.size; i++)
		*byte_at(r, v.address + i) = variable;
}

/* A variable for new memory: one from an earlier life is reused if it has the same bytes. */
static uint32_t new_variable(struct running *r, struct variable_range range)
{
	uint32_t variable = *byte_at(r, range.address);
	if (variable != 0 && range_at(r, variable)->address == range.address &&
	    range_at(r, variable)->size == range.size) {
		*range_at(r, variable) = range;
		r->sink.renew(r->sink.context, variable);
	} else {
		variable = r->variables->len;
		g_array_append_val(r->variables, range);
	}
	set_bytes(r, variable);
	return variable;
}

/* Splits a variable: its bytes from `address` on become another. */
static uint32_t split(struct running *r, uint32_t variable, uint64_t address)
{
	struct variable_range *v = range_at(r, variable), rest = *v;
	uint32_t made = r->variables->len;
	v->size = (uint32_t)(address - v->address);
	rest.address = address;
	rest.size -= v->size;
	g_array_append_val(r->variables, rest);
	set_bytes(r, made);
	r->sink.split(r->sink.context, variable, made);
	return made;
}

static void cover_slowly(struct running *r, struct variable_range access)
{
	uint64_t end = access.address + access.size;
	for (uint64_t at = access.address; at < end;) {
		uint32_t variable = variable_at(r, at, access.life);
		if (variable == 0) {
			uint64_t to = at + 1;
			while (to < end && variable_at(r, to, access.life) == 0)
				to++;
			struct variable_range fresh = { at, (uint32_t)(to - at), access.life };
			variable = new_variable(r, fresh);
		} else if (range_at(r, variable)->address < at) {
			variable = split(r, variable, at);
		}
		const struct variable_range *v = range_at(r, variable);
		if (v->address + v->size > end)
			split(r, variable, end);
		g_array_append_val(r->covered, variable);
		at += range_at(r, variable)->size;
	}
}

/* Is it just this memory? */
static inline bool is_range(const struct variable_range *v, uint64_t address, uint32_t size,
                            const struct block_life *life)
{
	return v->address == address && v->size == size && v->life == life;
}

/* The variables of an access. */
static const uint32_t *cover(struct running *r, struct variable_range access, uint32_t *count)
{
	g_array_set_size(r->covered, 0);
	cover_slowly(r, access);
	*count = r->covered->len;
	return (const uint32_t *)(void *)r->covered->data;
}

/* -- records ------------------------------------------------------------------------------- */

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
	uint32_t one = *byte_at(r, range.address);
	if (x->op <= OP_WRITE &&
	    is_range(range_at(r, one), range.address, range.size, range.life)) {
		r->run[r->run_count++] =
		        (struct flow_access){ x->point, r->events++, one, { x->block, x->op } };
		if (r->run_count == RUN)
			end_run(r);
		return;
	}
	end_run(r);
	x->thread = r->lane;
	x->number = r->events++;
	x->variables = cover(r, range, &x->variables_count);
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
	uint32_t place = place_of(r, record);
	struct flow_event *x = &r->access;
	if (record->size == 0 || record->size > MOST_BYTES)
		return;
	const struct block_life *life = import_life(r->im, address);
	x->op = (enum op)(OP_READ + (record->tag - LOG_READ));
	x->flags = (uint8_t)MIN(order, (unsigned)ORDER_SEQ_CST);
	x->block = block_of(life);
	x->point = (uint64_t)calling_at(r, r->thread)->context << 32 | place;
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
	const struct variable_range *const ranges = range_at(r, 0);
	const uint64_t context = (uint64_t)calling_at(r, r->thread)->context << 32;
	const uint64_t *at = reader->at;
	const uint64_t *end = at + MIN(reader->end - at - 1, (ptrdiff_t)(RUN - r->run_count));
	struct flow_access *to = r->run + r->run_count;
	uint32_t number = r->events;
	for (; at < end; at++, to++) {
		const uint64_t word = *at;
		const unsigned slot = log_short_slot(word);
		const uint64_t address = lasts[slot].address + log_short_offset(word);
		const uint64_t page = address >> PAGE_BITS;
		const struct memory_page *known = r->page[page % PAGES];
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
	x->point = (uint64_t)calling_at(r, r->thread)->context << 32 | site->place;
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
		c->context = g_array_index(r->calls, struct call, c->context).parent;
		c->depth--;
		r->events++;
	}
}

static void enter(struct running *r, const struct log_record *record)
{
	struct calling *c = calling_at(r, r->thread);
	leave(r, c, record->left);
	c->context = context_of(
	        r, (struct call){ c->context, record->address, record->pc, record->value });
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
			x.point = (uint64_t)calling_at(r, r->thread)->context << 32 |
			          place_of(r, record);
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

/* -- a pair as a trace --------------------------------------------------------------------- */

/* The runtime's number of a thread of the events. */
static uint32_t number_of(const struct running *r, uint32_t thread)
{
	for (guint i = 0; i < r->im->lanes->len; i++) {
		const struct lane *lane = &g_array_index(r->im->lanes, struct lane, i);
		if (lane->known && lane->thread == thread)
			return i;
	}
	return 0;
}

static uint32_t call_into(const struct running *r, struct import *im, uint32_t thread,
                          uint32_t context)
{
	if (context == 0)
		return 0;
	const struct call *c = &g_array_index(r->calls, struct call, context);
	uint32_t depth = call_into(r, im, thread, c->parent);
	struct log_record enter = {
		.tag = LOG_ENTER, .pc = c->pc, .address = c->function, .value = c->frame
	};
	import_record(im, thread, &enter);
	return depth + 1;
}

static void call_and_leave(const struct running *r, struct import *im, uint32_t thread,
                           uint32_t context, const struct log_record *inside)
{
	uint32_t depth = call_into(r, im, thread, context);
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	import_record(im, thread, inside);
	import_record(im, thread, &leave);
}

static const struct event *event_of(const struct running *r, uint32_t number)
{
	const struct invoked *all = (const struct invoked *)(void *)r->invoked->data;
	uint64_t after = search_end(i, 0, r->invoked->len, all[i].number <= number);
	return builder_event(r->im->b, all[after - 1].event);
}

static uint32_t copy_string(const struct running *r, const struct import *im, uint32_t string)
{
	size_t length;
	const char *text = builder_string_at(r->im->b, string, &length);
	return builder_string(im->b, text, length);
}

static uint32_t copy_value(const struct running *r, const struct import *im, uint32_t value)
{
	struct value v = builder_value_at(r->im->b, value);
	const char *text = "";
	size_t length = 0;
	if (v.kind == V_INT)
		return builder_integer(im->b, v.integer);
	if (v.kind == V_STRING || v.kind == V_TOKEN)
		text = builder_string_at(r->im->b, v.string, &length);
	return builder_value(im->b, (enum value_kind)v.kind, text, length);
}

/* Copies the event of an invocation, with its object under its name. */
static void copy_invocation(const struct running *r, struct import *im, uint32_t thread,
                            uint32_t number, uint32_t location)
{
	const struct event *e = event_of(r, number);
	const struct instance *i = builder_instance_at(r->im->b, e->target);
	const uint32_t *values;
	const struct invocation_part *part = builder_invocation_at(r->im->b, e->aux, &values);
	g_autofree uint32_t *copies = g_new(uint32_t, part->arguments + part->results + 1u);
	size_t length;
	const char *name = builder_string_at(r->im->b, i->name, &length);
	uint32_t instance = builder_instance(im->b, name, length);
	builder_instance_type(im->b, instance, copy_string(r, im, i->type));
	builder_instance_address(im->b, instance, i->address);
	for (uint32_t k = 0; k < part->arguments + (uint32_t)part->results; k++)
		copies[k] = copy_value(r, im, values[k]);
	struct event copy = {
		.op = e->op, .flags = e->flags, .target = instance, .location = location
	};
	copy.aux = builder_invocation(im->b, copy_string(r, im, part->method), copies,
	                              part->arguments, copies + part->arguments, part->results);
	import_event(im, import_lane(im, thread), copy);
}

static uint32_t add_invocation(const struct running *r, struct import *im,
                               const struct running_access *a, uint64_t pc)
{
	uint32_t thread = number_of(r, a->thread), location = import_location(im, pc);
	uint32_t depth = call_into(r, im, thread, (uint32_t)(a->point >> 32));
	uint32_t event = builder_event_count(im->b);
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	copy_invocation(r, im, thread, a->number, location);
	if (a->end != a->number)
		copy_invocation(r, im, thread, a->end, location);
	import_record(im, thread, &leave);
	return event;
}

/* Adds an access of `v`, a free of its block, or an operation on the object there. */
static uint32_t add_access(const struct running *r, struct import *im,
                           const struct running_access *a, const struct variable_range *v)
{
	const struct access_place *place =
	        &g_array_index(r->places, struct access_place, running_site(a->point));
	struct log_record access = { .tag = place->tag,
		                     .flags = place->flags,
		                     .pc = place->pc,
		                     .code = LOG_RANGE,
		                     .address = v->address,
		                     .size = v->size };
	const uint64_t words[] = { 0, place->tag != LOG_FREE ? v->address
		                      : v->life              ? v->life->low
		                                             : 0 };
	if (place->tag == LOG_CALL)
		return add_invocation(r, im, a, place->pc);
	if (place->tag > LOG_RMW)
		access = (struct log_record){ .tag = place->tag,
			                      .pc = place->pc,
			                      .words = words };
	uint32_t thread = number_of(r, a->thread);
	uint32_t depth = call_into(r, im, thread, (uint32_t)(a->point >> 32));
	uint32_t event = builder_event_count(im->b);
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	import_record(im, thread, &access);
	import_record(im, thread, &leave);
	return event;
}

/* The life of a block, one of the lives in the log so far. */
static const struct block_life *life_of(const struct running *r, uint32_t block)
{
	for (guint i = r->im->all_lives->len; i-- > 0;) {
		const struct block_life *life = r->im->all_lives->pdata[i];
		if (life->block == block)
			return life;
	}
	return NULL;
}

struct trace *running_pair(struct running *r, struct running_memory memory,
                           const struct running_access pair[2], struct record_facts *facts,
                           uint32_t events[2], struct error *error)
{
	struct import *im = import_new(facts);
	struct variable_range v = { .life = NULL };
	if (memory.variable != NONE)
		v = *range_at(r, memory.variable);
	else if (memory.object != NONE)
		v = (struct variable_range){
			.address = g_array_index(r->addresses, uint64_t, memory.object),
			.life = life_of(r, builder_object_at(r->im->b, memory.object)->block)
		};
	else if (memory.block != NONE)
		v.life = life_of(r, memory.block);
	im->header = &r->header;
	import_init(im, r->path, "the recording so far");
	names_of_few(im->names);
	for (guint i = 0; i < r->kept->len; i++)
		import_record(im, 0, r->kept->pdata[i]);
	const struct allocated *a = g_hash_table_lookup(r->allocated, v.life);
	if (v.life != NULL && a != NULL) {
		struct log_record alloc = { .tag = LOG_ALLOC, .pc = a->pc, .words = a->words };
		call_and_leave(r, im, a->thread, a->context, &alloc);
	}
	for (int i = 0; i < 2; i++)
		events[i] = add_access(r, im, &pair[i], &v);
	if (facts->suppressions)
		builder_note(im->b, SUPPRESSIONS_NOTE, facts->suppressions);
	struct trace *t = builder_finish(g_steal_pointer(&im->b), true, error);
	import_free(im);
	return t;
}

/* -- making and ending ---------------------------------------------------------------------- */

struct running *running_new(const char *path, int buffer, const struct running_sink *sink)
{
	struct so_far *log = so_far_new(path, buffer);
	if (log == NULL)
		return NULL;
	struct running *r = g_new0(struct running, 1);
	struct call none = { 0 };
	r->sink = *sink;
	r->access.target = NONE;
	r->log = log;
	r->path = g_strdup(path);
	r->threads = g_array_new(FALSE, TRUE, sizeof(struct calling));
	r->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	g_array_append_val(r->calls, none);
	r->calls_mask = 1023;
	r->call_of = g_new0(uint32_t, (gsize)r->calls_mask + 1);
	r->places = g_array_new(FALSE, FALSE, sizeof(struct access_place));
	r->place_of = g_hash_table_new(hash_pointer, NULL);
	r->pages = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	struct memory_page *page = page_new(r, NO_PAGE);
	for (int i = 0; i < PAGES; i++)
		r->page[i] = page;
	for (int i = 0; i < LOG_SITES; i++)
		r->sites[i].life = &no_life;
	r->variables = g_array_new(FALSE, TRUE, sizeof(struct variable_range));
	g_array_set_size(r->variables, 1);
	r->covered = g_array_new(FALSE, FALSE, sizeof(uint32_t));
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
	GArray *arrays[] = { r->threads, r->calls,   r->places, r->variables,
		             r->covered, r->invoked, r->values, r->addresses };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_free(arrays[i], TRUE);
	GHashTable *tables[] = { r->place_of, r->pages, r->allocated };
	g_free(r->call_of);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_hash_table_destroy(tables[i]);
	g_ptr_array_free(r->kept, TRUE);
	g_free(r->path);
	g_free(r);
}
