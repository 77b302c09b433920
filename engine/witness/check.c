/*
 * check.c - the independent checker: does a sequence of events show what it claims?
 *
 * The checker (check*.c) applies the rules of semantics.md ("Correct reorderings") to the trace
 * and the sequence. It shares only the event model with the predictors: reads-from, must-order
 * and lock holders are computed again, from the events alone. Every reported race has passed
 * it.
 *
 * This file: the state, its steps, and the claims.
 */
#include "engine/witness/check_private.h"

#include <string.h>

bool check_refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                  const char *format, ...)
{
	va_list list;

	if (reason == NULL)
		return false;
	g_string_append_printf(reason, "%s: event %u ", rule, e);
	trace_append_operation(c->t, e, reason);
	g_string_append_c(reason, ' ');
	va_start(list, format);
	g_string_append_vprintf(reason, format, list);
	va_end(list);
	return false;
}

static uint32_t *new_cells(uint64_t count, uint32_t value)
{
	uint32_t *array = g_new(uint32_t, count + 1);

	for (uint64_t i = 0; i <= count; i++)
		array[i] = value;
	return array;
}

static void state_clear(struct checker *c)
{
	const struct trace *t = c->t;

	memset(c->taken, 0, sizeof(uint32_t) * (t->threads_count + 1));
	memset(c->last, 0xff, sizeof(uint32_t) * (t->variables_count + 1));
	memset(c->owner, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->readers, 0, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->waker_too_early, 0, sizeof(uint32_t) * (c->f.wakes->len + 1));
	memset(c->busy, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	for (uint32_t o = 0; o < t->objects_count; o++)
		c->count[o] = (uint32_t)t->objects[o].count;
	for (uint32_t i = 0; i < t->instances_count; i++) {
		if (c->abstract[i] != NULL && c->options.semantics->state_free != NULL)
			c->options.semantics->state_free(c->options.semantics->context,
			                                 c->abstract[i]);
		c->abstract[i] = NULL;
		if (c->invoked[i] != NULL)
			g_array_set_size(c->invoked[i], 0);
	}
	c->prefix = 0;
	c->undoing = c->decides = false;
	c->changes.count = 0;
}

struct checker *checker_new(const struct trace *t, const struct check_options *options)
{
	struct checker *c = g_new0(struct checker, 1);

	c->t = trace_recorded(t); /* so that a mistake of a reading does not hide here */
	if (options != NULL)
		c->options = *options;
	facts_make(c);
	c->taken = new_cells(c->t->threads_count, 0);
	c->last = new_cells(c->t->variables_count, NONE);
	c->owner = new_cells(c->t->objects_count, NONE);
	c->readers = new_cells(c->t->objects_count, 0);
	c->count = new_cells(c->t->objects_count, 0);
	c->waker_too_early = new_cells(c->f.wakes->len, 0);
	c->busy = new_cells(c->t->instances_count, NONE);
	c->abstract = g_new0(void *, c->t->instances_count + 1);
	c->invoked = g_new0(GArray *, c->t->instances_count + 1);
	state_clear(c);
	return c;
}

void checker_free(struct checker *c)
{
	if (c == NULL)
		return;
	void *arrays[] = { c->taken,           c->last, c->owner,    c->readers, c->count,
		           c->waker_too_early, c->busy, c->abstract, c->invoked };

	state_clear(c);
	for (uint32_t i = 0; i < c->t->instances_count; i++) {
		if (c->invoked[i] != NULL)
			g_array_unref(c->invoked[i]);
	}
	facts_release(&c->f);
	waits_free(c->waits);
	g_free(c->changes.of);
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
	g_free(c);
}

/* -- steps --------------------------------------------------------------------------------- */

/* Fast path for the most frequent events: plain accesses of one variable outside of blocks.
 * True: allowed and applied; false: use checker_step_asked. */
static inline bool step_plain(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	uint32_t *own = &c->taken[x->thread];

	if (!event_simple(x) || c->t->variables[x->target].block != NONE ||
	    (c->f.blocked[e / 64] >> (e % 64) & 1) || c->f.place[e] != *own ||
	    (x->op == OP_READ && c->last[x->target] != c->f.writer[e]))
		return false;
	cell_set(c, own, *own + 1);
	if (x->op == OP_WRITE)
		cell_set(c, &c->last[x->target], e);
	return true;
}

__attribute__((noinline)) bool checker_step_asked(struct checker *c, uint32_t e,
                                                  struct requirements asked, GString *reason)
{
	if (!rules_allow(c, e, asked, reason))
		return false;
	/* Last, since it changes the state of the specification. */
	if (op_table[at(c, e)->op].class == OP_CLASS_CALL && !event_inert(at(c, e)) &&
	    !rule_invocation(c, e, !asked.result, reason))
		return false;
	rules_take(c, e);
	return true;
}

static inline bool check_step(struct checker *c, uint32_t e, struct requirements asked,
                              GString *reason)
{
	return (e < c->t->events_count && step_plain(c, e)) ||
	       checker_step_asked(c, e, asked, reason);
}

bool checker_enabled(struct checker *c, uint32_t event, GString *reason)
{
	return rules_allow(c, event, ALL_REQUIREMENTS, reason);
}

bool checker_step(struct checker *c, uint32_t event, GString *reason)
{
	bool good = check_step(c, event, ALL_REQUIREMENTS, reason);

	if (good)
		c->prefix = NONE; /* not a prefix of the recording any more */
	return good;
}

/* -- claims -------------------------------------------------------------------------------- */

bool claim_conflicts(const struct checker *c, const uint32_t *pair, GString *reason)
{
	if (pair[0] >= c->t->events_count || pair[1] >= c->t->events_count) {
		g_string_append(reason, "the pair: no such event");
		return false;
	}
	const struct event *x = at(c, pair[0]);
	const struct event *y = at(c, pair[1]);
	if (op_is_access(x->op) && op_is_access(y->op) && !event_inert(x) && !event_inert(y) &&
	    x->thread != y->thread && (op_writes(x->op) || op_writes(y->op)) &&
	    !(op_is_atomic(x->op) && op_is_atomic(y->op)) && events_overlap(c->t, x, y))
		return true;
	g_string_append_printf(reason, "the pair: events %u and %u do not conflict", pair[0],
	                       pair[1]);
	return false;
}

bool claim_ends_with(const uint32_t *a, const uint32_t *b)
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* One event of the pair is next in its thread, with its must-order satisfied. */
static bool next_of_pair(struct checker *c, uint32_t e, GString *reason)
{
	return rules_allow(c, e, (struct requirements){ .observation = false, .freed = false },
	                   reason);
}

/* Prefetch for a coming event. For an event without a variable the address is wrong, but
 * harmless. */
static inline void prefetch_event(const struct checker *c, uint32_t e)
{
	uint32_t target = at(c, e)->target;

	__builtin_prefetch(&c->t->variables[target].block);
	__builtin_prefetch(&c->last[target]);
}

enum { AHEAD = 24 }; /* events */

/* Apply a whole sequence. */
static bool take_sequence(struct checker *c, const uint32_t *sequence, size_t length,
                          GString *reason)
{
	for (size_t i = 0; i < length; i++) {
		if (i + AHEAD < length && sequence[i + AHEAD] < c->t->events_count)
			prefetch_event(c, sequence[i + AHEAD]);
		if (!check_step(c, sequence[i], ALL_REQUIREMENTS, reason))
			return false;
	}
	return true;
}

static bool claim_race(struct checker *c, const uint32_t *sequence, size_t length,
                       const uint32_t *pair, GString *reason)
{
	if (!claim_conflicts(c, pair, reason))
		return false;
	if (length < 2 || !claim_ends_with(sequence + length - 2, pair)) {
		g_string_append_printf(reason,
		                       "the pair: the last two events are not %u and %u",
		                       pair[0], pair[1]);
		return false;
	}
	return take_sequence(c, sequence, length - 2, reason) &&
	       next_of_pair(c, pair[0], reason) && next_of_pair(c, pair[1], reason);
}

bool claim_prefix(struct checker *c, const uint32_t *sequence, size_t length, GString *reason)
{
	return take_sequence(c, sequence, length, reason) &&
	       invocations_closed(c, NONE, reason);
}

/* A thread comes to the event, whether it can do it or has to wait there. */
static bool claim_reach(struct checker *c, const uint32_t *sequence, size_t length,
                        uint32_t target, GString *reason)
{
	if (target >= c->t->events_count) {
		g_string_append_printf(reason, "the place: no such event as %u", target);
		return false;
	}
	if (length == 0 || sequence[length - 1] != target) {
		g_string_append_printf(reason, "the place: the last event is not %u", target);
		return false;
	}
	if (!claim_prefix(c, sequence, length - 1, reason))
		return false;
	return c->f.place[target] == c->taken[at(c, target)->thread] ||
	       check_refuse(c, reason, "the place", target, "is not next in its thread");
}

bool holds_shared(const struct checker *c, uint32_t thread, uint32_t object)
{
	bool holds = false;

	for (uint32_t i = 0; i < c->taken[thread]; i++) {
		const struct event *x = at(c, c->f.own[c->f.start[thread] + i]);

		if (!event_inert(x) && (x->op == OP_RACQ || x->op == OP_RREL) &&
		    x->target == object)
			holds = x->op == OP_RACQ;
	}
	return holds;
}

/* Is the lock requested in exclusive mode? A want does not tell: yes, when only readers kept it
 * waiting at the end of the recording. Else shared mode is assumed, which excludes less. */
bool asks_exclusive(const struct checker *c, uint32_t e)
{
	const struct event *want = at(c, e);
	int64_t exclusive = 0, shared = 0;

	if (want->op != OP_WANT)
		return want->op == OP_ACQ;
	for (uint32_t i = 0; i < c->t->events_count; i++) {
		const struct event *x = at(c, i);

		if (event_inert(x) || x->target != want->target)
			continue;
		exclusive += (x->op == OP_ACQ) - (x->op == OP_REL);
		shared += (x->op == OP_RACQ) - (x->op == OP_RREL);
	}
	return exclusive == 0 && shared > 0;
}

/* Is the request `e` blocked by the thread of request `other`? A thread blocks itself when it
 * requests a lock that it holds and the recording says that it waits. */
static bool request_blocks(const struct checker *c, uint32_t e, bool exclusive, uint32_t other)
{
	const struct event *x = at(c, e);
	uint32_t u = at(c, other)->thread;

	if (x->op == OP_WANTJOIN)
		return x->target == u;
	if (u == x->thread && x->op != OP_WANT)
		return false;
	return c->owner[x->target] == u || (exclusive && holds_shared(c, u, x->target));
}

/* A request of the cycle: next in its thread, and blocked by a thread of the cycle. */
static bool claim_request(const struct checker *c, uint32_t e, const uint32_t *requests,
                          size_t count, GString *reason)
{
	const struct event *x = at(c, e);
	bool exclusive = asks_exclusive(c, e), blocked = false;

	if (!event_is_request(x) && x->op != OP_WANTJOIN) {
		bool tried = op_acquires(x->op) && !event_inert(x);

		g_string_append_printf(reason, "the cycle: event %u is %s", e,
		                       tried ? "a try, or limited in time: it waits for nobody"
		                             : "no acquire");
		return false;
	}
	if (c->f.place[e] != c->taken[at(c, e)->thread])
		return check_refuse(c, reason, "the cycle", e, "is not next in its thread");
	if (!rule_must(c, e, reason))
		return false;
	for (size_t k = 0; k < count; k++)
		blocked |= request_blocks(c, e, exclusive, requests[k]);
	return blocked || check_refuse(c, reason, "the cycle", e,
	                               "is not blocked by another thread of the cycle");
}

static bool claim_cycle(struct checker *c, const uint32_t *sequence, size_t length,
                        const uint32_t *requests, size_t count, GString *reason)
{
	if (!claim_prefix(c, sequence, length, reason))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!claim_request(c, requests[i], requests, count, reason))
			return false;
	}
	return true;
}

