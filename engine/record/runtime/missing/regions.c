/*
 * regions.c - a thread's missing calls that are open, and their records: the beginning and the
 * end of each in the trace, and the memory that it may reach (RDIT's barrier pairs).
 *
 * While such code has called back into the program, nothing of it runs in this thread; so the
 * region ends there and begins again when the function that was called back returns: two
 * barrier pairs instead of one around everything.
 */
#include "engine/record/runtime/sched/sched_private.h"
#include "missing_private.h"

enum { MAX_REGIONS = 256 }; /* bound for a thread; a call inside of that many is not recorded */

/* ---- records ---- */

void region_update(struct thread *t)
{
	const struct region *r = t->missing.region_count
	                                 ? &t->missing.regions[t->missing.region_count - 1]
	                                 : NULL;
	t->callback_at = r && !r->away ? r->depth : UINT32_MAX;
	t->resume_below = r ? r->depth + r->away : 0;
}

/*
 * Is the call only noted? An exploration needs only the functions that were called while
 * other threads ran, each once.
 */
static bool only_noted(const struct region *r)
{
	enum { MOST = 64 };
	static uintptr_t known[MOST];
	static unsigned count;
	unsigned i = 0;
	if (!(rt.config.flags & LOG_EXPLORE))
		return false;
	while (i < count && known[i] != r->function)
		i++;
	if (i < count || count == MOST || r->function == 0 || sched_alone())
		return true;
	known[count++] = r->function;
	log_fact(LOG_CALLED, 0, r->function, NULL, 0);
	return true;
}

static void write_miss(struct thread *t, const struct region *r, unsigned flags)
{
	if (only_noted(r))
		return;
	const struct log_reached *list = NULL;
	bool cut;
	unsigned count = reach_scan(t, r->arguments, r->mask, &list, &cut);
	uint64_t function = r->function;
	log_epoch(t);
	uint64_t *w = log_blob(t, LOG_MISS, r->pc, &function, 1, list, count * sizeof(*list));
	if (w)
		w[0] |= (uint64_t)(flags | (cut ? LOG_MISS_CUT : 0)) << 8;
}

static void write_back(struct thread *t, const struct region *r)
{
	if (rt.config.flags & LOG_EXPLORE)
		return;
	log_turn(t);
	log_epoch(t);
	log_put(t->stream, log_word(LOG_BACK, 0, r->pc), (uint64_t[]){ r->function }, 1);
}

void region_pop(struct thread *t)
{
	const struct region *r = &t->missing.regions[--t->missing.region_count];
	if (!r->away)
		write_back(t, r);
	region_update(t);
}

bool region_push(struct thread *t, const struct region *r)
{
	if (!t->missing.regions)
		t->missing.regions = rt_pages(MAX_REGIONS * sizeof(*t->missing.regions));
	if (!t->missing.regions || t->missing.region_count == MAX_REGIONS)
		return false;
	log_before(t); /* and the region around it is interrupted, when this is a function it
	                * called */
	struct region *new = &t->missing.regions[t->missing.region_count++];
	*new = *r;
	new->depth = t->depth;
	write_miss(t, new, 0);
	region_update(t);
	return true;
}

uintptr_t missing_caller(void)
{
	const struct thread *t = me;
	return t->missing.region_count ? t->missing.regions[t->missing.region_count - 1].pc : 0;
}

/* ---- functions that are called back ---- */

void missing_callback(struct thread *t)
{
	uintptr_t function = t->frames[t->emitted].function;
	if (function < LOG_CALL_COUNT && function != LOG_CALL_signal)
		return; /* it is about to wait in the C library */
	struct region *r = &t->missing.regions[t->missing.region_count - 1];
	if (t->frames[t->emitted].call == (uintptr_t)missing_return)
		t->frames[t->emitted].call = r->pc;
	write_back(t, r);
	r->away = true;
	region_update(t);
}

void missing_settle(struct thread *t)
{
	while (t->missing.region_count) {
		struct region *r = &t->missing.regions[t->missing.region_count - 1];
		if (t->emitted > r->depth || (t->emitted == r->depth && !r->away))
			break;
		if (t->emitted == r->depth) {
			r->away = false;
			write_miss(t, r, LOG_MISS_AGAIN);
			region_update(t);
			break;
		}
		region_pop(t); /* an exception has left it */
	}
}

void missing_left(struct thread *t)
{
	if (t->gate)
		return;
	t->todo |= TODO_FRAMES;
	log_before(t);
}

void region_cut(struct thread *t, uint32_t depth)
{
	if (t->depth > depth) {
		t->depth = depth;
		t->low = depth < t->low ? depth : t->low;
		t->todo |= TODO_FRAMES;
		context_renew(t);
	}
}

void missing_jump(struct thread *t, uintptr_t sp)
{
	while (t->missing.region_count &&
	       t->missing.regions[t->missing.region_count - 1].sp <= sp)
		region_pop(t);
	if (!t->missing.region_count)
		return;
	const struct region *r = &t->missing.regions[t->missing.region_count - 1];
	if (!r->away || t->depth <= r->depth || r->depth >= MAX_FRAMES)
		return;
	uintptr_t end = frame_return(&t->frames[r->depth], r->sp);
	if (end && end < sp) { /* back to the code that called back */
		region_cut(t, r->depth);
		log_before(t);
	}
}

/* An exception is caught: calls of the frames below have been left. */
EXPORT void *__cxa_begin_catch(void *exception);
void *__cxa_begin_catch(void *exception)
{
	if (unlikely(me->missing.region_count > 0) && recording())
		missing_jump(me, (uintptr_t)__builtin_frame_address(0) + 16);
	return REAL(__cxa_begin_catch)(exception);
}

/* ---- threads ---- */

void missing_begin_thread(struct thread *t, const void *start, const void *argument)
{
	const struct module *m = rt.missing ? missing_module_of((uintptr_t)start) : NULL;
	if (!m || m->kind != MISSING || t->gate)
		return;
	struct region r = { .sp = t->life.stack_high,
		            .function = (uintptr_t)start,
		            .arguments = { (uintptr_t)argument },
		            .mask = 1 };
	region_push(t, &r);
}

void missing_end_thread(struct thread *t)
{
	if (t->gate & GATE_OFF)
		t->missing.region_count = 0;
	while (t->missing.region_count)
		region_pop(t);
	region_update(t);
}
