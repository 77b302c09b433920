/* unexplained.c - see unexplained.h. */
#include "engine/trace/unexplained.h"

#include "engine/base/hash.h"
#include "engine/trace/channel.h"
#include "engine/trace/index.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "engine/trace/storage.h"
#include "engine/trace/sync_bytes.h"
#include "engine/trace/weak.h"

#include <string.h>

enum { NOBODY = EVENT_THREADS }; /* no thread has used it yet; NONE: several have */

/* What the last access of a variable's bytes left there. */
struct content {
	uint32_t value; /* as struct event has it; 0: it is not known */
	uint32_t event; /* that access */
	uint32_t user;  /* the thread that has used it so far; NOBODY; NONE: several */
};

/* A read that may be unexplained, of a search beside another pass. */
struct candidate {
	struct unexplained_read read;
	uint32_t owner; /* whose stack it reads, if it is another thread's; or NONE */
	uint32_t user;  /* as struct content has it */
};

struct unexplained_search {
	const struct trace *t;
	struct content *contents; /* by variable */
	uint32_t live;            /* threads forked and not joined */
	GArray *crowds;           /* struct crowd: so far */
	uint32_t *owners;         /* by block: the thread whose stack it is; or NONE */
	uint32_t *ends;           /* by thread: its last event; NULL: not asked for yet */
	struct calls *calls;      /* by thread */
	uint32_t threads;
	GArray *found;
	guint most;
	/* beside another pass: in place of `found`; else NULL */
	GArray *candidates;
	GHashTable *noted; /* those of key_of so far */
	uint32_t seen;     /* events */
};
enum { MOST_CANDIDATES = 1024 };

struct returned {
	uint64_t begin; /* of the function's frame */
	uint32_t event;
};

/* What a thread's functions have of its stack. */
struct calls {
	GArray *begins;   /* uint64_t: of the frames of those that it is in; NULL: none yet */
	GArray *returned; /* struct returned: those that no later one with a frame from further
	                   * above follows, so that each begins below the one before; or NULL */
};

static void see_return(struct calls *c, uint64_t begin, uint32_t event)
{
	const struct returned r = { begin, event };
	if (c->returned == NULL)
		c->returned = g_array_new(FALSE, FALSE, sizeof r);
	guint count = c->returned->len;
	while (count > 0 &&
	       g_array_index(c->returned, struct returned, count - 1).begin <= begin)
		count--;
	g_array_set_size(c->returned, count);
	g_array_append_val(c->returned, r);
}

static void see_call(struct unexplained_search *s, uint32_t event)
{
	const struct event *e = &s->t->events[event];
	struct calls *c = &s->calls[e->thread];
	uint32_t stack = s->t->threads[e->thread].stack;
	if (stack == NONE)
		return;
	if (c->begins == NULL)
		c->begins = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	if (e->op == OP_ENTER) {
		uint64_t begin = event_frame_begin(s->t->blocks[stack].address, e);
		g_array_append_val(c->begins, begin);
	} else if (c->begins->len > 0) {
		uint64_t begin = g_array_index(c->begins, uint64_t, c->begins->len - 1);
		g_array_set_size(c->begins, c->begins->len - 1);
		if (begin != 0)
			see_return(c, begin, event);
	}
}

/* Events while there were several threads. */
struct crowd {
	uint32_t first, last;
};

static void see_thread(struct unexplained_search *s, uint32_t event)
{
	enum op op = s->t->events[event].op;
	if (op == OP_ENTER || op == OP_LEAVE) {
		see_call(s, event);
	} else if (op == OP_FORK && s->live++ == 0) {
		struct crowd c = { event, NONE };
		g_array_append_val(s->crowds, c);
	} else if (op == OP_JOIN && s->live > 0 && --s->live == 0) {
		g_array_index(s->crowds, struct crowd, s->crowds->len - 1).last = event;
	}
}

/* Were there several threads at some moment between the two events? */
static bool others_ran(const struct unexplained_search *s, uint32_t before, uint32_t event)
{
	for (guint i = 0; i < s->crowds->len; i++) {
		const struct crowd *c = &g_array_index(s->crowds, struct crowd, i);
		if (c->first < event && c->last > before)
			return true;
	}
	return false;
}

static uint64_t low_bytes(uint64_t integer, uint64_t size)
{
	return size < sizeof integer ? integer & ((UINT64_C(1) << 8 * size) - 1) : integer;
}

