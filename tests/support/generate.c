/*
 * generate.c - see generate.h.
 */
#include "tests/support/generate.h"

#include "engine/trace/builder/builder.h"
#include "engine/trace/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 256, MAX_NEST = 3, SITES = 2000, BURST = 8, SECTION = 6, WRITTEN = 200 };
/* Locations: initial writes, forks, joins and the last read, locks, accesses. */
enum {
	AT_START = 0,
	AT_FORK = 50,
	AT_JOIN = 80,
	AT_LOCK = 100,
	AT_INSIDE = 200,
	AT_OUTSIDE = 300,
	LOCATIONS = AT_OUTSIDE + SITES
};
enum { IN = 10000, WRITES = 3000, SHARED = 3000, GUARDED = 9990, LOCKS = 800, NESTS = 167 };

struct worker {
	uint32_t held[MAX_NEST], depth, left;
	uint32_t want; /* a lock, or NONE */
};
struct program {
	struct generate_shape shape;
	struct builder *b;
	struct worker workers[MAX_THREADS];
	bool *taken; /* by lock */
	uint32_t *locks, *places, *locations, *threads;
	uint32_t local, guarded, shared; /* how many variables of each kind, in this order */
	uint64_t random, count;
};

/* -- chance ------------------------------------------------------------------------------ */

static uint64_t next_random(struct program *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random >> 32;
}

static uint32_t below(struct program *p, uint32_t n)
{
	return (uint32_t)(next_random(p) * n >> 32);
}

static bool chance(struct program *p, uint32_t of_10000)
{
	return below(p, IN) < of_10000;
}

/* A few locks are taken most of the time. */
static uint32_t some_lock(struct program *p)
{
	double x = (double)next_random(p) / ((uint64_t)1 << 32);

	return (uint32_t)(p->shape.locks * x * x * x);
}

/* -- events ------------------------------------------------------------------------------ */

static void fail(const struct error *error)
{
	fprintf(stderr, "generate: %s\n", error->what);
	exit(1);
}

static void emit(struct program *p, uint32_t thread, enum op op, uint32_t target,
                 uint32_t location)
{
	struct event event = { .target = target,
		               .location = p->locations[location % LOCATIONS],
		               .thread = (uint16_t)p->threads[thread],
		               .op = (uint8_t)op };
	struct error error;

	if (!builder_add(p->b, event, 0, &error))
		fail(&error);
	p->count++;
}

static void access_one(struct program *p, uint32_t thread, uint32_t v, bool write,
                       uint32_t location)
{
	emit(p, thread, write ? OP_WRITE : OP_READ, p->places[v], location);
}

/* -- steps of a thread: false where it has to wait for its lock --------------------------- */

static bool acquire(struct program *p, uint32_t thread)
{
	struct worker *w = &p->workers[thread];

	if (p->taken[w->want])
		return false;
	p->taken[w->want] = true;
	emit(p, thread, OP_ACQ, p->locks[w->want], AT_LOCK + w->want % SITES);
	w->held[w->depth++] = w->want;
	w->want = NONE;
	w->left = 1 + below(p, 2 * SECTION);
	return true;
}

static void release(struct program *p, uint32_t thread)
{
	struct worker *w = &p->workers[thread];
	uint32_t lock = w->held[--w->depth];

	p->taken[lock] = false;
	w->left = w->depth > 0 ? below(p, SECTION) : 0;
	emit(p, thread, OP_REL, p->locks[lock], AT_LOCK + lock % SITES);
}

static bool inside(struct program *p, uint32_t thread)
{
	struct worker *w = &p->workers[thread];
	uint32_t lock = w->held[w->depth - 1], each = MAX(1, p->guarded / p->shape.locks), v;

	if (w->left == 0) {
		release(p, thread);
		return true;
	}
	w->left--;
	if (w->depth < MAX_NEST && chance(p, NESTS)) {
		uint32_t inner = lock + 1 + below(p, MAX(1, p->shape.locks / 8));

		if (inner < p->shape.locks) {
			w->want = inner;
			return acquire(p, thread);
		}
	}
	v = p->local + (lock * each + below(p, each)) % p->guarded;
	bool write = chance(p, WRITES);
	access_one(p, thread, v, write, AT_INSIDE + (v * 7 + write) % SITES);
	return true;
}

