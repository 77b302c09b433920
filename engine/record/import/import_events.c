/*
 * import_events.c - converts accesses, calls and blocks to events: addresses to places (a
 * region for each life of a heap block, each module's data, each stack; a flat region for the
 * rest), code addresses to locations and functions. Apart from addresses the result is
 * independent of load addresses. Which record is converted how: import_records.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/record/codec.h"
#include "engine/record/import/import_private.h"
#include "engine/trace/roles.h"

/* ---- code ---- */

uint32_t import_location(struct import *im, uint64_t pc)
{
	if (pc == 0)
		return 0;
	gpointer found = g_hash_table_lookup(im->locations, GSIZE_TO_POINTER(pc));
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	const struct record_module *m = record_module_of(im->facts->modules, pc - 1);
	uint32_t location;
	if (m && record_is_c_library(m)) {
		GString *name = g_string_new(NULL);
		record_append_offset(m, pc - 1, name);
		location = builder_location(im->b, name->str, name->len);
		g_string_free(name, TRUE);
	} else if (m) {
		location = builder_code(im->b, m->index, pc - 1 - m->bias);
	} else {
		char *name = g_strdup_printf("0x%" PRIx64, import_address(im, pc - 1));
		location = builder_location(im->b, name, strlen(name));
		g_free(name);
	}
	g_hash_table_insert(im->locations, GSIZE_TO_POINTER(pc),
	                    GUINT_TO_POINTER(location + 1));
	*import_number(im->pcs, location) = pc;
	return location;
}

/* The location of a record, cached by its slot. */
static uint32_t site_location(struct import *im, const struct log_record *r)
{
	if (im->sites[r->slot].pc != r->pc || r->pc == 0) {
		im->sites[r->slot].location = import_location(im, r->pc);
		im->sites[r->slot].pc = r->pc;
	}
	return im->sites[r->slot].location;
}

static uint32_t call_name(struct import *im, uint64_t call)
{
	static const char *const names[] = { "",
#define C(name) #name "@libc",
		                             LOG_CALLS(C)
#undef C
	};
	return builder_string(im->b, names[call], strlen(names[call]));
}

/* The function with a pc, not one inlined into it. */
static uint32_t function_of(struct import *im, uint64_t pc)
{
	if (pc < LOG_CALL_COUNT)
		return call_name(im, pc);
	gpointer found = g_hash_table_lookup(im->functions, GSIZE_TO_POINTER(pc));
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	GString *name = g_string_new(NULL);
	const struct record_module *m = record_module_of(im->facts->modules, pc - 1);
	if (!m || im->unnamed || !names_function(im->names, m->index, pc - 1 - m->bias, name))
		record_append_offset(m, pc - 1, name);
	uint32_t string = builder_string(im->b, name->str, name->len);
	g_string_free(name, TRUE);
	g_hash_table_insert(im->functions, GSIZE_TO_POINTER(pc), GUINT_TO_POINTER(string + 1));
	return string;
}

/* ---- memory ---- */

/* The offset of addresses in a new range. */
static uint64_t shift_of(struct import *im, uint64_t low, uint64_t size)
{
	return im->rebase ? rebase_range(im->rebase, low, size, REBASE_PAGE) : 0;
}

struct block_life *import_life_below(struct import *im, uint64_t address)
{
	GTreeNode *node = g_tree_upper_bound(im->lives, &address);
	node = node ? g_tree_node_previous(node) : g_tree_node_last(im->lives);
	return node ? g_tree_node_value(node) : NULL;
}

static struct block_life *life_new(struct import *im, uint64_t low, uint64_t size,
                                   uint64_t shift, uint32_t region, uint32_t block, bool heap)
{
	struct block_life *life = g_new0(struct block_life, 1);
	*life = (struct block_life){ .low = low,
		                     .high = low + (size ? size : 1),
		                     .shift = shift,
		                     .region = region,
		                     .block = block,
		                     .heap = heap };
	g_ptr_array_add(im->all_lives, life);
	if (im->rebase)
		*import_number(im->shifts, region) = shift;
	/* Blocks freed without a record (by the C library) end when their memory is allocated
	 * again. */
	for (;;) {
		struct block_life *old = import_life_below(im, life->high - 1);
		if (!old || old->high <= low || !old->heap)
			break;
		old->dead = true;
		g_tree_remove(im->lives, &old->low);
	}
	g_tree_insert(im->lives, &life->low, life);
	return life;
}