/* The value of an access. Where it is of several variables, each has a part. */
struct whole {
	uint32_t value; /* as struct event has it */
	bool wide;
	uint64_t integer, address; /* wide: of the first variable */
};

static struct whole whole_of(const struct trace *t, struct wide of, uint32_t value)
{
	struct whole w = { value, of.count != 1, 0, 0 };
	if (!w.wide || value == 0)
		return w;
	struct value v = trace_value(t, value);
	w.value = v.kind == V_INT ? value : 0;
	w.integer = v.kind == V_INT ? (uint64_t)v.integer : 0;
	w.address = t->variables[of.first].address;
	return w;
}

/* The part that `v` has; 0: it is not known, or large. */
static uint32_t part_of(const struct trace *t, const struct whole *w, uint32_t v)
{
	if (!w->wide || w->value == 0)
		return w->value;
	uint64_t at = t->variables[v].address - w->address, size = t->variables[v].size;
	if (size == 0 || at >= sizeof(uint64_t) || size > sizeof(uint64_t) - at)
		return 0;
	uint64_t part = low_bytes(w->integer >> 8 * at, size);
	return part < VALUE_SMALL_END ? VALUE_INTEGER | (uint32_t)part : 0;
}

/* Equal integers of a file may have two numbers, a part's and that of the file's table. */
static bool is_same(const struct trace *t, uint32_t a, uint32_t b)
{
	if (a == b || a == 0 || b == 0)
		return true;
	struct value x = trace_value(t, a), y = trace_value(t, b);
	return x.kind != V_INT || y.kind != V_INT || x.integer == y.integer;
}

static uint32_t end_of(struct unexplained_search *s, uint32_t thread)
{
	const struct trace *t = s->t;
	if (s->ends == NULL) {
		s->ends = g_new0(uint32_t, t->threads_count);
		for (uint32_t e = 0; e < t->events_count; e++)
			s->ends[t->events[e].thread] = e;
	}
	return s->ends[thread];
}

/* The other thread whose stack the block is, if it is one's; else NONE. */
static uint32_t owner_of(const struct unexplained_search *s, uint32_t block, uint32_t event)
{
	uint32_t owner = block != NONE ? s->owners[block] : NONE;
	return owner != s->t->events[event].thread ? owner : NONE;
}

/* Has a function of the stack's owner returned between the two events, whose frame begins above
 * the address? The variable may have been its own, and what is there now another one, of which
 * the owner knows alone. (As far as the trace says where frames begin.) */
static bool has_returned(const struct unexplained_search *s, const struct unexplained_read *r)
{
	const struct variable *v = &s->t->variables[r->variable];
	uint32_t owner = v->block != NONE ? s->owners[v->block] : NONE;
	if (owner == NONE || s->calls[owner].returned == NULL)
		return false;
	const GArray *returned = s->calls[owner].returned;
	for (guint i = returned->len; i-- > 0;) {
		const struct returned *f = &g_array_index(returned, struct returned, i);
		if (f->begin > v->address)
			return f->event > r->before;
	}
	return false;
}

/* Is the block the stack of the reader, of which no other thread knows, or was it freed? */
static bool is_own_or_freed(const struct unexplained_search *s, uint32_t block, uint32_t user,
                            uint32_t event)
{
	if (block == NONE)
		return false;
	uint32_t reader = s->t->events[event].thread;
	return s->owners[block] == NONE ? s->t->blocks[block].free < event
	                                : s->owners[block] == reader && user == reader;
}

bool unexplained_is_known(const struct trace *t, uint32_t variable, uint32_t user)
{
	const uint32_t *parts = sync_bytes(t);
	const char *name = trace_variable_name(t, variable);
	bool of_thread = strstr(name, "std::thread") != NULL;
	return (g_str_has_prefix(name, "memory@") && user != NONE) || /* of main: errno */
	       (of_thread && (strstr(name, "id") != NULL || strstr(name, "__t_") != NULL)) ||
	       strstr(name, "_M_id._M_thread") != NULL || /* of a member, or by its pointer */
	       strstr(name, "__libc_single_threaded") != NULL ||
	       g_str_has_prefix(name,
	                        "libstdc++.so") || /* a facet's table, made when it is asked */
	       g_str_has_suffix(name, "@sleepers") || /* a futex's */
	       channel_is_variable(name) ||
	       (parts != NULL && parts[variable] != NONE);
}

