/*
 * binary_events.c - checks the events of a binary trace, whose tables were checked before:
 * references, what the builder guarantees of their order (binary_form.c), and the must-order
 * on the way.
 *
 * Nearly all events are like the one before them: plain accesses by the same thread, in bounds,
 * of a variable whose block the thread has used. A first loop over a block finds the others,
 * and only these are looked at closely.
 */
#include "engine/trace/binary/binary_private.h"
#include "engine/trace/index_private.h"

#include <inttypes.h>
#include <string.h>

/* Bounds of an event's target and aux, by operation. */
struct limits {
	uint64_t target[2][OP_COUNT]; /* [1]: with EVENT_WIDE */
	uint64_t aux[OP_COUNT];
	uint32_t small[OP_COUNT]; /* VALUE_INTEGER: aux may be a small integer; or 0 */
};

struct events_check {
	const struct trace *t;
	struct limits limits;
	uint64_t covered; /* variables of wide accesses: 32 bits */
	uint64_t operations;
	struct form *form;
	struct must_maker *must;         /* or NULL */
	const struct trace_watch *watch; /* or NULL */
	/* by variable: the thread whose use of its block the must-order has, or NONE; NULL:
	 * there are no blocks, or no must-order is made */
	uint32_t *user;
	uint32_t thread;              /* the last event's, if that is a plain access; or NONE */
	uint16_t marks[TAPE_BLOCK];   /* of a block, the events to look at */
	struct must_marks to_look_at; /* these */
};
_Static_assert(TAPE_BLOCK <= 1 << 16, "numbers of events in a block");

/* -- bounds -------------------------------------------------------------------------------- */

static struct limits limits_of(const struct trace *t, bool small_values)
{
	const uint64_t counts[] = {
		[OPERAND_NOTHING] = UINT64_MAX,
		[OPERAND_VARIABLE] = t->variables_count,
		[OPERAND_OBJECT] = t->objects_count,
		[OPERAND_THREAD] = t->threads_count,
		[OPERAND_MESSAGE] = t->messages_count,
		[OPERAND_BLOCK] = t->blocks_count,
		[OPERAND_INSTANCE] = t->instances_count,
		[OPERAND_NAME] = t->string_offsets_count - 1,
	};
	struct limits l;

	for (int op = 0; op < OP_COUNT; op++) {
		l.target[0][op] = counts[op_table[op].operand];
		l.target[1][op] = op_is_access(op) ? t->wides_count : 0;
		l.aux[op] =
		        op_table[op].operand == OPERAND_INSTANCE ? t->invocations_count
		        : op_is_access(op) || op == OP_UBEG || op == OP_MISS || op == OP_MISUSE
		                ? t->values_count
		                : UINT64_MAX;
		l.small[op] = op_is_access(op) && small_values ? VALUE_INTEGER : 0;
	}
	return l;
}