struct block_life *import_life(struct import *im, uint64_t address)
{
	struct block_life **slot = &im->cache[(address >> 4) % CACHE];
	struct block_life *life = *slot;
	if (life && !life->dead && address >= life->low && address < life->high)
		return life;
	life = import_life_below(im, address);
	if (!life || address >= life->high)
		return NULL;
	*slot = life;
	return life;
}

uint64_t import_address(struct import *im, uint64_t address)
{
	if (!im->rebase)
		return address;
	if (address & LOG_FUTEX_BIT) /* beside its word */
		return import_address(im, address ^ LOG_FUTEX_BIT) | LOG_FUTEX_BIT;
	const struct block_life *life = import_life(im, address);
	return address + (life ? life->shift : rebase_elsewhere(im->rebase, address));
}

/* A pointer may also point to the end of its object. */
uint64_t import_value(struct import *im, uint64_t value)
{
	if (!im->rebase || value < 65536)
		return value;
	const struct block_life *life = import_life(im, value);
	if (!life)
		life = import_life(im, value - 1);
	if (life)
		return value + life->shift;
	return rebase_likely(value) ? value + rebase_elsewhere(im->rebase, value) : value;
}

uint64_t import_original(const struct import *im, uint64_t address, uint32_t region)
{
	if (!im->rebase)
		return address;
	if (region == im->flat)
		return rebase_original(im->rebase, address);
	return address - *import_number(im->shifts, region);
}

uint32_t import_flat_region(struct import *im)
{
	if (im->flat == NONE)
		im->flat = builder_region(im->b, "memory", 0, LOG_ADDRESS_MASK, NONE);
	return im->flat;
}

/* A range of the log; if damaged, it may be outside memory. */
struct range {
	uint64_t low, size;
};

static struct range range_of(uint64_t low, uint64_t size)
{
	low &= LOG_ADDRESS_MASK;
	return (struct range){ low, MIN(size, LOG_ADDRESS_MASK - low) };
}

static inline uint64_t offset_of(struct import *im, const struct block_life *life,
                                 uint64_t address)
{
	return life ? address - life->low : import_address(im, address) & LOG_ADDRESS_MASK;
}

uint64_t import_where(struct import *im, const struct block_life *life, uint64_t size)
{
	return access_where(life ? life->region : import_flat_region(im),
	                    (uint32_t)MIN(size, UINT32_MAX));
}

static uint32_t place_of(struct import *im, const struct block_life *life, uint64_t address,
                         uint64_t size)
{
	return builder_place(im->b, life ? life->region : import_flat_region(im),
	                     offset_of(im, life, address), (uint32_t)MIN(size, UINT32_MAX));
}

/* ---- threads ---- */

struct lane *import_lane_new(struct import *im, uint32_t id)
{
	if (im->lanes->len <= id)
		g_array_set_size(im->lanes, id + 1);
	struct lane *lane = &g_array_index(im->lanes, struct lane, id);
	GString *name = g_string_new(NULL);
	record_append_thread(id, name);
	*lane = (struct lane){ .known = true,
		               .thread = builder_thread(im->b, name->str, name->len),
		               .chunks = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		               .waits_for = NONE };
	column_init(&lane->functions, sizeof(uint32_t), NULL, 0);
	builder_recorded_thread(im->b, lane->thread, id);
	g_string_free(name, TRUE);
	return lane;
}

static struct block_life *add_stack(struct import *im, struct lane *lane, const char *name,
                                    uint64_t low, uint64_t size)
{
	uint64_t at = low + lane->stack_shift;
	uint32_t block = builder_block(im->b, name, strlen(name), size, at);
	uint32_t region = builder_region(im->b, name, at, size, block);
	builder_stack_block(im->b, lane->thread, block);
	struct block_life *life =
	        life_new(im, low, size, lane->stack_shift, region, block, true);
	life->stack = true;
	lane->stack_at = at;
	if (!im->unnamed)
		names_stack(im->names, lane->thread, block, at, size);
	return life;
}

/* The main stack begins at a random distance below the strings of its arguments: in normalised
 * addresses both are separate ranges. */
static void add_main_stack(struct import *im, struct lane *lane, uint64_t low, uint64_t high)
{
	const uint64_t size = 8 << 20, above = 64 << 10, room = 128 << 10;
	uint64_t begin = im->header->stack_begin, strings = im->header->arguments;
	bool odd = begin <= low || strings <= begin || begin < size ||
	           strings > LOG_ADDRESS_MASK - room;
	if (!im->rebase || odd) {
		lane->stack_shift = shift_of(im, low, high - low);
		add_stack(im, lane, "stack@main", low, high - low);
		return;
	}
	low = begin + above - size;
	lane->stack_shift = rebase_range(im->rebase, low, size, LOG_FRAME_UNIT);
	struct block_life *stack = add_stack(im, lane, "stack@main", low, size);
	stack->high = MIN(stack->high, strings);
	uint64_t shift = shift_of(im, strings, room);
	uint32_t region = builder_region(im->b, "memory", strings + shift, room, NONE);
	life_new(im, strings, room, shift, region, NONE, false);
}

