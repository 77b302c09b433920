/*
 * stores.c - RC11: the stores of each atomic, and the choices of a load, a store or an
 * update.
 *
 * Coherence: a thread's view of a place is the last store, in modification order, that
 * happens before or was read by an event that happens before; it reads that one or a later
 * one, and inserts a store behind that one or a later one, but never between an update and
 * the store that it reads. As the event that comes is the last one in happens-before, nothing
 * else can be violated but the axiom about psc (order.c). A store's `released` is the view
 * that an acquire load joins when it reads it: release sequences and fences as in Lahav and
 * others, PLDI 2017.
 *
 * Memory holds the last store in modification order of every atomic.
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"
#include "views.h"

enum {
	TABLE = 1 << 14,
	KEPT = 48,
	ORDER_ACQUIRE = 2,
	ORDER_RELEASE = 3,
	ORDER_BOTH = 4,
	ORDER_SC = 5
};

/* The view that a thread released at the place; its later stores there carry it, too. */
struct own_release {
	struct own_release *next;
	uint32_t thread;
	struct view view;
};

static struct location *table[TABLE]; /* by the aligned 8-byte word in which they begin */
static uint32_t location_count;
static struct store *spare;

static bool acquires(unsigned order)
{
	return order == ORDER_ACQUIRE || order >= ORDER_BOTH;
}

static bool releases(unsigned order)
{
	return order >= ORDER_RELEASE;
}

static uint64_t value_at(const struct location *l)
{
	uint64_t value = 0;
	memcpy(&value, (const void *)l->address, l->size);
	return value;
}

static struct location **slot_of(uintptr_t address)
{
	return &table[((address >> 3) * HASH_FACTOR >> 40) % TABLE];
}

static struct store *new_store(void)
{
	struct store *s = spare ? spare : memory_new(sizeof(*s));
	spare = spare ? spare->next : NULL;
	memset(s, 0, sizeof(*s));
	return s;
}

static void drop_store(struct location *l, struct store *s)
{
	for (struct access *a = l->log; a; a = a->next)
		if (a->store == s)
			a->store = NULL; /* before all others */
	if (l->newest == s)
		l->newest = NULL;
	s->next = spare;
	spare = s;
	l->count--;
}

void stores_number(struct location *l)
{
	uint32_t number = 0;
	for (struct store *s = l->first; s; s = s->next)
		s->number = number++;
}

/* `s` stands behind `after`; NULL: it is the only one. */
static void insert(struct location *l, struct store *s, struct store *after)
{
	s->previous = after;
	s->next = after ? after->next : NULL;
	*(s->next ? &s->next->previous : &l->last) = s;
	*(after ? &after->next : &l->first) = s;
	l->count++;
	l->newest = s;
	while (l->count > KEPT && !rt.replay) {
		struct store *oldest = l->first;
		l->first = oldest->next;
		l->first->previous = NULL;
		l->first->known = true;
		l->first->updates = false;
		drop_store(l, oldest);
	}
}

static struct location *new_location(uintptr_t address, unsigned size)
{
	struct location *l = memory_new(sizeof(*l)), **slot = slot_of(address);
	l->address = address;
	l->size = (uint8_t)size;
	struct store *s = new_store();
	s->initial = s->known = true;
	s->step = STEP_INITIAL;
	s->value = value_at(l);
	insert(l, s, NULL);
	l->next = *slot;
	*slot = l;
	location_count++;
	return l;
}

static bool overlaps(const struct location *l, uintptr_t address, size_t size)
{
	return l->address < address + size && address < l->address + l->size;
}

static void alone(struct location *l, const char *why)
{
	if (!l->last_alone)
		memory_note(why);
	l->last_alone = true;
}