/* A cycle of requests for locks in a correct reordering; or requests among waits that never
 * end. */
static bool claim_deadlock(struct checker *c, const uint32_t *sequence, size_t length,
                           enum claim claim, const uint32_t *requests, size_t count,
                           GString *reason)
{
	g_autoptr(GString) other = g_string_new(NULL);
	size_t at_end = 0;
	bool good;

	for (size_t i = 0; i < count; i++) {
		if (requests[i] >= c->t->events_count) {
			g_string_append_printf(reason, "the cycle: event %u is no acquire",
			                       requests[i]);
			return false;
		}
	}
	for (size_t i = 0; i < length && i < count; i++) {
		for (size_t k = 0; k < count; k++)
			at_end += sequence[length - 1 - i] == requests[k];
	}
	if (at_end == count) /* appended to the reordering, as in a race's witness */
		length -= count;
	good = claim == CLAIM_DEADLOCK &&
	       claim_cycle(c, sequence, length, requests, count, reason);
	if (!good) {
		state_clear(c);
		good = claim_stuck(c, sequence, length, requests, count,
		                   claim == CLAIM_STUCK ? reason : other);
	}
	return good;
}

static bool claim_check(struct checker *c, const uint32_t *sequence, size_t length,
                        enum claim claim, const uint32_t *pair, size_t count, GString *reason)
{
	bool of_two = claim == CLAIM_RACE || claim == CLAIM_C11_RACE || claim == CLAIM_COV;