static void add_thread_stack(struct import *im, struct lane *lane, uint32_t id, uint64_t low,
                             uint64_t high)
{
	lane->stack_high = high;
	if (id == 0) {
		add_main_stack(im, lane, low, high);
		return;
	}
	char name[48];
	snprintf(name, sizeof(name), "stack@T%u", id);
	lane->stack_shift = shift_of(im, low, high - low);
	add_stack(im, lane, name, low, high - low);
}

void import_thread_pointer(struct import *im, uint32_t id)
{
	const struct lane *lane = &g_array_index(im->lanes, struct lane, id);
	if (lane->pointer != 0 && !im->unnamed)
		names_thread(im->names, lane->thread, id, import_value(im, lane->pointer));
}

void import_thread(struct import *im, uint32_t id, const uint64_t *w)
{
	uint64_t low = w[0], high = w[1], argument = w[2];
	struct lane *lane = import_lane(im, id);
	if (argument != 0) {
		char *text = g_strdup_printf("%u %" PRIu64, id, import_value(im, argument));
		builder_note(im->b, ROLE_ARGUMENT_NOTE, text);
		g_free(text);
	}
	if (high > low && high <= LOG_ADDRESS_MASK)
		add_thread_stack(im, lane, id, low, high);
	lane->pointer = w[3];
	if (!im->rebase) /* else where its variables are may not be known yet */
		import_thread_pointer(im, id);
}

void import_module(struct import *im, const uint64_t *w, const char *text, uint64_t length)
{
	size_t n = strnlen(text, length);
	struct range r = range_of(w[1], w[2] > w[1] ? w[2] - w[1] : 0);
	struct record_module m = { .path = g_strndup(text, n),
		                   .build_id = n < length
		                                       ? g_strndup(text + n + 1, length - n - 1)
		                                       : g_strdup(""),
		                   .bias = w[0],
		                   .low = r.low,
		                   .high = r.low + r.size };
	uint64_t shift = shift_of(im, r.low, r.size);
	m.index = builder_module(im->b, m.path, m.build_id, m.bias + shift);
	names_module(im->names,
	             &(struct name_of_module){ .path = m.path,
	                                       .build_id = m.build_id,
	                                       .base = m.bias + shift,
	                                       .low = m.low + shift,
	                                       .high = m.high + shift,
	                                       .locals_below = w[3],
	                                       .locals_bytes = w[4],
	                                       .c_library = record_is_c_library(&m) });
	g_array_append_val(im->facts->modules, m);
	uint32_t region = builder_region(im->b, record_last_component(m.path), m.low + shift,
	                                 r.size, NONE);
	life_new(im, r.low, r.size, shift, region, NONE, false);
}

/* ---- records ---- */

/* Records of events have the operations' names. */
const uint8_t import_op[LOG_TAG_COUNT] = {
#define EVENT_0(name)
#define EVENT_1(name)             [LOG_##name] = OP_##name,
#define TAG(name, words, visible) EVENT_##visible(name)
	LOG_TAGS(TAG)
#undef TAG
};

/* Replay counts recorded events that the trace does not have. */
static void drop_event(struct import *im, const struct lane *lane, uint64_t ordinal)
{
	builder_drop(im->b, (struct recorded_drop){ .thread = lane->thread, .index = ordinal });
}

void import_refused(struct import *im, struct lane *lane, uint64_t ordinal,
                    const struct error *error)
{
	lane->right = ++im->rights; /* the builder has not noted it */
	if (im->refused++ == 0)
		im->first_refusal = *error;
	drop_event(im, lane, ordinal);
}

bool import_event(struct import *im, struct lane *lane, struct event e)
{
	struct error error;
	e.thread = lane->thread;
	if (G_LIKELY(builder_add(im->b, e, 0, &error)))
		return true;
	import_refused(im, lane, lane->ordinal, &error);
	return false;
}

/* Is it code of the program? Of the function `current` where that is known. */
static bool is_code(struct import *im, uint64_t pc, uint32_t current)
{
	const struct record_module *m = record_module_of(im->facts->modules, pc - 1);
	GString *name = g_string_new(NULL);
	bool code = m != NULL && !record_is_c_library(m) &&
	            names_function(im->names, m->index, pc - 1 - m->bias, name);

	g_string_free(name, TRUE);
	return code && (current == 0 || function_of(im, pc) == current);
}