/* The atomic of these bytes; atomics of another size there are sequentially consistent. */
static struct location *location_of(uintptr_t address, unsigned size)
{
	struct location *found = NULL;
	bool mixed = false;
	for (uintptr_t word = address >> 3; word <= (address + size - 1) >> 3; word++)
		for (struct location *l = *slot_of(word << 3); l; l = l->next)
			if (l->address == address && l->size == size)
				found = l;
	for (uintptr_t word = (address >> 3) - 1; word <= (address + size - 1) >> 3; word++)
		for (struct location *l = *slot_of(word << 3); l; l = l->next)
			if (l != found && overlaps(l, address, size)) {
				alone(l, "atomics of mixed sizes were sequentially "
				         "consistent");
				mixed = true;
			}
	if (!found)
		found = new_location(address, size);
	if (mixed) {
		alone(found, "atomics of mixed sizes were sequentially consistent");
		stores_checkpoint();
	}
	if (found->last->unknown) {
		found->last->value = value_at(found);
		found->last->unknown = false;
	} else if (found->last->value != value_at(found)) { /* a write was not seen */
		struct store *s = new_store();
		s->value = value_at(found);
		s->known = s->initial = true;
		insert(found, s, found->last);
		alone(found, "code that is not instrumented wrote to atomics, which were "
		             "sequentially consistent");
	}
	return found;
}

void stores_checkpoint(void)
{
	for (unsigned i = 0; i < TABLE; i++)
		for (struct location *l = table[i]; l; l = l->next) {
			l->last->known = true;
			order_forget(l->log);
			l->log = NULL;
			l->accesses = 0;
		}
}

/* ---- plain accesses ---- */

static bool knows(const struct store *s, const struct view *v)
{
	if (s->known || s->initial)
		return true;
	for (unsigned i = 0; i < WEAK_THREADS; i++)
		if (s->seen[i] && s->seen[i] <= v->clock[i])
			return true;
	return false;
}

static bool all_before(const struct location *l, const struct view *v)
{
	for (unsigned i = 0; i < WEAK_THREADS; i++)
		if (l->latest[i] > v->clock[i])
			return false;
	return true;
}

static void plain(struct thread *t, struct views *v, struct location *l, bool write)
{
	static const char why[] = "atomics with plain accesses beside them were sequentially "
	                          "consistent";
	if (!v || (write ? !all_before(l, &v->now) : !knows(l->last, &v->now))) {
		alone(l, why);
		if (write)
			stores_checkpoint();
	}
	if (!write)
		return;
	struct store *s = new_store();
	s->unknown = s->known = true;
	s->thread = t->id;
	s->ordinal = t->ordinal - 1;
	s->step = replay_made(); /* its event is written */
	insert(l, s, l->last);
}

void stores_plain(struct thread *t, bool write, uintptr_t address, size_t size)
{
	struct views *v = views_of(t);
	if (v)
		order_elsewhere(v);
	if (location_count == 0 || size == 0)
		return;
	uintptr_t first = (address >> 3) - 1, last = (address + size - 1) >> 3;
	bool many = last - first > TABLE;
	for (unsigned i = 0; many && i < TABLE; i++)
		for (struct location *l = table[i]; l; l = l->next)
			if (overlaps(l, address, size))
				plain(t, v, l, write);
	for (uintptr_t word = first; !many && word <= last; word++)
		for (struct location *l = *slot_of(word << 3); l; l = l->next)
			if (l->address >> 3 == word && overlaps(l, address, size))
				plain(t, v, l, write);
}

/* The memory there begins a new life. */
void stores_forget(uintptr_t address, size_t size)
{
	for (unsigned i = 0; location_count && i < TABLE; i++)
		for (struct location **at = &table[i]; *at;) {
			struct location *l = *at;
			if (!overlaps(l, address, size)) {
				at = &l->next;
				continue;
			}
			*at = l->next;
			location_count--;
			order_forget(l->log);
			while (l->first) {
				struct store *s = l->first;
				l->first = s->next;
				s->next = spare;
				spare = s;
			}
		}
}

/* ---- choices ---- */

static struct store *of_step(struct location *l, uint32_t step)
{
	for (struct store *s = l->last; s; s = s->previous)
		if (s->step == step)
			return s;
	return NULL;
}

/* An access while it is made. */
struct making {
	struct thread *t;
	struct views *v; /* NULL: sequentially consistent */
	struct location *l;
	const struct log_step *step; /* of the plan, or NULL */
	unsigned order;
	struct choice choice;
};