	if (count < 2 &&
	    (of_two || (claim != CLAIM_ATOMIC && claim != CLAIM_PREFIX && count == 0))) {
		g_string_append(reason, claim == CLAIM_REACH
		                                ? "the place: an event is needed"
		                                : "the pair: two events are needed");
		return false;
	}
	switch (claim) {
	case CLAIM_RACE:
		return claim_race(c, sequence, length, pair, reason);
	case CLAIM_C11_RACE:
		return claim_c11(c, sequence, length, pair, reason);
	case CLAIM_COV:
		return claim_cov(c, sequence, length, pair, reason);
	case CLAIM_DEADLOCK:
	case CLAIM_STUCK:
		return claim_deadlock(c, sequence, length, claim, pair, count, reason);
	case CLAIM_REACH:
		return claim_reach(c, sequence, length, pair[0], reason);
	default:
		return claim_prefix(c, sequence, length, reason);
	}
}

bool checker_claim(struct checker *c, const uint32_t *sequence, size_t length, enum claim claim,
                   const uint32_t *pair, size_t pair_count, GString *reason)
{
	g_autoptr(GString) scratch = reason == NULL ? g_string_new(NULL) : NULL;

	state_clear(c);
	bool good = claim_check(c, sequence, length, claim, pair, pair_count,
	                        reason == NULL ? scratch : reason);
	c->prefix = NONE;
	return good;
}