/* Imports a crash. Its place is the first word of the stack that is code of the thread's
 * function; the read that failed becomes an event. */
void import_crash(struct import *im, const struct log_record *r)
{
	uint64_t count = r->words[1] / 8, place = 0;
	const uint64_t *words = r->words + 2;

	if (count < 2 || r->pc >= LOG_THREADS)
		return;
	uint64_t address = words[0];
	uint32_t current = words[1] ? function_of(im, words[1]) : 0;
	for (int strict = 1; strict >= 0 && place == 0; strict--)
		for (uint64_t i = 2; i < count && place == 0; i++)
			if (is_code(im, words[i], strict ? current : 0))
				place = words[i];
	struct lane *lane = import_lane(im, (uint32_t)r->pc);
	im->crash.thread = lane->thread;
	im->crash.address = import_address(im, address);
	im->crash.location = place ? import_location(im, place) : NONE;
	if (r->flags & LOG_FAILED_READ && place) {
		uint32_t at = place_of(im, import_life(im, address), address, 1);

		import_event(im, lane,
		             (struct event){ .op = OP_READ,
		                             .location = im->crash.location,
		                             .target = at });
	}
}

/* Neither the places of an access nor the context of an ENTER are known. */
static void forget_site(struct import_site *site)
{
	site->key = 0;
	site->places = 0;
	site->memo = (struct call_memo){ NONE, NONE };
}

void import_access(struct import *im, struct lane *lane, const struct log_record *r)
{
	struct event e = { .op = import_op[r->tag],
		           .flags = import_order(import_op[r->tag], r->flags) |
		                    (r->flags & LOG_VOLATILE ? EVENT_VOLATILE : 0),
		           .location = site_location(im, r),
		           .thread = lane->thread };
	struct block_life *life = import_life(im, r->address);
	if (r->tag == LOG_RMW && r->valued) {
		e.target = place_of(im, life, r->address, r->size);
		e.aux = builder_pair(im->b, builder_integer(im->b, import_value(im, r->old)),
		                     builder_integer(im->b, import_value(im, r->value)));
		import_event(im, lane, e);
		return;
	}
	struct import_site *site = &im->sites[r->slot];
	uint64_t where = import_where(im, life, r->size);
	uint64_t value = r->valued ? r->value : 0;
	e.target = builder_access_place(im->b, where, offset_of(im, life, r->address),
	                                &site->site);
	if (!builder_add_access(im->b, &e, r->valued, (int64_t)import_value(im, value)))
		import_event(im, lane, e);
	forget_site(site);
	if (r->tag == LOG_RMW || r->code > LOG_RANGE)
		return;
	site->key = log_site_key(log_word(r->tag, r->flags & LOG_SITE_FLAGS, r->pc), r->code);
	site->head = event_head(&e) - e.thread;
	site->life = life;
	site->where = where;
}

/* The function of an ENTER, cached by its slot. */
static uint32_t site_function(struct import *im, const struct log_record *r)
{
	struct import_site *site = &im->sites[r->slot];
	if (site->function_pc != r->address || r->address == 0) {
		site->function = function_of(im, r->address);
		site->function_pc = r->address;
	}
	return site->function;
}

/* The thread's call stack has one more. */
static void push_call(struct import *im, struct lane *lane, const struct log_record *r,
                      uint32_t function)
{
	*(uint32_t *)column_push(&lane->functions) = function;
	im->facts->instrumented += r->address >= LOG_CALL_COUNT;
}

/* Frames of C library calls have no named variables. */
static struct call_frame frame_of(struct import *im, const struct lane *lane,
                                  const struct log_record *r)
{
	uint64_t high = lane->stack_high & ~(uint64_t)(LOG_FRAME_UNIT - 1);
	uint64_t begin = high - (r->value - 1) * LOG_FRAME_UNIT + lane->stack_shift;
	if (r->address < LOG_CALL_COUNT)
		return (struct call_frame){ 0, FRAME_OF_NOBODY };
	return (struct call_frame){ import_address(im, r->address - 1), r->value ? begin : 0 };
}

/* The same in the event (event_frame). */
static uint32_t begin_of(const struct import *im, const struct lane *lane,
                         struct call_frame frame)
{
	if (!im->frames || frame.begin == 0)
		return 0;
	return frame.begin == FRAME_OF_NOBODY ? EVENT_FRAME_OF_NOBODY
	                                      : event_frame(lane->stack_at, frame.begin);
}

