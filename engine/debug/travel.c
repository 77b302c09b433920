/* travel.c - see travel.h. */
#include "engine/debug/travel_private.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

bool travel_open(struct travel *t, struct error *error)
{
	t->breakpoints = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	code_map_init(&t->code);
	t->ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	t->trail = g_ptr_array_new_with_free_func(travel_footprint_free);
	int client = t->f.client;
	t->f.client = -1; /* a ^C is for the run that the client sees, not for this one */
	bool ok = inferior_open(&t->f, error) && travel_start_again(t, error);
	t->f.client = client;
	t->present = t->start;
	return ok;
}

void travel_close(struct travel *t)
{
	inferior_close(&t->f);
	if (t->breakpoints)
		g_hash_table_destroy(t->breakpoints);
	code_map_release(&t->code);
	if (t->ends)
		g_hash_table_destroy(t->ends);
	if (t->trail)
		g_ptr_array_free(t->trail, TRUE);
}

static bool at_start(const struct travel *t)
{
	return t->present.clock == t->start.clock && t->present.index == 0 &&
	       t->present.thread == t->start.thread;
}

/* ---- breakpoints ---- */

static bool insert_all(struct travel *t)
{
	GHashTableIter each;
	gpointer packet;
	bool ok = true;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, NULL, &packet))
		ok &= inferior_ask(&t->f, "%s", (const char *)packet) &&
		      strcmp(t->f.reply->str, "OK") == 0;
	return ok;
}

static void remove_all(struct travel *t)
{
	GHashTableIter each;
	gpointer key;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		inferior_ask(&t->f, "z%s", (const char *)key + 1);
}

/* A watchpoint for reads that the runtime hit, which reads the memory that an access is about
 * to read. */
static bool is_own_look(struct travel *t, const struct stop *stop)
{
	const struct code_range *r =
	        stop->reads ? code_map_at(&t->code, &t->f, stop->pc) : NULL;
	return r && r->runtime;
}

/* ---- forward ---- */

enum travel_result travel_settle(struct travel *t)
{
	if (!t->ahead)
		return TRAVEL_THERE;
	const struct moment here = t->present;
	enum travel_result r = travel_to(t, &here);
	return r == TRAVEL_THERE ? r : travel_give_up(t, r, &here);
}

enum travel_result travel_forward(struct travel *t, const char *packet, struct stop *stop)
{
	enum travel_result settled = travel_settle(t);
	struct moment from = t->present;
	if (settled != TRAVEL_THERE)
		return settled;
	if (t->present.end)
		return TRAVEL_END;
	if (!insert_all(t)) {
		remove_all(t);
		return TRAVEL_ELSEWHERE;
	}
	t->f.debug->stop_at = 0;
	t->f.debug->stop_pair = !t->at_pair;
	t->f.late = false; /* a ^C that came meanwhile counts */
	t->f.deadline = 0;
	bool lives;
	while ((lives = inferior_resume(&t->f, packet, stop)) && stop->kind == 'T' &&
	       is_own_look(t, stop))
		;
	if (!lives)
		return TRAVEL_LOST;
	if (stop->kind != 'T') { /* as no debugger could prevent: back to its last moment */
		uint64_t clock = t->f.debug->clock;
		struct instruction last;
		t->f.deadline = 0;
		enum travel_result r =
		        travel_before_region(t, clock + 1, t->f.debug->thread, &last);
		if (r == TRAVEL_THERE)
			r = travel_to_index(t, &last);
		return r == TRAVEL_THERE ? TRAVEL_END : travel_give_up(t, r, &from);
	}
	t->f.interrupted = false;
	remove_all(t);
	bool pair = t->f.debug->trap == TRAP_PAIR, end = t->f.debug->trap == TRAP_END;
	if (!travel_now_at_stop(t, stop, &t->present))
		return TRAVEL_LOST;
	t->at_pair &= t->present.clock == from.clock;
	if (end) {
		t->end_tid = stop->tid;
		return TRAVEL_END;
	}
	if (!pair)
		return TRAVEL_THERE;
	/* The thread that ran last is in the runtime: show it at its access. */
	enum travel_result r = travel_step(t, t->present.thread);
	t->at_pair = true;
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? TRAVEL_PAIR : r;
}

/* ---- backward to a breakpoint ---- */

struct hit {
	struct stop stop;
	uint64_t number; /* number of the last stop that counts, from `low` on; 0: none */
	uint64_t wanted; /* end at this number; 0: do not */
};

static bool has_breakpoint(const struct travel *t, uint64_t pc)
{
	char *key = g_strdup_printf("Z0,%lx,1", pc);
	bool has = g_hash_table_contains(t->breakpoints, key);
	g_free(key);
	return has;
}

