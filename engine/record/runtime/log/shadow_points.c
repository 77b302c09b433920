/*
 * shadow_points.c - places in the program by number: accesses (points), and calls that are made
 * in others, as a tree (contexts). The log has each once, when a pair needs it (LOG_CONTEXT,
 * LOG_POINT).
 */
#include <signal.h>
#include <string.h>

#include "engine/record/runtime/log/access.h"
#include "shadow_private.h"

/* A call (struct frame) in its caller's context; 0 has no caller. */
struct told_context {
	uint64_t call, frame; /* frame: log_frame_word, its beginning that of the first one */
	uint32_t parent;
	bool told;
};
struct point {
	uint64_t access; /* pc, tag << 48, flags << 56 */
	bool told;
};

/* Numbers from 1 on, found by a hash. */
struct numbers {
	uint32_t count, room; /* room: a power of 2, twice the count at least */
	uint32_t *slots;
};
static struct numbers context_numbers, point_numbers;
static struct told_context *contexts;
static struct point *points;
struct shadow_point shadow_points[1 << SHADOW_POINT_BITS];

/* Doubles a table, and its items of `size` bytes each; their slots are found anew. */
static void more_room(struct numbers *n, void **items, size_t size, uint64_t (*hash)(uint32_t))
{
	enum { FIRST = 4096 };
	uint32_t room = n->room ? n->room * 2 : FIRST;
	void *copy = shadow_pages(room / 2 * size);
	if (n->room) {
		memcpy(copy, *items, n->room / 2 * size);
		rt_unpages(*items, n->room / 2 * size);
		rt_unpages(n->slots, n->room * sizeof(*n->slots));
	}
	*items = copy;
	n->slots = shadow_pages(room * sizeof(*n->slots));
	n->room = room;
	for (uint32_t i = 1; i <= n->count; i++) {
		uint64_t slot = hash(i) & (room - 1);
		while (n->slots[slot])
			slot = (slot + 1) & (room - 1);
		n->slots[slot] = i;
	}
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = (a ^ (b << 17 | b >> 47) ^ c * 0xc2b2ae3d27d4eb4fu) * HASH_FACTOR;
	return h ^ h >> 29;
}

static uint64_t context_hash(uint32_t i)
{
	const struct told_context *c = &contexts[i];
	return mixed(c->call, log_frame_function(c->frame), c->parent);
}

static uint64_t point_hash(uint32_t i)
{
	return mixed(points[i].access, 0, 0);
}

static uint32_t context_in(const struct thread *t, uint32_t parent, const struct frame *f)
{
	struct numbers *n = &context_numbers;
	uint64_t function = f->function & LOG_ADDRESS_MASK;
	if (unlikely(2 * (n->count + 2) > n->room))
		more_room(n, (void **)&contexts, sizeof(*contexts), context_hash);
	uint64_t slot = mixed(f->call, function, parent);
	for (;; slot++) {
		uint32_t i = n->slots[slot & (n->room - 1)];
		const struct told_context *c = &contexts[i];
		if (i == 0)
			break;
		if (c->call == f->call && c->parent == parent &&
		    log_frame_function(c->frame) == function)
			return i;
	}
	n->slots[slot & (n->room - 1)] = ++n->count;
	contexts[n->count] = (struct told_context){ f->call, frame_word(t, f), parent, false };
	return n->count;
}

/* The context of the frame's last call here, if it is of this one. */
static uint32_t again_in(uint32_t parent, const struct frame *f)
{
	const uint32_t last = (uint32_t)(f->context >> 32);
	const struct told_context *c = &contexts[last];
	return last && c->parent == parent && c->call == f->call &&
	                       log_frame_function(c->frame) == (f->function & LOG_ADDRESS_MASK)
	               ? last
	               : 0;
}

uint32_t shadow_new_context(struct thread *t)
{
	uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES, known = depth;
	while (known > 0 && (uint32_t)t->frames[known - 1].context == 0)
		known--;
	uint32_t context = known ? (uint32_t)t->frames[known - 1].context : 0;
	for (; known < depth; known++) {
		struct frame *f = &t->frames[known];
		frame_settle(t, known);
		const uint32_t again = again_in(context, f);
		context = again ? again : context_in(t, context, f);
		f->context = context;
	}
	return context;
}

static __attribute__((noinline)) uint32_t point_of(uint64_t access)
{
	struct numbers *n = &point_numbers;
	if (unlikely(2 * (n->count + 2) > n->room))
		more_room(n, (void **)&points, sizeof(*points), point_hash);
	uint64_t slot = mixed(access, 0, 0);
	for (;; slot++) {
		uint32_t i = n->slots[slot & (n->room - 1)];
		if (i == 0)
			break;
		if (points[i].access == access)
			return i;
	}
	if (unlikely(n->count + 1 == POINTS)) {
		rt_say("the program has too many accesses for --no-trace");
		rt_die(SIGABRT);
	}
	n->slots[slot & (n->room - 1)] = ++n->count;
	points[n->count] = (struct point){ access, false };
	return n->count;
}

uint32_t shadow_new_point(struct shadow_point *latest, uint64_t access)
{
	*latest = (struct shadow_point){ access, point_of(access) };
	return latest->number;
}

void shadow_tell(struct thread *t, uint32_t context, uint32_t point)
{
	for (uint32_t i = context; i && !contexts[i].told; i = contexts[i].parent) {
		struct told_context *c = &contexts[i];
		c->told = true;
		log_put(t->stream, log_word(LOG_CONTEXT, 0, i),
		        (uint64_t[]){ c->parent, c->call, c->frame }, 3);
	}
	if (!points[point].told)
		log_put(t->stream, log_word(LOG_POINT, 0, point),
		        (uint64_t[]){ points[point].access }, 1);
	points[point].told = true;
}