static uint32_t value_of(const struct trace *t, uint32_t event, bool written)
{
	const struct event *e = &t->events[event];
	if (e->op != OP_RMW || e->aux == 0)
		return e->aux;
	return written ? trace_value(t, e->aux).second : trace_value(t, e->aux).first;
}

/* What can be told of a read while the search goes on. */
static bool may_be_unexplained(const struct unexplained_search *s, uint32_t v, uint32_t event,
                               uint32_t now)
{
	const struct content *c = &s->contents[v];
	return !is_same(s->t, c->value, now) && others_ran(s, c->event, event) &&
	       !is_own_or_freed(s, s->t->variables[v].block, c->user, event);
}

static bool is_unexplained(struct unexplained_search *s, const struct candidate *c)
{
	return !(c->owner != NONE && end_of(s, c->owner) < c->read.event) &&
	       !unexplained_is_known(s->t, c->read.variable, c->user);
}

/* Of candidates with the same key all are explained if the first one is: is_unexplained looks
 * at no more of them, but for their order in time. */
static gpointer key_of(const struct candidate *c)
{
	uint64_t user = MIN(c->user, NOBODY) + (uint64_t)(c->user == NONE);
	return (gpointer)(uintptr_t)((uint64_t)c->read.variable << 32 | user << 1 |
	                             (c->owner != NONE));
}

/* Notes a read that may be unexplained; false: it is explained. */
static bool note(struct unexplained_search *s, uint32_t v, uint32_t event)
{
	const struct content *of = &s->contents[v];
	struct candidate c = { { event, of->event, v },
		               owner_of(s, s->t->variables[v].block, event),
		               of->user };
	if (has_returned(s, &c.read))
		return false;
	if (s->candidates != NULL && s->candidates->len < MOST_CANDIDATES &&
	    g_hash_table_add(s->noted, key_of(&c)))
		g_array_append_val(s->candidates, c);
	if (s->candidates != NULL)
		return true;
	if (!is_unexplained(s, &c))
		return false;
	g_array_append_val(s->found, c.read);
	return true;
}

static void leave(struct content *c, uint32_t value, uint32_t event, uint32_t thread)
{
	c->value = value;
	c->event = event;
	c->user = c->user == NOBODY || c->user == thread ? thread : NONE;
}

/* Not inlined: other accesses than those that event_simple tells. */
static __attribute__((noinline)) void access_at(struct unexplained_search *s, uint32_t event)
{
	const struct trace *t = s->t;
	const struct event *e = &t->events[event];
	struct wide of = event_variables(t, e);
	struct whole read = whole_of(t, of, value_of(t, event, false)), written = read;
	bool told = !op_reads(e->op);
	if (e->op == OP_RMW)
		written = whole_of(t, of, value_of(t, event, true));
	for (uint32_t v = of.first; v < of.first + of.count; v++) {
		uint32_t seen = part_of(t, &read, v);
		uint32_t left = e->op == OP_RMW ? part_of(t, &written, v) : seen;
		if (!told && may_be_unexplained(s, v, event, seen))
			told = note(s, v, event);
		bool keeps = !op_writes(e->op) && left == 0; /* a read of unknown value */
		leave(&s->contents[v], keeps ? s->contents[v].value : left, event, e->thread);
	}
}

void unexplained_see(struct unexplained_search *s, uint32_t from, uint32_t to)
{
	enum { AHEAD = 16 };
	if (s == NULL)
		return;
	const struct trace *t = s->t;
	for (uint32_t e = from; e < to && s->found->len < s->most; e++) {
		const struct event *x = &t->events[e];
		/* (For others than accesses the address is wrong, but harmless.) */
		__builtin_prefetch(&s->contents[t->events[MIN(e + AHEAD, to - 1)].target], 1);
		struct content *c = &s->contents[event_simple(x) ? x->target : 0];
		if (event_simple(x) && x->aux != 0 &&
		    (op_writes(x->op) || c->value == x->aux || c->value == 0))
			leave(c, x->aux, e, x->thread);
		else if (op_is_access(x->op) && !event_inert(x))
			access_at(s, e);
		else
			see_thread(s, e);
	}
	s->seen += to - from;
}