/* Go on with the breakpoints, over the one that the thread of the last stop stands at. */
static enum run run_over(struct travel *t, uint64_t mark, struct stop *stop)
{
	if (stop->kind != 'T' || t->f.debug->trap != TRAP_NONE ||
	    (stop->pc != mark && !has_breakpoint(t, stop->pc)))
		return travel_run(t, "vCont;c", stop);
	char *key = g_strdup_printf("Z0,%lx,1", stop->pc), step[64];
	const char *packet = g_hash_table_lookup(t->breakpoints, key);
	g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)stop->tid);
	uint64_t was = stop->pc;
	enum run r = inferior_ok(&t->f, "z%s", key + 1) ? travel_run(t, step, stop) : RUN_LOST;
	if (r != RUN_LOST && stop->kind == 'T' &&
	    !inferior_ok(&t->f, "%s", packet ? packet : key))
		r = RUN_LOST;
	g_free(key);
	if (r == RUN_STOP && stop->signal == SIGTRAP && !stop->watch && stop->pc != was &&
	    stop->pc != mark && !has_breakpoint(t, stop->pc))
		return travel_run(t, "vCont;c", stop);
	return r;
}

/*
 * Go forward from the tick `low` with the client's breakpoints up to the tick `high`, or, where
 * that is the one before `from`, up to `from`, which a breakpoint of its own marks; and keep
 * the last stop.
 */
static enum travel_result hits_until(struct travel *t, uint64_t low, uint64_t high,
                                     const struct moment *from, struct hit *last)
{
	struct stop stop = { 0 };
	struct moment now;
	enum travel_result result = travel_to_clock(t, low);
	if (result != TRAVEL_THERE)
		return result;
	if (!insert_all(t))
		return TRAVEL_ELSEWHERE;
	uint64_t mark = 0;
	for (;;) {
		bool inside = from->clock == high && t->f.debug->clock >= high;
		if (inside && mark == 0 && !from->end) {
			mark = from->pc;
			if (!has_breakpoint(t, mark) && !inferior_ok(&t->f, "Z0,%lx,1", mark))
				return TRAVEL_LOST;
			if (!travel_now(t, &now))
				return TRAVEL_LOST;
			if (travel_compare(from, now.registers)) /* the start */
				return TRAVEL_THERE;
		}
		t->f.debug->stop_at = inside ? high + 1 : high;
		enum run r = run_over(t, mark, &stop);
		if (r == RUN_LOST || r == RUN_INTERRUPTED)
			return travel_result_of(r);
		if (r == RUN_CLOCK && !inside && from->clock == high)
			continue;
		if (r != RUN_STOP || stop.signal != SIGTRAP)
			return TRAVEL_THERE;
		if (is_own_look(t, &stop) ||
		    (!stop.watch && stop.pc != mark && !has_breakpoint(t, stop.pc)))
			continue;
		if (inside && !travel_now(t, &now))
			return TRAVEL_LOST;
		bool over = inside && travel_compare(from, now.registers);
		/* the write before `from` stops there */
		if (stop.watch || (!over && has_breakpoint(t, stop.pc))) {
			last->stop = stop;
			over |= ++last->number == last->wanted;
		}
		if (!over)
			continue;
		if (mark && !has_breakpoint(t, mark))
			inferior_ok(&t->f, "z0,%lx,1", mark);
		return TRAVEL_THERE;
	}
}

/* The last stop since the tick `floor`; TRAVEL_BEGIN: none. */
static enum travel_result last_stop(struct travel *t, uint64_t floor, struct hit *hit)
{
	const struct moment from = t->present;
	uint64_t high = from.clock, low;
	for (uint64_t width = 16;; width *= 16) {
		low = high > floor + width ? high - width : floor;
		enum travel_result r = hits_until(t, low, high, &from, hit);
		if (r != TRAVEL_THERE)
			return r;
		if (hit->number > 0)
			break;
		if (low == floor)
			return TRAVEL_BEGIN;
		high = low;
	}
	struct hit again = { .wanted = hit->number };
	enum travel_result r = hits_until(t, low, high, &from, &again);
	if (r != TRAVEL_THERE || again.number != hit->number)
		return r == TRAVEL_THERE ? TRAVEL_ELSEWHERE : r;
	remove_all(t);
	if (!travel_now(t, &t->present))
		return TRAVEL_LOST;
	if (hit->stop.watch) /* stand before the write that hit it */
		r = travel_step(t, t->present.thread);
	return r == TRAVEL_BEGIN ? TRAVEL_THERE : r;
}

static enum travel_result back_to_start(struct travel *t)
{
	enum travel_result r = travel_restart(t);
	if (r != TRAVEL_THERE)
		return r;
	t->present = t->start;
	return TRAVEL_BEGIN;
}

enum travel_result travel_back(struct travel *t, struct stop *stop)
{
	struct moment from = t->present;
	struct hit hit = { .number = 0 };
	t->at_pair = false;
	if (at_start(t))
		return TRAVEL_BEGIN;
	enum travel_result r = last_stop(t, t->start.clock, &hit);
	if (r == TRAVEL_BEGIN)
		r = back_to_start(t);
	*stop = hit.stop;
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? r : travel_give_up(t, r, &from);
}

