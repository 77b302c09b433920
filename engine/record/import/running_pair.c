/* running_pair.c - two events of a program that is running as a trace (running_pair). */
#include "engine/base/search.h"
#include "engine/record/import/running_private.h"

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
                          uint32_t stack)
{
	const struct call *c;
	uint32_t caller;
	if (stack & TOLD_CONTEXT) {
		const struct told_call *told = &g_array_index(
		        r->told_contexts, struct told_call, stack & ~TOLD_CONTEXT);
		c = &told->call;
		caller = told->caller ? told->caller | TOLD_CONTEXT : 0;
	} else if (stack == 0 || stack >= r->calls->len) {
		return 0;
	} else {
		c = &g_array_index(r->calls, struct call, stack);
		caller = builder_caller(r->im->b, stack);
	}
	uint32_t depth = call_into(r, im, thread, caller);
	struct log_record enter = {
		.tag = LOG_ENTER, .pc = c->pc, .address = c->function, .value = c->frame
	};
	import_record(im, thread, &enter);
	return depth + 1;
}

static void leave(struct import *im, uint32_t thread, uint32_t depth)
{
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	import_record(im, thread, &leave);
}

static void call_and_leave(const struct running *r, struct import *im, uint32_t thread,
                           uint32_t stack, const struct log_record *inside)
{
	uint32_t depth = call_into(r, im, thread, stack);
	import_record(im, thread, inside);
	leave(im, thread, depth);
}

static const struct event *event_of(const struct running *r, uint32_t number)
{
	const struct invoked *all = (const struct invoked *)(void *)r->invoked->data;
	uint64_t after = search_end(i, 0, r->invoked->len, all[i].number <= number);
	return &all[after - 1].event;
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
	uint32_t depth = call_into(r, im, thread, point_stack(a->point));
	uint32_t event = builder_event_count(im->b);
	copy_invocation(r, im, thread, a->number, location);
	if (a->end != a->number)
		copy_invocation(r, im, thread, a->end, location);
	leave(im, thread, depth);
	return event;
}

/* The tag of the records of an operation that has a point. */
static enum log_tag tag_of(enum op op)
{
	unsigned tag = LOG_READ;
	while (tag < LOG_TAG_COUNT && import_op[tag] != op)
		tag++;
	return (enum log_tag)tag;
}

/* Adds an access of `v`, a free of the block at `v`, or an operation on the object there. */
static uint32_t add_access(const struct running *r, struct import *im,
                           const struct running_access *a, const struct variable_range *v)
{
	const struct event e = running_event_at(r, running_site(a->point));
	uint64_t pc = *import_number(r->im->pcs, e.location), block = 0;
	unsigned flags =
	        (e.flags & EVENT_ORDER_MASK) | (e.flags & EVENT_VOLATILE ? LOG_VOLATILE : 0);
	struct log_record access = { .tag = tag_of((enum op)e.op),
		                     .flags = flags,
		                     .pc = pc,
		                     .code = LOG_RANGE,
		                     .address = v->address,
		                     .size = v->size };
	if (v->block != NONE && v->block < r->allocated->len)
		block = g_array_index(r->allocated, struct allocated, v->block).address;
	const uint64_t words[] = { 0, access.tag == LOG_FREE ? block : v->address };
	if (access.tag == LOG_CALL)
		return add_invocation(r, im, a, pc);
	if (access.tag > LOG_RMW)
		access = (struct log_record){ .tag = access.tag, .pc = pc, .words = words };
	uint32_t thread = number_of(r, a->thread);
	uint32_t depth = call_into(r, im, thread, point_stack(a->point));
	uint32_t event = builder_event_count(im->b);
	import_record(im, thread, &access);
	leave(im, thread, depth);
	return event;
}

/* Adds the access while the functions are open whose frames the memory may lie in: a local
 * variable of another thread is named by these. */
static uint32_t add_below_owner(const struct running *r, struct import *im,
                                const struct running_access pair[2], int i,
                                const struct variable_range *v)
{
	uint32_t owner = builder_stack_owner(r->im->b, v->block);
	if (owner == NONE || owner == pair[i].thread)
		return add_access(r, im, &pair[i], v);
	uint32_t thread = number_of(r, owner);
	uint32_t stack = owner == pair[1 - i].thread ? point_stack(pair[1 - i].point)
	                                             : builder_stack(r->im->b, owner);
	uint32_t depth = call_into(r, im, thread, stack);
	uint32_t event = add_access(r, im, &pair[i], v);
	leave(im, thread, depth);
	return event;
}

/* The object of the two events, in the log's addresses. */
static struct variable_range range_of(const struct running *r, struct running_memory memory)
{
	struct variable_range v = { .block = memory.block };
	if (memory.variable != NONE) {
		v = *range_at(&r->ranges, memory.variable);
	} else if (memory.object != NONE) {
		v.address = *import_number(r->im->object_addresses, memory.object);
		v.block = builder_object_at(r->im->b, memory.object)->block;
	}
	return v;
}

/* Adds the allocation of a block, where it was recorded. */
static void add_allocation(const struct running *r, struct import *im, uint32_t block)
{
	if (block == NONE || block >= r->allocated->len)
		return;
	const struct allocated *a = &g_array_index(r->allocated, struct allocated, block);
	const uint64_t words[] = { 0, a->address, a->size };
	struct log_record alloc = { .tag = LOG_ALLOC, .pc = a->pc, .words = words };
	if (a->pc != 0)
		call_and_leave(r, im, number_of(r, a->thread), a->stack, &alloc);
}

struct trace *running_pair(struct running *r, struct running_memory memory,
                           const struct running_access pair[2], struct record_facts *facts,
                           uint32_t events[2], struct error *error)
{
	struct import *im = import_new(facts);
	struct variable_range v = range_of(r, memory);
	im->header = r->im->header;
	g_autofree char *beside = g_build_filename(r->im->folder, "log", NULL);
	import_init(im, beside, "the recording so far");
	names_of_few(im->names);
	for (guint i = 0; i < r->kept->len; i++)
		import_record(im, 0, r->kept->pdata[i]);
	add_allocation(r, im, v.block);
	for (int i = 0; i < 2; i++)
		events[i] = add_below_owner(r, im, pair, i, &v);
	if (facts->suppressions)
		builder_note(im->b, SUPPRESSIONS_NOTE, facts->suppressions);
	struct trace *t = builder_finish(g_steal_pointer(&im->b), true, error);
	import_free(im);
	return t;
}