static struct making begin(struct thread *t, uintptr_t address, unsigned code, unsigned order)
{
	struct making m = { .t = t, .v = views_of(t), .order = order };
	m.l = location_of(address, 1u << code);
	m.step = replay_step(t);
	order_prepare(m.l);
	if (m.v)
		view_renew(&m.v->now);
	return m;
}

static bool free_behind(const struct store *s)
{
	return !s->next || !s->next->updates;
}

/* Sets the choice; is it consistent? */
static bool allowed(struct making *m, struct store *reads, struct store *after)
{
	m->choice = (struct choice){ .at = m->l,
		                     .reads = reads,
		                     .after = after,
		                     .sc = m->order == ORDER_SC,
		                     .acquired = reads && acquires(m->order) ? &reads->released
		                                                             : NULL };
	return (!after || free_behind(after)) && order_allows(m->v, &m->choice);
}

/*
 * Chooses by chance one of the stores that the thread may see (or be inserted behind), the
 * last one half of the time. `equals`: an update is made if the store has this value, else it
 * is a load, of the order `failure`.
 */
static void choose(struct making *m, bool reads, bool writes, const uint64_t *equals,
                   unsigned failure)
{
	unsigned order = m->order, count = 0;
	struct store *last = m->l->last, *taken = last;
	bool choose = m->v && memory_chooses() && !m->l->last_alone && !rt.waiting;
	if (choose && memory_chance(1))
		choose = false;
	for (struct store *s = last; choose; s = s->previous) {
		bool made = writes && (!equals || s->value == *equals);
		m->order = !writes || made ? order : failure;
		if (allowed(m, reads ? s : NULL, made ? s : NULL) &&
		    next_random() % ++count == 0)
			taken = s;
		if (knows(s, &m->v->now) || !s->previous)
			break;
	}
	bool made = writes && (!equals || taken->value == *equals);
	m->order = !writes || made ? order : failure;
	if (m->v)
		allowed(m, reads ? taken : NULL, made ? taken : NULL);
	else
		m->choice = (struct choice){ .at = m->l,
			                     .reads = reads ? taken : NULL,
			                     .after = made ? taken : NULL };
}

/* Chooses as the plan says. False: not possible. */
static bool follow(struct making *m, bool reads, bool writes, const uint64_t *equals,
                   unsigned failure)
{
	uint32_t step = reads ? m->step->reads : m->step->after;
	struct store *s = step == STEP_LAST ? m->l->last : of_step(m->l, step);
	if (!s)
		return false;
	bool made = writes && (!equals || s->value == *equals);
	if (writes && !made)
		m->order = failure;
	m->choice = (struct choice){ .at = m->l,
		                     .reads = reads ? s : NULL,
		                     .after = made ? s : NULL,
		                     .sc = m->order == ORDER_SC,
		                     .acquired = reads && acquires(m->order) ? &s->released
		                                                             : NULL };
	return !made || free_behind(s);
}

static void decide(struct making *m, bool reads, bool writes, const uint64_t *equals,
                   unsigned failure, uintptr_t pc)
{
	if (m->step && follow(m, reads, writes, equals, failure))
		return;
	if (m->step && (m->step->reads || m->step->after))
		replay_refuse(m->t, pc);
	m->step = NULL;
	choose(m, reads, writes, equals, failure);
}

/* ---- effects of a choice ---- */

static struct view *own_release(struct location *l, uint32_t thread, bool make)
{
	for (struct own_release *r = l->releases; r; r = r->next)
		if (r->thread == thread)
			return &r->view;
	if (!make)
		return NULL;
	struct own_release *r = memory_new(sizeof(*r));
	r->thread = thread;
	r->next = l->releases;
	l->releases = r;
	return &r->view;
}

/* A record about the thread's next event. */
static void tell(struct thread *t, enum log_tag tag, const struct store *s)
{
	log_before(t);
	uint64_t ordinal = s->ordinal;
	log_put(t->stream, log_word(tag, 0, s->initial ? LOG_ALL_THREADS : s->thread), &ordinal,
	        1);
}