void import_enter(struct import *im, struct lane *lane, const struct log_record *r)
{
	struct import_site *site = &im->sites[r->slot];
	struct recorded_call call = { .function = site_function(im, r),
		                      .location = site_location(im, r),
		                      .frame = frame_of(im, lane, r),
		                      .memo = &site->memo };
	call.begin = begin_of(im, lane, call.frame);
	forget_site(site);
	push_call(im, lane, r, call.function);
	if (!builder_enter(im->b, lane->thread, &call) &&
	    !import_event(im, lane,
	                  (struct event){ .op = OP_ENTER,
	                                  .target = call.function,
	                                  .aux = call.begin,
	                                  .location = call.location }))
		return;
	if (!im->unnamed)
		names_enter(im->names, lane->thread, call.frame);
}

void import_leave(struct import *im, struct lane *lane, uint64_t frames, uint8_t flags)
{
	for (; frames > 0 && lane->functions.count > 0; frames--) {
		uint32_t function =
		        *(uint32_t *)column_at(&lane->functions, --lane->functions.count);
		bool left = (flags == 0 && builder_leave(im->b, lane->thread, function)) ||
		            import_event(im, lane,
		                         (struct event){ .op = OP_LEAVE,
		                                         .flags = flags,
		                                         .target = function });
		if (left && !im->unnamed)
			names_leave(im->names, lane->thread);
	}
}

/* The call of a record ENTER whose slot's last one was of this function and pc, or false. */
static inline bool known_call(struct import *im, const struct lane *lane,
                              const struct log_record *r, struct recorded_call *call)
{
	struct import_site *site = &im->sites[r->slot];
	if (site->key != 0 || r->address == 0 || r->pc == 0 ||
	    site->function_pc != r->address || site->pc != r->pc)
		return false;
	*call = (struct recorded_call){ .function = site->function,
		                        .location = site->location,
		                        .frame = frame_of(im, lane, r),
		                        .memo = &site->memo };
	call->begin = begin_of(im, lane, call->frame);
	return true;
}

uint32_t import_calls(struct import *im, struct lane *lane, const struct log_record *r,
                      uint32_t number, uint32_t room)
{
	bool enters = r->tag == LOG_ENTER;
	uint64_t left = enters ? r->left : r->pc, count = lane->functions.count;
	const uint32_t *functions = (const void *)lane->functions.data;
	struct recorded_call call;
	if (left > count || left + enters > room || im->unnamed ||
	    (enters && !known_call(im, lane, r, &call)) ||
	    !builder_put_calls(im->b, functions + (count - left), (uint32_t)left,
	                       enters ? &call : NULL, number))
		return 0;
	for (uint64_t i = 0; i < left; i++)
		names_leave(im->names, lane->thread);
	lane->functions.count = count - left;
	if (enters) {
		push_call(im, lane, r, call.function);
		names_enter(im->names, lane->thread, call.frame);
	}
	return (uint32_t)left + enters;
}

void import_alloc(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w)
{
	char name[32];
	snprintf(name, sizeof(name), "b%" PRIu64, im->blocks++);
	struct range r = range_of(w[1], w[2]);
	uint64_t shift = shift_of(im, r.low, r.size), low = r.low + shift;
	uint32_t block = builder_block(im->b, name, strlen(name), r.size, low);
	uint32_t region = builder_region(im->b, name, low, r.size ? r.size : 1, block);
	life_new(im, r.low, r.size, shift, region, block, true);
	import_event(im, lane,
	             (struct event){ .op = OP_ALLOC,
	                             .target = block,
	                             .location = import_location(im, pc) });
}

/* Handles an allocation by the C library: no event, but it ends earlier blocks there, as the
 * program may receive the memory (getline) and free it. */
void import_given(struct import *im, const uint64_t *w)
{
	struct range r = range_of(w[1], w[2]);
	uint64_t shift = shift_of(im, r.low, r.size);
	uint32_t region =
	        builder_region(im->b, "memory", r.low + shift, r.size ? r.size : 1, NONE);
	life_new(im, r.low, r.size, shift, region, NONE, true);
}

void import_free_block(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w)
{
	struct block_life *life = import_life(im, w[1]);
	if (!life || life->low != w[1] || !life->heap || life->block == NONE) {
		drop_event(im, lane, lane->ordinal); /* not allocated in the log */
		return;
	}
	/* Later accesses, up to the next allocation, are uses after free: the block stays in
	 * the tree. */
	import_event(im, lane,
	             (struct event){ .op = OP_FREE,
	                             .target = life->block,
	                             .location = import_location(im, pc) });
}