/* ---- backward by an instruction of one thread ---- */

/* The bytes of the watchpoint "Z2,ADDRESS,SIZE", or none when they cannot be read. */
static GByteArray *watched_bytes(const struct travel *t, const char *key, uint64_t *address)
{
	enum { MOST = 64 };
	unsigned kind;
	uint64_t size;
	GByteArray *bytes = g_byte_array_new();
	if (sscanf(key, "Z%u,%lx,%lx", &kind, address, &size) == 3 &&
	    (kind == 2 || kind == 4) && size <= MOST) {
		g_byte_array_set_size(bytes, (guint)size);
		if (!inferior_read(&t->f, *address, bytes->data, size))
			g_byte_array_set_size(bytes, 0);
	}
	return bytes;
}

static GPtrArray *watched_now(const struct travel *t)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	GHashTableIter each;
	gpointer key;
	uint64_t address;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		g_ptr_array_add(all, watched_bytes(t, key, &address));
	return all;
}

/* Has the way changed the memory that a watchpoint watches? */
static void note_change(const struct travel *t, const GPtrArray *was, struct stop *stop)
{
	GHashTableIter each;
	gpointer key;
	guint i = 0;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL)) {
		uint64_t address = 0;
		const GByteArray *old = was->pdata[i++];
		GByteArray *now = watched_bytes(t, key, &address);
		if (old->len == now->len && old->len > 0 &&
		    memcmp(old->data, now->data, old->len) != 0)
			g_snprintf(stop->text, sizeof(stop->text), "T05watch:%lx;", address);
		g_byte_array_unref(now);
	}
}

static bool watches(const struct travel *t)
{
	GHashTableIter each;
	gpointer key;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		if (((const char *)key)[1] > '1')
			return true;
	return false;
}

enum travel_result travel_step_back(struct travel *t, uint32_t thread, struct stop *stop)
{
	struct moment from = t->present;
	struct instruction last;
	struct hit hit = { .number = 0 };
	t->at_pair = false;
	if (at_start(t))
		return TRAVEL_BEGIN;
	if (thread == UINT32_MAX)
		thread = from.thread;
	const struct footprint *f = thread == from.thread && from.index > 0 && !watches(t)
	                                    ? travel_footprint(t, from.clock, from.index - 1)
	                                    : NULL;
	if (f) {
		t->present = f->at;
		t->ahead = true;
		return TRAVEL_THERE;
	}
	GPtrArray *was = watched_now(t);
	enum travel_result r = travel_before(t, &from, thread, &last);
	bool others =
	        r == TRAVEL_BEGIN ||
	        (r == TRAVEL_THERE && (last.clock + 1 < from.clock ||
	                               (last.clock < from.clock && thread != from.thread)));
	bool stopped = false;
	if (others && g_hash_table_size(t->breakpoints) >
	                      0) { /* look for stops of the others since then */
		uint64_t floor = r == TRAVEL_BEGIN ? t->start.clock : last.clock + 1;
		enum travel_result found = last_stop(t, floor, &hit);
		stopped = found == TRAVEL_THERE;
		if (found != TRAVEL_BEGIN)
			r = found;
		*stop = hit.stop;
	}
	if (r == TRAVEL_BEGIN)
		r = back_to_start(t);
	else if (r == TRAVEL_THERE && !stopped)
		r = travel_to_index(t, &last);
	if (r == TRAVEL_THERE && !stopped)
		note_change(t, was, stop);
	g_ptr_array_unref(was);
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? r : travel_give_up(t, r, &from);
}

enum travel_result travel_turn_pair(struct travel *t, unsigned first)
{
	enum travel_result settled = travel_settle(t);
	struct moment from = t->present;
	if (settled != TRAVEL_THERE)
		return settled;
	g_hash_table_remove_all(t->ends); /* after the pair, ends of regions differ */
	t->f.first = first;
	if (t->f.debug)
		t->f.debug->first = first;
	/* The pair is still to come: nothing that was seen so far changes. */
	if (t->f.debug && t->f.debug->pair == 0) {
		inferior_show_again(&t->f);
		return TRAVEL_THERE;
	}
	struct stop stop;
	enum travel_result r = travel_restart(t);
	if (r == TRAVEL_THERE) {
		t->present = t->start;
		t->at_pair = false;
		GHashTable *kept = t->breakpoints;
		t->breakpoints = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		r = travel_forward(t, "vCont;c", &stop);
		g_hash_table_destroy(t->breakpoints);
		t->breakpoints = kept;
	}
	if (r == TRAVEL_PAIR)
		inferior_show_again(&t->f);
	return r == TRAVEL_PAIR ? r : travel_give_up(t, r, &from);
}
