/*
 * stuck.c - waits at the end of a recording, from wants and locks held.
 */
#include "engine/trace/ending.h"
#include "engine/predict/deadlock/stuck.h"

#include "engine/trace/channel.h"

#include <string.h>

/* A holder of a wanted lock at the end. */
struct hold {
	uint32_t object, thread;
	bool exclusive;
};

struct final_state {
	const struct trace *t;
	uint32_t *want;           /* by thread: the event, or NONE */
	enum wait_for *use;       /* by object: the kind of wait, from the object's
	                           * operations */
	bool *wanted;             /* by object */
	GArray *holds;            /* struct hold */
	int64_t *left;            /* by object: counts of a semaphore, posts less takes */
	bool *over;               /* by thread: it has ended */
	uint32_t *before, *queue; /* scratch for a walk along the waits, by thread */
	bool *reported;           /* by thread: is in a finding */
	GHashTable *running; /* name of a once-function's last message (char *) -> thread + 1
	                      * that has begun it, where that message was not sent */
};

static enum wait_for use_of(enum op op)
{
	static const enum wait_for waits[] = { [USE_NONE] = WAIT_LOCK,
		                               [USE_LOCK] = WAIT_LOCK,
		                               [USE_CONDITION] = WAIT_CONDITION,
		                               [USE_BARRIER] = WAIT_BARRIER,
		                               [USE_SEMAPHORE] = WAIT_SEMAPHORE };

	return waits[op_table[op].use];
}

static void drop_hold(GArray *holds, uint32_t object, uint32_t thread)
{
	for (guint i = holds->len; i-- > 0;) {
		const struct hold *h = &g_array_index(holds, struct hold, i);

		if (h->object == object && h->thread == thread) {
			g_array_remove_index_fast(holds, i);
			return;
		}
	}
}

static bool find_wants(struct final_state *s)
{
	const struct trace *t = s->t;
	bool any = false;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		/* a view by chains has several threads' events in one place */
		s->over[x->thread] = x->op == OP_END;
		if (x->op == OP_JOIN)
			s->over[x->target] = true;
		if (!op_wants(x->op))
			continue;
		any = true;
		s->want[x->thread] = e;
		if (x->op == OP_WANT)
			s->wanted[x->target] = true;
	}
	return any;
}

/* In a recording with waits on futexes, an object that threads wait for at its end and that no
 * event uses is the word of a futex. */
static void find_futexes(const struct trace *t, enum wait_for *use)
{
	g_autofree bool *used = g_new0(bool, t->objects_count + 1);

	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_table[t->events[e].op].operand == OPERAND_OBJECT &&
		    t->events[e].op != OP_WANT)
			used[t->events[e].target] = true;
	for (uint32_t e = 0; e < t->events_count; e++)
		if (t->events[e].op == OP_WANT && !used[t->events[e].target] &&
		    use[t->events[e].target] == WAIT_LOCK)
			use[t->events[e].target] = WAIT_FUTEX;
}

void wait_uses(const struct trace *t, enum wait_for *use)
{
	for (uint32_t o = 0; o < t->objects_count; o++)
		use[o] = t->objects[o].count > 0                                ? WAIT_SEMAPHORE
		         : channel_of_name(trace_string(t, t->objects[o].name)) ? WAIT_CHANNEL
		                                                                : WAIT_LOCK;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (x->op == OP_WANT && x->aux == 1 && use[x->target] == WAIT_LOCK)
			use[x->target] = WAIT_SEMAPHORE;
		if (op_table[x->op].operand == OPERAND_OBJECT && !event_inert(x) &&
		    use_of(x->op) != WAIT_LOCK)
			use[x->target] = use_of(x->op);
	}
	if (trace_note(t, FUTEX_NOTE) != NULL)
		find_futexes(t, use);
}

enum wait_for wait_shown(const struct trace *t, uint32_t object, enum wait_for kind)
{
	if (kind != WAIT_CONDITION || trace_note(t, FUTEX_STEPS_NOTE) == NULL)
		return kind;
	g_autofree char *lock =
	        g_strconcat(trace_string(t, t->objects[object].name), FUTEX_LOCK_SUFFIX, NULL);
	for (uint32_t o = 0; o < t->objects_count; o++)
		if (strcmp(trace_string(t, t->objects[o].name), lock) == 0)
			return WAIT_FUTEX;
	return kind;
}

/* The wanted objects: their kinds, and their holders at the end. */
static void find_holds(struct final_state *s)
{
	const struct trace *t = s->t;

	wait_uses(t, s->use);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (op_table[x->op].operand != OPERAND_OBJECT || event_inert(x) ||
		    !s->wanted[x->target])
			continue;
		if (op_releases(x->op))
			drop_hold(s->holds, x->target, x->thread);
		s->left[x->target] += (x->op == OP_POST) - (x->op == OP_TAKE);
		if (op_acquires(x->op)) {
			struct hold h = { x->target, x->thread, x->op == OP_ACQ };
			g_array_append_val(s->holds, h);
		}
	}
}