void change_log_grow(struct change_log *log)
{
	log->room = MAX(1024, 2 * log->room);
	log->of = g_renew(struct undo_change, log->of, log->room);
}

/* Undo changes until the log has `length` entries. */
static void undo_changes(struct checker *c, uint32_t length)
{
	for (uint32_t i = c->changes.count; i-- > length;)
		*c->changes.of[i].cell = c->changes.of[i].old;
	c->changes.count = length;
}

/* Undo the last events of the prefix, as far as the log goes. */
static void rewind_prefix(struct checker *c, uint32_t prefix)
{
	const uint32_t *first = c->taken, *end = c->taken + c->t->threads_count;

	c->rewinds = true;
	while (c->prefix > prefix && c->changes.count > 0) {
		uint32_t last = c->changes.count - 1;
		const uint32_t *cell = c->changes.of[last].cell;

		/* each event begins with this change */
		if (cell >= first && cell < end)
			c->prefix--;
		undo_changes(c, last);
	}
}

enum { LOG_LIMIT = 6 << 20 }; /* changes kept for undo */

/* Drop the older half of the log, up to the beginning of an event. */
static void trim_log(struct checker *c)
{
	struct change_log *log = &c->changes;
	uint32_t gone = log->count / 2;

	if (log->count > LOG_LIMIT) {
		log->count -= gone;
		memmove(log->of, log->of + gone, log->count * sizeof(struct undo_change));
	}
}

/* Apply the recording up to `prefix`. */
static bool take_recorded(struct checker *c, uint32_t prefix, GString *reason)
{
	c->undoing = c->rewinds;
	if (prefix > c->t->events_count)
		return rules_allow(c, prefix - 1, ALL_REQUIREMENTS,
		                   reason); /* fails, with the reason */
	while (c->prefix < prefix) {
		prefetch_event(c, MIN(c->prefix + AHEAD, prefix - 1));
		if (!check_step(c, c->prefix, ALL_REQUIREMENTS, reason))
			return false;
		if ((++c->prefix & 0xffff) == 0)
			trim_log(c);
	}
	return true;
}

/* Is a fresh state cheaper than logging and undoing the changes of a tail? */
static bool cheaper_anew(const struct checker *c, uint32_t prefix, size_t length)
{
	return length > 2 * (uint64_t)prefix + c->t->variables_count / 8 + c->t->objects_count;
}

bool checker_race_after(struct checker *c, uint32_t prefix, const uint32_t *tail, size_t length,
                        const uint32_t *pair, GString *reason)
{
	g_autoptr(GString) scratch = g_string_new(NULL);

	BUG_ON(c->options.semantics != NULL);
	if (c->prefix != NONE && c->prefix > prefix)
		rewind_prefix(c, prefix);
	if (c->prefix == NONE || c->prefix > prefix)
		state_clear(c);
	bool good = take_recorded(c, prefix, scratch);
	c->undoing = !cheaper_anew(c, prefix, length);
	uint32_t before = c->changes.count;
	if (good)
		good = claim_race(c, tail, length, pair, scratch);
	if (c->undoing)
		undo_changes(c, before);
	else
		state_clear(c);
	if (reason != NULL)
		g_string_append(reason, scratch->str);
	return good;
}

bool witness_check(const struct trace *t, const uint32_t *sequence, size_t length,
                   enum claim claim, const uint32_t *pair, size_t pair_count,
                   const struct check_options *options, GString *reason)
{
	struct checker *c = checker_new(t, options);
	bool good = checker_claim(c, sequence, length, claim, pair, pair_count, reason);

	checker_free(c);
	return good;
}