static void release_to(struct making *m, struct store *s)
{
	struct views *v = m->v;
	struct view *own = own_release(m->l, m->t->id, releases(m->order));
	if (releases(m->order))
		*own = v->now;
	else if (v->has_released)
		view_join(&s->released, &v->released);
	if (own)
		view_join(&s->released, own);
	if (m->choice.reads)
		view_join(&s->released, &m->choice.reads->released);
}

/* Makes the event happen; `value`: of its store. Memory is not written here. */
static void commit(struct making *m, uint64_t value)
{
	struct thread *t = m->t;
	struct choice *c = &m->choice;
	struct store *made = NULL, *read = c->reads;
	bool last = !c->after || c->after == m->l->last;
	if (read && read != m->l->newest)
		tell(t, LOG_READS, read);
	else if (c->after && !read && !last)
		tell(t, LOG_AFTER, c->after);
	uint32_t index = 0;
	if (m->v)
		index = ++m->v->now.clock[t->id];
	if (c->after) {
		made = new_store();
		made->value = value;
		made->thread = t->id;
		made->index = index;
		made->ordinal = t->ordinal;
		made->updates = read != NULL;
		made->initial = rt.waiting; /* it has no event */
		made->step = m->step ? STEP_STORE + replay_step_number(m->step) : 0;
		insert(m->l, made, c->after);
	}
	if (!m->v)
		return;
	m->l->latest[t->id] = index;
	if (read && !read->seen[t->id])
		read->seen[t->id] = index;
	if (made)
		made->seen[t->id] = index;
	order_commit(m->v, t->id, index, c, made);
	if (read)
		view_join(&m->v->seen, &read->released);
	if (made)
		release_to(m, made);
}

static void set_memory(volatile void *p, unsigned code, uint64_t value)
{
	switch (code) {
	case 0:
		__atomic_store_n((volatile uint8_t *)p, (uint8_t)value, __ATOMIC_SEQ_CST);
		break;
	case 1:
		__atomic_store_n((volatile uint16_t *)p, (uint16_t)value, __ATOMIC_SEQ_CST);
		break;
	case 2:
		__atomic_store_n((volatile uint32_t *)p, (uint32_t)value, __ATOMIC_SEQ_CST);
		break;
	default:
		__atomic_store_n((volatile uint64_t *)p, value, __ATOMIC_SEQ_CST);
	}
}

static uint64_t get_memory(const volatile void *p, unsigned code)
{
	uint64_t value = 0;
	memcpy(&value, (const void *)p, (size_t)1 << code);
	return value;
}

static uint64_t updated(enum update how, uint64_t old, uint64_t v, unsigned code)
{
	uint64_t mask = code < 3 ? (1ull << (8u << code)) - 1 : UINT64_MAX, value = v;
	switch (how) {
	case UPDATE_EXCHANGE:
		break;
	case UPDATE_ADD:
		value = old + v;
		break;
	case UPDATE_SUB:
		value = old - v;
		break;
	case UPDATE_AND:
		value = old & v;
		break;
	case UPDATE_OR:
		value = old | v;
		break;
	case UPDATE_XOR:
		value = old ^ v;
		break;
	case UPDATE_NAND:
		value = ~(old & v);
	}
	return value & mask;
}

/* ---- the operations ---- */

uint64_t memory_load(struct thread *t, const volatile void *p, unsigned code, unsigned order,
                     uintptr_t pc)
{
	if (rt.memory == LOG_TSO) {
		buffers_tick(t);
		buffers_touched(t, (uintptr_t)p, (size_t)1 << code);
		uint64_t value = get_memory(p, code);
		log_access(t, LOG_AREAD, order, pc, (const void *)p, code, true, value);
		return value;
	}
	struct making m = begin(t, (uintptr_t)p, code, order);
	decide(&m, true, false, NULL, order, pc);
	uint64_t value = m.choice.reads->value;
	commit(&m, 0);
	log_access(t, LOG_AREAD, order, pc, (const void *)p, code, true, value);
	return value;
}