static bool outside(struct program *p, uint32_t thread)
{
	uint32_t own = MAX(1, p->local / p->shape.threads), v;
	bool write = false;

	if (chance(p, LOCKS)) {
		p->workers[thread].want = some_lock(p);
		return acquire(p, thread);
	}
	if (!chance(p, SHARED)) {
		v = (thread * own + below(p, own)) % p->local;
		write = chance(p, WRITES);
	} else if (p->shape.careful || chance(p, GUARDED)) {
		v = p->local + p->guarded + below(p, p->shared);
	} else {
		v = p->local + below(p, p->guarded);
		write = chance(p, WRITES);
	}
	access_one(p, thread, v, write, AT_OUTSIDE + (v * 13 + write) % SITES);
	return true;
}

static bool step(struct program *p, uint32_t thread)
{
	if (p->workers[thread].want != NONE)
		return acquire(p, thread);
	return p->workers[thread].depth > 0 ? inside(p, thread) : outside(p, thread);
}

/* -- the program --------------------------------------------------------------------------- */

static void begin(struct program *p)
{
	for (int i = 0; i < WRITTEN; i++)
		access_one(p, 0, p->local + p->guarded + below(p, p->shared), true,
		           AT_START + below(p, AT_FORK));
	for (uint32_t i = 1; i < p->shape.threads; i++)
		emit(p, 0, OP_FORK, p->threads[i], AT_FORK + i);
}

static void run(struct program *p)
{
	uint64_t end = p->shape.events - MIN(p->shape.events, 2 * p->shape.threads + 64);

	while (p->count < end) {
		uint32_t thread = below(p, p->shape.threads);
		uint32_t burst = 1 + below(p, 2 * BURST);

		while (burst-- > 0 && p->count < end && step(p, thread)) {
		}
	}
}

static void finish(struct program *p)
{
	for (uint32_t i = 0; i < p->shape.threads; i++) {
		while (p->workers[i].depth > 0)
			release(p, i);
	}
	for (uint32_t i = 1; i < p->shape.threads; i++)
		emit(p, 0, OP_JOIN, p->threads[i], AT_JOIN + i);
	access_one(p, 0, p->local + p->guarded, false, AT_LOCK - 1);
}

/* "T3"; of locations the number alone. */
static const char *named(const char *kind, uint32_t i)
{
	static char text[16];

	snprintf(text, sizeof(text), "%s%u", kind, i);
	return text;
}

static void declare(struct program *p)
{
	p->taken = g_new0(bool, p->shape.locks);
	p->locks = g_new(uint32_t, p->shape.locks);
	p->places = g_new(uint32_t, p->shape.variables);
	p->locations = g_new(uint32_t, LOCATIONS);
	p->threads = g_new(uint32_t, p->shape.threads);
	for (uint32_t i = 0; i < p->shape.threads; i++) {
		const char *name = named("T", i);

		p->threads[i] = builder_thread(p->b, name, strlen(name));
		p->workers[i].want = NONE;
	}
	for (uint32_t i = 0; i < p->shape.locks; i++) {
		const char *name = named("L", i);

		p->locks[i] = builder_object(p->b, name, strlen(name));
	}
	for (uint32_t i = 0; i < p->shape.variables; i++) {
		const char *name = named("V", i);

		p->places[i] = builder_place_text(p->b, name, strlen(name), 0);
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		const char *name = named("", i);

		p->locations[i] = builder_location(p->b, name, strlen(name));
	}
}

static struct trace *generate(struct generate_shape shape, struct trace_writer *writer)
{
	struct program *p = g_new0(struct program, 1);
	struct trace_options options = { .writer = writer };
	struct error error;

	shape.threads = CLAMP(shape.threads, 2, MAX_THREADS);
	shape.locks = MAX(shape.locks, 1);
	shape.variables = MAX(shape.variables, 3 * shape.threads);
	p->shape = shape;
	p->local = p->guarded = shape.variables / 3;
	p->shared = shape.variables - p->local - p->guarded;
	p->random = shape.seed * 0x9e3779b97f4a7c15u + 1;
	p->b = builder_new("generated", &options);
	declare(p);
	begin(p);
	run(p);
	finish(p);
	struct trace *t = builder_finish(p->b, true, &error);
	if (t == NULL)
		fail(&error);
	g_free(p->taken);
	g_free(p->locks);
	g_free(p->places);
	g_free(p->locations);
	g_free(p->threads);
	g_free(p);
	return t;
}

struct trace *generate_trace(struct generate_shape shape)
{
	return generate(shape, NULL);
}

void generate_file(struct generate_shape shape, const char *path)
{
	struct error error;
	struct trace_writer *writer = trace_writer_open(path, &error);

	if (writer == NULL)
		fail(&error);
	struct trace *t = generate(shape, writer);
	if (!trace_writer_end(writer, t, &error))
		fail(&error);
	trace_close(t);
}