/* Once-functions that have begun and not ended: their threads hold them like locks. */
static void find_running(struct final_state *s)
{
	for (uint32_t e = 0; e < s->t->events_count; e++) {
		const struct event *x = &s->t->events[e];
		const char *name =
		        x->op == OP_SND ? trace_string(s->t, s->t->messages[x->target]) : "";
		gsize own = strlen(name);

		if (own == 0 || event_inert(x))
			continue;
		if (!g_str_has_suffix(name, MESSAGE_BEGINS)) {
			g_hash_table_remove(s->running, name);
			continue;
		}
		g_hash_table_insert(s->running, g_strndup(name, own - strlen(MESSAGE_BEGINS)),
		                    GUINT_TO_POINTER((guint)x->thread + 1));
	}
}

/* The i-th thread that `thread` waits for, or NONE: holders of its lock, or the thread to
 * join. */
static uint32_t waits_for(const struct final_state *s, uint32_t thread, guint i)
{
	if (s->want[thread] == NONE)
		return NONE;
	const struct event *x = &s->t->events[s->want[thread]];
	if (x->op == OP_WANTJOIN)
		return i == 0 ? x->target : NONE;
	gpointer runner = g_hash_table_lookup(
	        s->running, trace_string(s->t, s->t->objects[x->target].name));
	if (runner != NULL)
		return i == 0 ? GPOINTER_TO_UINT(runner) - 1 : NONE;
	for (guint k = 0; k < s->holds->len; k++) {
		const struct hold *h = &g_array_index(s->holds, struct hold, k);

		if (h->object == x->target && i-- == 0)
			return h->thread;
	}
	return NONE;
}

static enum wait_for kind_of(const struct final_state *s, uint32_t want)
{
	const struct event *x = &s->t->events[want];

	return x->op == OP_WANTJOIN ? WAIT_JOIN : s->use[x->target];
}

/* Does the trace itself show that the thread need not wait: a lock without a holder, a
 * semaphore with a count, a thread that has ended? */
static bool is_free(const struct final_state *s, uint32_t thread)
{
	const struct event *x = &s->t->events[s->want[thread]];

	switch (kind_of(s, s->want[thread])) {
	case WAIT_JOIN:
		return s->over[x->target];
	case WAIT_LOCK:
		return waits_for(s, thread, 0) == NONE;
	case WAIT_SEMAPHORE:
		return s->t->objects[x->target].count + s->left[x->target] > 0;
	default:
		return false;
	}
}

/* A recording's own end is trusted: another process, or code that was not recorded, may hold
 * an object that looks free here. */
static bool is_recording(const struct trace *t)
{
	return trace_note(t, "recording-command") != NULL;
}

/* Drops the wants that the trace contradicts; returns their number. */
static unsigned drop_free(struct final_state *s)
{
	unsigned dropped = 0;

	for (uint32_t u = 0; u < s->t->threads_count; u++) {
		if (s->want[u] == NONE || !is_free(s, u))
			continue;
		s->want[u] = NONE;
		dropped++;
	}
	return dropped;
}

/* The shortest circle of waits through a thread into `circle`, from that thread on. */
static bool find_circle(struct final_state *s, uint32_t from, GArray *circle)
{
	uint32_t first = 0, last = 0, next;

	for (uint32_t u = 0; u < s->t->threads_count; u++)
		s->before[u] = NONE;
	s->queue[last++] = from;
	while (first < last) {
		uint32_t u = s->queue[first++];

		for (guint i = 0; (next = waits_for(s, u, i)) != NONE; i++) {
			if (s->before[next] != NONE)
				continue;
			s->before[next] = u;
			if (next == from) {
				first = last;
				break;
			}
			s->queue[last++] = next;
		}
	}
	if (s->before[from] == NONE)
		return false;
	g_array_set_size(circle, 0);
	for (uint32_t u = s->before[from]; u != from; u = s->before[u])
		g_array_prepend_val(circle, u);
	g_array_prepend_val(circle, from);
	return true;
}

static void add_wait(struct final_state *s, struct finding *f, uint32_t thread, bool request)
{
	uint32_t want = s->want[thread];
	struct wait w = { .event = want,
		          .what = wait_shown(s->t, s->t->events[want].target, kind_of(s, want)),
		          .holder = waits_for(s, thread, 0) };

	/* of several readers, prefer one that is blocked itself */
	for (guint i = 0; w.what == WAIT_LOCK && waits_for(s, thread, i) != NONE; i++) {
		if (s->want[waits_for(s, thread, i)] != NONE) {
			w.holder = waits_for(s, thread, i);
			break;
		}
	}
	if (w.what == WAIT_JOIN)
		w.holder = NONE;
	s->reported[thread] = true;
	g_array_append_val(f->waits, w);
	if (request)
		g_array_append_val(f->requests, want);
}

