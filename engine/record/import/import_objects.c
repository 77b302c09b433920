/*
 * import_objects.c - identifies objects (locks, conditions, barriers, semaphores) of the log.
 * The log has addresses; an object is at an address from one initialisation to the next: a call
 * (LOG_INIT), or an assignment over a destroyed one, detected by the mark of destruction (enum
 * log_object_flag). Each life of a heap block has its own objects. Otherwise a use after the
 * destruction is a use after the end.
 */
#include <string.h>

#include "engine/record/import/import_private.h"
#include "engine/trace/channel.h"
#include "engine/base/hash.h"

/* An address with one object at a time. */
struct site {
	uint32_t region;
	uint64_t offset;
	uint32_t object;  /* in the builder; NONE: current object not used yet */
	uint32_t count;   /* number of objects so far */
	bool marked;      /* destroyed, with the mark */
	bool counted;     /* a semaphore with known count */
	bool initialised; /* by a call, and not destroyed */
	bool destroyed;   /* the object */
	uint32_t init; /* number of the initialisation that the next object begins with, + 1; 0
	                * (record_facts.inits) */
};

static guint site_hash(gconstpointer key)
{
	const struct site *s = key;
	uint64_t hash = hash_word(s->offset ^ (uint64_t)s->region << 40);
	return hash_top(hash);
}

static gboolean site_equal(gconstpointer a, gconstpointer b)
{
	const struct site *x = a, *y = b;
	return x->region == y->region && x->offset == y->offset;
}

GHashTable *import_objects_new(void)
{
	return g_hash_table_new_full(site_hash, site_equal, g_free, NULL);
}

/* NULL when the object does not exist and `make` is false. */
static struct site *site_of(struct import *im, uint64_t address, bool make)
{
	struct block_life *life = import_life(im, address);
	struct site key = { .region = life ? life->region : import_flat_region(im),
		            .offset = life ? address - life->low : import_address(im, address),
		            .object = NONE };
	struct site *site = g_hash_table_lookup(im->objects, &key);
	if (!site && make) {
		site = g_new(struct site, 1);
		*site = key;
		g_hash_table_add(im->objects, site);
	}
	return site;
}

/* Has the address no memory of its own: layout.h? */
static bool is_placeless(uint64_t address)
{
	return address < LOG_OMP_END ||
	       (address >= LOG_THREAD_OBJECTS && address <= LOG_THREAD_OBJECTS + LOG_THREADS);
}

static void append_placeless(uint64_t address, GString *name)
{
	if (address >= LOG_THREAD_OBJECTS)
		record_append_thread((uint32_t)(address - LOG_THREAD_OBJECTS), name);
	else if (address == LOG_HEAP_OBJECT)
		g_string_append(name, "heap");
	else if (address == LOG_OMP_CRITICAL)
		g_string_append(name, "omp_critical");
	else if (address == LOG_OMP_ATOMIC)
		g_string_append(name, "omp_atomic");
	else
		g_string_append_printf(name, "omp_barrier_%" G_GUINT64_FORMAT,
		                       1 + (address - LOG_OMP_BARRIERS) / LOG_OMP_STEP);
}

/* A unique name for the builder; the namer replaces it. */
static void begin_object(struct import *im, struct site *site, uint64_t address)
{
	g_autoptr(GString) name = g_string_new(NULL);
	const struct block_life *life = import_life(im, address);
	const struct record_module *m = record_module_of(im->facts->modules, address);
	if (is_placeless(address))
		append_placeless(address, name);
	else if (m && !(life && life->heap))
		record_append_offset(m, address, name);
	else
		g_string_append_printf(name, "r%u+%" G_GUINT64_FORMAT, site->region,
		                       site->offset);
	if (site->count++ > 0)
		g_string_append_printf(name, "#%u", site->count);
	site->object = builder_object(im->b, name->str, name->len);
	site->marked = site->counted = site->destroyed = false;
	if (site->init)
		g_array_index(im->facts->inits, struct record_init, site->init - 1).object =
		        site->object;
	site->init = 0;
	*import_number(im->object_addresses, site->object) = address;
	if (!is_placeless(address))
		builder_object_address(im->b, site->object, import_address(im, address));
	if (life && life->heap)
		builder_object_block(im->b, site->object, life->block);
}