void memory_store(struct thread *t, volatile void *p, unsigned code, uint64_t value,
                  unsigned order, uintptr_t pc)
{
	if (rt.memory == LOG_TSO) {
		buffers_tick(t);
		buffers_touched(t, (uintptr_t)p, (size_t)1 << code);
		if (order == ORDER_SC)
			buffers_leave(t);
		else
			buffers_room(t);
		t->memory.buffers = order != ORDER_SC && !rt.waiting;
		log_access(t, LOG_AWRITE, order, pc, (const void *)p, code, true, value);
		set_memory(p, code, value);
		return;
	}
	struct making m = begin(t, (uintptr_t)p, code, order);
	decide(&m, false, true, NULL, order, pc);
	bool last = m.choice.after == m.l->last;
	commit(&m, value);
	log_access(t, LOG_AWRITE, order, pc, (const void *)p, code, true, value);
	if (last)
		set_memory(p, code, value);
}

uint64_t memory_update(struct thread *t, volatile void *p, unsigned code, enum update how,
                       uint64_t value, unsigned order, uintptr_t pc, uint64_t *made)
{
	if (rt.memory == LOG_TSO) {
		buffers_tick(t);
		buffers_touched(t, (uintptr_t)p, (size_t)1 << code);
		buffers_leave(t);
		uint64_t old = get_memory(p, code);
		*made = updated(how, old, value, code);
		set_memory(p, code, *made);
		log_rmw(t, order, pc, (const void *)p, code, old, *made);
		return old;
	}
	struct making m = begin(t, (uintptr_t)p, code, order);
	decide(&m, true, true, NULL, order, pc);
	uint64_t old = m.choice.reads->value;
	bool last = m.choice.after == m.l->last;
	*made = updated(how, old, value, code);
	commit(&m, *made);
	log_rmw(t, order, pc, (const void *)p, code, old, *made);
	if (last)
		set_memory(p, code, *made);
	return old;
}

bool memory_compare(struct thread *t, volatile void *p, unsigned code, uint64_t *expected,
                    uint64_t value, unsigned order, unsigned failure, uintptr_t pc)
{
	if (rt.memory == LOG_TSO) {
		buffers_tick(t);
		buffers_touched(t, (uintptr_t)p, (size_t)1 << code);
		buffers_leave(t);
		uint64_t old = get_memory(p, code);
		bool done = old == *expected;
		if (done) {
			set_memory(p, code, value);
			log_rmw(t, order, pc, (const void *)p, code, old, value);
		} else {
			log_access(t, LOG_AREAD, failure | LOG_VOLATILE, pc, (const void *)p,
			           code, true, old);
		}
		*expected = old;
		return done;
	}
	struct making m = begin(t, (uintptr_t)p, code, order);
	decide(&m, true, true, expected, failure, pc);
	uint64_t old = m.choice.reads->value;
	bool done = m.choice.after != NULL, last = m.choice.after == m.l->last;
	commit(&m, value);
	if (done)
		log_rmw(t, order, pc, (const void *)p, code, old, value);
	else
		log_access(t, LOG_AREAD, failure | LOG_VOLATILE, pc, (const void *)p, code,
		           true, old);
	if (done && last)
		set_memory(p, code, value);
	*expected = old;
	return done;
}

void stores_fence(struct thread *t, unsigned order)
{
	struct views *v = views_of(t);
	if (!v)
		return;
	if (acquires(order))
		view_join(&v->now, &v->seen);
	uint32_t index = ++v->now.clock[t->id];
	order_fence(v, t->id, index, order == ORDER_SC);
	if (releases(order)) {
		v->released = v->now;
		v->has_released = true;
	}
}

/* A seq_cst operation at a place of its own, in the order of the run: it is ordered with all
 * others. */
void stores_wide(struct thread *t)
{
	struct views *v = views_of(t);
	stores_checkpoint();
	if (!v)
		return;
	views_event(t, LOG_ACQ, UINTPTR_MAX);
	views_event(t, LOG_REL, UINTPTR_MAX);
}