static struct unexplained_search *search_new(const struct trace *t, guint most)
{
	if (t->threads_count < 2 || !t->values_exact || !t->order_exact || t->filtered ||
	    trace_model(t) != WEAK_SC)
		return NULL;
	struct unexplained_search *s = g_new0(struct unexplained_search, 1);
	s->t = t;
	s->threads = (uint32_t)t->threads_count;
	s->most = most;
	s->found = g_array_new(FALSE, FALSE, sizeof(struct unexplained_read));
	s->crowds = g_array_new(FALSE, FALSE, sizeof(struct crowd));
	s->contents = g_new(struct content, t->variables_count + 1);
	s->owners = g_new(uint32_t, t->blocks_count + 1);
	s->calls = g_new0(struct calls, t->threads_count + 1);
	for (uint64_t v = 0; v < t->variables_count; v++)
		s->contents[v] = (struct content){ .user = NOBODY };
	for (uint64_t b = 0; b < t->blocks_count; b++)
		s->owners[b] = NONE;
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (t->threads[u].stack != NONE)
			s->owners[t->threads[u].stack] = u;
	return s;
}

/* All but what was found; the trace may be closed. */
static void search_free(struct unexplained_search *s)
{
	g_free(s->contents);
	g_free(s->owners);
	for (uint32_t u = 0; u < s->threads; u++) {
		g_clear_pointer(&s->calls[u].begins, g_array_unref);
		g_clear_pointer(&s->calls[u].returned, g_array_unref);
	}
	g_free(s->calls);
	g_free(s->ends);
	g_array_unref(s->crowds);
	if (s->candidates) {
		g_array_unref(s->candidates);
		g_hash_table_destroy(s->noted);
	}
	g_free(s);
}

GArray *unexplained_reads(const struct trace *t, guint most)
{
	struct unexplained_search *s = search_new(t, most);
	if (s == NULL)
		return g_array_new(FALSE, FALSE, sizeof(struct unexplained_read));
	unexplained_see(s, 0, (uint32_t)t->events_count);
	GArray *found = s->found;
	search_free(s);
	return found;
}

struct unexplained_search *unexplained_begin(const struct trace *t)
{
	bool part = t->recorded != NULL || (t->index != NULL && t->index->whole != NULL);
	if (part || t->storage->unexplained_asked || t->storage->unexplained_begun)
		return NULL;
	t->storage->unexplained_begun = true;
	struct unexplained_search *s = search_new(t, G_MAXUINT);
	if (s != NULL) {
		s->candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate));
		s->noted = g_hash_table_new(hash_pointer, NULL);
	}
	return s;
}

void unexplained_drop(struct unexplained_search *s)
{
	if (s == NULL)
		return;
	g_array_unref(s->found);
	search_free(s);
}

void unexplained_end(struct unexplained_search *s)
{
	if (s == NULL)
		return;
	struct trace_storage *to = s->t->storage;
	bool all = s->seen == s->t->events_count && !to->unexplained_asked;
	for (guint i = 0; all && i < s->candidates->len && !to->unexplained_found; i++) {
		const struct candidate *c = &g_array_index(s->candidates, struct candidate, i);
		to->unexplained_found = is_unexplained(s, c);
		to->unexplained = c->read;
	}
	if (all)
		to->unexplained_asked =
		        to->unexplained_found || s->candidates->len < MOST_CANDIDATES;
	unexplained_drop(s);
}

const struct unexplained_read *unexplained_first(const struct trace *t)
{
	struct trace_storage *s = t->storage;
	if (!s->unexplained_asked) {
		g_autoptr(GArray) reads = unexplained_reads(t, 1);
		s->unexplained_asked = true;
		s->unexplained_found = reads->len > 0;
		if (s->unexplained_found)
			s->unexplained = g_array_index(reads, struct unexplained_read, 0);
	}
	return s->unexplained_found ? &s->unexplained : NULL;
}

/* "x = 5 at a.c:7", or without the value, where it is not known or the access has other bytes,
 * too. */
static void append_access(const struct trace *t, uint32_t event, uint32_t variable,
                          bool written, GString *out)
{
	struct wide of = event_variables(t, &t->events[event]);
	trace_append_variable(t, &t->events[event], out);
	uint32_t value = of.count == 1 ? value_of(t, event, written) : 0;
	if (value != 0) {
		g_string_append(out, " = ");
		shown_append(t, variable, value, event, out);
	}
	g_string_append_printf(out, " at %s", own_code_place_name(t, event));
}

void unexplained_append(const struct trace *t, const struct unexplained_read *r, GString *out)
{
	g_string_append_printf(out, "%s reads ",
	                       trace_string(t, t->threads[t->events[r->event].thread].name));
	append_access(t, r->event, r->variable, false, out);
	g_string_append(out, ", after ");
	append_access(t, r->before, r->variable, op_writes(t->events[r->before].op), out);
}