/* The runtime does not count it as an event. Uses of destroyed objects refer to the destroyed
 * one, other misuse to the current one. */
void import_misuse(struct import *im, struct lane *lane, unsigned how, uint64_t pc,
                   uint64_t address)
{
	static const char *const words[] = {
#define M(name, word) word,
		LOG_MISUSES(M)
#undef M
	};
	if (how >= LOG_MISUSE_COUNT)
		return;
	uint32_t object = import_object(im, lane, LOG_ACQ,
	                                how == MISUSE_USE_DESTROYED ? LOG_DEAD : 0, address);
	import_event(im, lane,
	             (struct event){ .op = OP_MISUSE,
	                             .target = object,
	                             .location = import_location(im, pc),
	                             .aux = builder_value(im->b, V_TOKEN, words[how],
	                                                  strlen(words[how])) });
}

/* An initialisation of an object that was not destroyed is misuse, where its memory is the same
 * as at the initialisation before: static data, or one life of a heap block. (A stack's frames
 * are not known.) Where chunks are missing the destruction may have been in one. */
static void initialise(struct import *im, struct lane *lane, uint64_t pc, uint64_t address,
                       struct site *site)
{
	const struct block_life *life = import_life(im, address);
	bool known = life && !life->stack && !im->lacks_chunks;
	if (site->initialised && known)
		import_misuse(im, lane, MISUSE_INIT_TWICE, pc, address);
	site->initialised = true;
}

static void note_init(struct import *im, const struct lane *lane, uint64_t pc, uint64_t address,
                      struct site *site)
{
	const struct block_life *life = import_life(im, address);
	GArray *inits = im->facts->inits;
	if (!inits)
		return;
	bool known = life && !life->stack && !site->destroyed;
	struct record_init init = { .object = NONE,
		                    .previous = known ? site->object : NONE,
		                    .thread = lane->thread,
		                    .before = builder_event_count(im->b),
		                    .pc = pc };
	g_array_append_val(inits, init);
	site->init = inits->len;
}

void import_object_init(struct import *im, struct lane *lane, uint64_t pc, uint64_t address)
{
	struct site *site = site_of(im, address, true);
	note_init(im, lane, pc, address, site);
	if (pc != 0)
		initialise(im, lane, pc, address, site);
	else
		site->initialised = false;
	site->object = NONE;
}

uint32_t import_object(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                       uint64_t address)
{
	/* A waiter leaves the object at which it arrived, whatever has happened to it since. */
	if ((tag == LOG_WAKE || tag == LOG_DEPART) && lane->waits_at == address &&
	    lane->waits_for != NONE)
		return lane->waits_for;
	struct site *site = site_of(im, address, true);
	if (site->marked && !(flags & LOG_DEAD))
		site->object = NONE;
	if (site->object == NONE)
		begin_object(im, site, address);
	if (tag == LOG_DESTROY) {
		site->marked |= (flags & LOG_MARKED) != 0;
		site->initialised = false;
		site->destroyed = true;
	}
	if (tag == LOG_WAIT || tag == LOG_ARRIVE) {
		lane->waits_at = address;
		lane->waits_for = site->object;
	}
	return site->object;
}

char *import_message_name(struct import *im, uint64_t number)
{
	bool once = g_hash_table_contains(im->once, GSIZE_TO_POINTER(number));
	return g_strdup_printf("%s%" G_GUINT64_FORMAT, once ? "once" : "message", number);
}

uint32_t import_awaited(struct import *im, bool channel, uint64_t number)
{
	g_autofree char *name =
	        channel ? channel_name((unsigned)number) : import_message_name(im, number);
	return builder_object(im->b, name, strlen(name));
}

/* A named semaphore may be opened while in use: its first count is kept. */
void import_semaphore(struct import *im, struct lane *lane, unsigned flags, uint64_t pc,
                      uint64_t address, uint64_t count)
{
	struct site *site = site_of(im, address, true);
	if (flags & LOG_MADE) {
		note_init(im, lane, pc, address, site);
		initialise(im, lane, pc, address, site);
	}
	if (site->object == NONE || flags & LOG_MADE)
		begin_object(im, site, address);
	if (!site->counted)
		builder_semaphore(im->b, site->object, (int32_t)count);
	site->counted = true;
}
