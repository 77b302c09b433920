/*
 * views.c - RC11: happens-before, with the thread library's edges.
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"
#include "views.h"

static struct views *all[WEAK_THREADS];
static bool given_up;

static struct views *numbered(uint32_t id)
{
	if (id >= WEAK_THREADS) {
		if (!given_up) {
			memory_note("more than 64 threads: sequentially consistent from there");
			stores_checkpoint();
		}
		given_up = true;
		return NULL;
	}
	if (!all[id])
		all[id] = memory_new(sizeof(*all[id]));
	return all[id];
}

struct views *views_of(struct thread *t)
{
	return given_up ? NULL : numbered(t->id);
}

void view_renew(struct view *v)
{
	if (v->generation == nodes_generation)
		return;
	v->generation = nodes_generation;
	memset(&v->fences, 0, sizeof(v->fences));
	memset(&v->into, 0, sizeof(v->into));
	memset(&v->across, 0, sizeof(v->across));
}

void view_join(struct view *v, const struct view *other)
{
	for (unsigned i = 0; i < WEAK_THREADS; i++)
		if (other->clock[i] > v->clock[i])
			v->clock[i] = other->clock[i];
	if (other->generation != nodes_generation)
		return;
	view_renew(v);
	nodes_join(&v->fences, &other->fences);
	nodes_join(&v->into, &other->into);
	nodes_join(&v->across, &other->across);
}

/* ---- the thread library ---- */

/* The view released at an object (or with a message): by address and kind. */
struct released {
	struct released *next;
	uintptr_t object;
	unsigned kind;
	struct view view;
};
enum { TABLE = 4096, OBJECT = 0, READERS = 1, MESSAGE = 2 };
static struct released *table[TABLE];

static struct view *at(uintptr_t object, unsigned kind)
{
	struct released **slot = &table[((object >> 3 ^ kind) * HASH_FACTOR >> 40) % TABLE];
	for (struct released *r = *slot; r; r = r->next)
		if (r->object == object && r->kind == kind)
			return &r->view;
	struct released *r = memory_new(sizeof(*r));
	r->object = object;
	r->kind = kind;
	r->next = *slot;
	*slot = r;
	return &r->view;
}

/*
 * Synchronises-with of the library's operations.  A wait of a condition is its mutex's release
 * and acquire; an order of the signal before the woken thread would forbid no behaviour of
 * programs that wait in a loop.
 */
void views_event(struct thread *t, enum log_tag tag, uintptr_t object)
{
	struct views *v = views_of(t), *other;
	if (!v)
		return;
	switch (tag) {
	case LOG_REL:
	case LOG_POST:
	case LOG_SIGNAL:
	case LOG_BROADCAST:
	case LOG_ARRIVE:
		view_join(at(object, OBJECT), &v->now);
		break;
	case LOG_RREL:
		view_join(at(object, READERS), &v->now);
		break;
	case LOG_SND:
		view_join(at(object, MESSAGE), &v->now);
		break;
	case LOG_ACQ:
		view_join(&v->now, at(object, READERS));
		/* fall through */
	case LOG_RACQ:
	case LOG_TAKE:
	case LOG_WAKE:
	case LOG_DEPART:
		view_join(&v->now, at(object, OBJECT));
		break;
	case LOG_RCV:
		view_join(&v->now, at(object, MESSAGE));
		break;
	case LOG_FORK:
		if ((other = numbered((uint32_t)object)))
			view_join(&other->now, &v->now);
		break;
	case LOG_JOIN:
		if ((other = numbered((uint32_t)object)))
			view_join(&v->now, &other->now);
		break;
	default:
		return;
	}
	order_elsewhere(v);
}