#define CHECK(condition, table, i) \
	do { \
		if (G_UNLIKELY(!(condition))) \
			return g_strdup_printf("entry %" G_GUINT64_FORMAT " of %s: %s", \
			                       (uint64_t)(i), table, #condition); \
	} while (0)

/* The values that an event must have. */
static char *check_values(const struct trace *t, uint64_t i)
{
	const struct event *e = &t->events[i];

	if (e->op == OP_UBEG || e->op == OP_MISS)
		CHECK(binary_is_list_of_names(t, e->aux), "events", i);
	else if (e->op == OP_MISUSE)
		CHECK(trace_value(t, e->aux).kind == V_TOKEN, "events", i);
	else if (e->op == OP_RMW && e->aux)
		CHECK(trace_value(t, e->aux).kind == V_PAIR, "events", i);
	return NULL;
}

static char *check_event(struct events_check *c, uint64_t i)
{
	const struct trace *t = c->t;
	const struct limits *l = &c->limits;
	const struct event *e = &t->events[i];
	bool wide = e->flags & EVENT_WIDE;

	CHECK(e->op < OP_COUNT, "events", i);
	CHECK(e->target < l->target[wide][e->op], "events", i);
	CHECK(e->aux < l->aux[e->op] || (e->aux & l->small[e->op] && e->aux != NONE), "events",
	      i);
	CHECK(e->location < t->locations_count, "events", i);
	CHECK(e->thread < t->threads_count, "events", i);
	CHECK((e->flags & EVENT_ORDER_MASK) <= ORDER_SEQ_CST, "events", i);
	CHECK(!op_tells(e->op) || event_inert(e), "events", i);
	c->operations |= OPERATION(e->op);
	c->covered += wide ? t->wides[e->target].count : 1;
	CHECK(c->covered < NONE, "wides", 0);
	return check_values(t, i);
}

/* -- events to look at --------------------------------------------------------------------- */

/* The must-order will have the thread's use of the variable's block, if there is one: unless
 * its allocation is to come, as may be of a damaged trace. */
static inline void note_user(struct events_check *c, uint32_t variable, uint32_t thread,
                             uint64_t event)
{
	uint32_t block = c->t->variables[variable].block;

	if (block == NONE || c->t->blocks[block].alloc < event)
		c->user[variable] = thread;
}

/* Sets c->to_look_at to the events of a block that are not plain accesses within all bounds, by
 * the thread of the plain access before, to a variable whose block the thread has used. */
static void find_events(struct events_check *c, uint64_t from, uint64_t count)
{
	const struct trace *t = c->t;
	const struct event *events = &t->events[from];
	uint64_t variables = t->variables_count, locations = t->locations_count;
	uint64_t values = c->limits.aux[OP_READ], small = c->limits.small[OP_READ];
	/* values that are neither in the table nor small: below both `values` + `apart` */
	uint64_t end = small ? MAX(values, VALUE_INTEGER) : UINT64_C(1) << 32;
	uint64_t apart = end - MIN(values, end);
	uint32_t thread = c->thread, marked = 0, kinds = 0;
	uint32_t *user = c->user;

	for (uint64_t i = 0; i < count; i++) {
		const struct event *e = &events[i];
		bool simple = event_simple(e) && e->flags <= ORDER_SEQ_CST;
		bool good = simple & (e->target < variables) & (e->location < locations) &
		            !(e->aux - values < apart) & (e->aux != NONE);

		if (G_LIKELY(good & (e->thread == thread)) &&
		    (user == NULL || G_LIKELY(user[e->target] == thread))) {
			kinds |= 1u << e->op;
			continue;
		}
		c->marks[marked++] = (uint16_t)i;
		thread = good ? (uint32_t)e->thread : NONE;
		if (good && user != NULL)
			note_user(c, e->target, thread, from + i);
	}
	c->thread = thread;
	c->operations |= kinds;
	c->covered += count - marked;
	c->to_look_at = (struct must_marks){ c->marks, marked };
}

/* -- the check ----------------------------------------------------------------------------- */

struct events_check *binary_events_new(const struct trace *t, uint32_t version, bool must)
{
	struct events_check *c = g_new0(struct events_check, 1);

	c->t = t;
	c->limits = limits_of(t, version >= SMALL_VALUES_FROM);
	c->form = binary_form_new(t);
	c->thread = NONE;
	c->must = must ? must_maker_new() : NULL;
	if (must && t->blocks_count > 0) {
		c->user = g_new(uint32_t, t->variables_count + 1);
		memset(c->user, 255, (t->variables_count + 1) * sizeof *c->user);
	}
	return c;
}

void binary_events_watch(struct events_check *c, struct trace *t,
                         const struct trace_watch *watch)
{
	c->watch = watch;
	watch->begin(watch->context, t);
}

char *binary_events_check(struct events_check *c, uint64_t from, uint64_t count)
{
	const struct trace *t = c->t;
	char *wrong = NULL;

	find_events(c, from, count);
	CHECK(c->covered < NONE, "wides", 0);
	for (uint32_t k = 0; k < c->to_look_at.count && wrong == NULL; k++)
		wrong = check_event(c, from + c->to_look_at.at[k]);
	for (uint32_t k = 0; k < c->to_look_at.count && wrong == NULL; k++) {
		uint64_t e = from + c->to_look_at.at[k];
		const char *malformed = binary_form_event(c->form, (uint32_t)e);

		if (malformed != NULL)
			wrong = g_strdup_printf("event %" PRIu64 ": %s", e, malformed);
	}
	if (wrong != NULL)
		return wrong;
	for (uint64_t i = from; t->stacks_count && i < from + count; i++)
		CHECK(t->stacks[i] < t->contexts_count, "stacks", i);
	if (c->must != NULL)
		must_maker_marked(c->must, t, t->events + from, from, &c->to_look_at);
	if (c->watch != NULL)
		c->watch->block(c->watch->context, from, count, c->to_look_at.at,
		                c->to_look_at.count);
	return NULL;
}

bool binary_events_end(struct events_check *c, bool good, struct trace *t, const char **wrong)
{
	*wrong = good ? binary_form_end(c->form) : NULL;
	good = good && *wrong == NULL;
	binary_form_free(c->form);
	if (c->must != NULL && good)
		index_take_must(t, c->must);
	else if (c->must != NULL)
		must_maker_end(c->must, t, NULL);
	t->operations = c->operations;
	g_free(c->user);
	g_free(c);
	return good;
}