static struct finding *finding_of_waits(enum finding_kind kind)
{
	struct finding *f = finding_new(kind, NONE, NONE);

	f->verdict = VERDICT_HAPPENED;
	f->counted_all = true;
	f->by = "recording";
	f->requests = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	return f;
}

/* The two earliest requests; a single one is both. */
static void set_pair(struct finding *f)
{
	f->first = f->second = NONE;
	for (guint i = 0; i < f->requests->len; i++) {
		uint32_t e = g_array_index(f->requests, uint32_t, i);

		if (e < f->first) {
			f->second = f->first;
			f->first = e;
		} else {
			f->second = MIN(f->second, e);
		}
	}
	if (f->second == NONE)
		f->second = f->first;
}

static struct finding *deadlock_of(struct final_state *s, const GArray *circle)
{
	struct finding *f = finding_of_waits(FINDING_DEADLOCK);
	guint earliest = 0;

	for (guint i = 0; i < circle->len; i++) {
		if (s->want[g_array_index(circle, uint32_t, i)] <
		    s->want[g_array_index(circle, uint32_t, earliest)])
			earliest = i;
	}
	for (guint i = 0; i < circle->len; i++)
		add_wait(s, f, g_array_index(circle, uint32_t, (earliest + i) % circle->len),
		         true);
	set_pair(f);
	return f;
}

static bool has_lock(const struct final_state *s, const GArray *circle)
{
	for (guint i = 0; i < circle->len; i++) {
		if (kind_of(s, s->want[g_array_index(circle, uint32_t, i)]) == WAIT_LOCK)
			return true;
	}
	return false;
}

static void find_circles(struct final_state *s, GPtrArray *findings)
{
	g_autoptr(GArray) circle = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t u = 0; u < s->t->threads_count; u++) {
		if (s->want[u] == NONE || s->reported[u] || !find_circle(s, u, circle) ||
		    !has_lock(s, circle))
			continue;
		g_ptr_array_add(findings, deadlock_of(s, circle));
	}
}

/* The finding whose threads this one waits for, transitively; or NULL. */
static struct finding *cause_of(struct final_state *s, const GPtrArray *findings,
                                uint32_t thread)
{
	uint32_t left = (uint32_t)s->t->threads_count;

	while (thread != NONE && left-- > 0) {
		for (guint i = 0; i < findings->len; i++) {
			struct finding *f = findings->pdata[i];

			for (guint k = 0; k < f->waits->len; k++) {
				uint32_t e = g_array_index(f->waits, struct wait, k).event;

				if (s->t->events[e].thread == thread)
					return f;
			}
		}
		thread = waits_for(s, thread, 0);
	}
	return NULL;
}

static void find_others(struct final_state *s, GPtrArray *findings)
{
	struct finding *stuck = NULL;

	for (uint32_t u = 0; u < s->t->threads_count; u++) {
		if (s->want[u] == NONE || s->reported[u])
			continue;
		struct finding *f = cause_of(s, findings, u);
		if (f == NULL && stuck == NULL)
			f = findings->len > 0 ? findings->pdata[0]
			                      : (stuck = finding_of_waits(FINDING_STUCK));
		add_wait(s, f ? f : stuck, u, f == NULL || f == stuck);
	}
	if (stuck) {
		set_pair(stuck);
		g_ptr_array_add(findings, stuck);
	}
}

GPtrArray *stuck_find(const struct trace *t, unsigned *dropped)
{
	GPtrArray *findings = g_ptr_array_new();
	struct final_state s = { .t = t,
		                 .want = g_new(uint32_t, t->threads_count + 1),
		                 .use = g_new0(enum wait_for, t->objects_count + 1),
		                 .wanted = g_new0(bool, t->objects_count + 1),
		                 .holds = g_array_new(FALSE, FALSE, sizeof(struct hold)),
		                 .left = g_new0(int64_t, t->objects_count + 1),
		                 .over = g_new0(bool, t->threads_count + 1),
		                 .before = g_new(uint32_t, t->threads_count + 1),
		                 .queue = g_new(uint32_t, t->threads_count + 1),
		                 .reported = g_new0(bool, t->threads_count + 1),
		                 .running = g_hash_table_new_full(g_str_hash, g_str_equal,
		                                                  g_free, NULL) };

	for (uint32_t u = 0; u < t->threads_count; u++)
		s.want[u] = NONE;
	*dropped = 0;
	if (find_wants(&s)) {
		find_holds(&s);
		find_running(&s);
		if (!is_recording(t))
			*dropped = drop_free(&s);
		find_circles(&s, findings);
		find_others(&s, findings);
	}
	g_free(s.want);
	g_free(s.use);
	g_free(s.wanted);
	g_array_free(s.holds, TRUE);
	g_free(s.left);
	g_free(s.over);
	g_free(s.before);
	g_free(s.queue);
	g_free(s.reported);
	g_hash_table_destroy(s.running);
	return findings;
}
