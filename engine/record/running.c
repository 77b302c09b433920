/*
 * running.c - see running.h. All records but accesses and calls go through the importer, whose
 * events they become; accesses, which are most, go to the sink without values, names and
 * contexts of the builder.
 */
#include <string.h>

#include "engine/base/hash.h"
#include "engine/record/import_private.h"
#include "engine/record/running.h"
#include "engine/record/so_far.h"

/* A call, in the tree of calling contexts; 0: none. */
struct call {
	uint32_t parent;
	uint64_t function, pc, frame; /* as in LOG_ENTER */
};
/* An access of the program in a context. */
struct point {
	uint32_t context, site;
};
struct running_place { /* a site */
	enum log_tag tag;
	unsigned flags;
	uint64_t pc;
};
struct recent_point {
	uint64_t key;
	uint32_t point; /* + 1 */
};

struct calling { /* a thread */
	uint32_t context, depth, missing;
};

/* Where a block was allocated. */
struct allocated {
	uint32_t thread, context; /* the runtime's number */
	uint64_t pc, words[3];
};

struct variable_range {
	uint64_t address;
	uint32_t size; /* 0: it is no variable any more */
	const struct block_life *life;
};
enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, PAGES = 1024, POINTS = 4096 };
enum { MOST_BYTES = 1 << 30 }; /* of one access; a damaged log may have any number */
struct memory_page {
	uint64_t number;
	uint32_t at[PAGE_BYTES]; /* by byte: variable + 1, or 0 */
};

struct running {
	struct running_sink sink;
	struct so_far *log;
	char *path;
	struct record_facts facts;
	struct log_header header;
	struct import *im; /* NULL: the log has no header yet */
	uint32_t thread;   /* of the next record, the runtime's number */
	uint32_t events;   /* so far */
	GArray *threads;   /* struct calling, by the runtime's number */
	GArray *calls;     /* struct call */
	GArray *points;    /* struct point */
	GArray *places;    /* struct running_place: sites */
	GHashTable *call_of, *point_of, *place_of; /* hash of the key -> index + 1 */
	struct recent_point recent[POINTS];
	GHashTable *pages; /* number -> struct memory_page, owned */
	struct memory_page *page[PAGES];
	GArray *variables;     /* struct variable_range */
	GArray *covered;       /* uint32_t: the variables of an access */
	GHashTable *allocated; /* life -> struct allocated, owned */
	GPtrArray *kept;       /* struct log_record, with words: of modules and threads */
};

/* -- interning ----------------------------------------------------------------------------- */

/* The index of an element by its key's hash (two keys of one hash are taken for one: the chance
 * is 1 in 2^64), or of the new one. */
static uint32_t intern(GHashTable *table, uint64_t key, GArray *array, gconstpointer element)
{
	gpointer found = g_hash_table_lookup(table, GSIZE_TO_POINTER(key));
	if (found == NULL) {
		g_array_append_vals(array, element, 1);
		found = GUINT_TO_POINTER(array->len);
		g_hash_table_insert(table, GSIZE_TO_POINTER(key), found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

static uint64_t key_of(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = hash_word(a + 1);
	hash = hash_join(hash ^ hash >> 29, b);
	return hash_join(hash ^ hash >> 29, c);
}

static uint32_t place_of(struct running *r, const struct log_record *record)
{
	unsigned flags = record->flags & (LOG_ORDER_MASK | LOG_VOLATILE);
	struct running_place p = { record->tag, flags, record->pc };
	return intern(r->place_of, key_of(p.tag, p.flags, p.pc), r->places, &p);
}

static uint32_t point_of(struct running *r, uint32_t context, const struct log_record *record)
{
	unsigned flags = record->flags & (LOG_ORDER_MASK | LOG_VOLATILE);
	uint64_t key = key_of(context, record->tag | flags << 8, record->pc);
	struct recent_point *recent = &r->recent[key >> 40 & (POINTS - 1)];
	if (recent->point == 0 || recent->key != key) {
		struct point p = { context, place_of(r, record) };
		recent->key = key;
		recent->point = intern(r->point_of, key, r->points, &p) + 1;
	}
	return recent->point - 1;
}

/* -- memory -------------------------------------------------------------------------------- */

static uint32_t *byte_at(struct running *r, uint64_t address)
{
	uint64_t number = address >> PAGE_BITS;
	struct memory_page **page = &r->page[number % PAGES];
	if (*page == NULL || (*page)->number != number) {
		gpointer key = GSIZE_TO_POINTER(number);
		*page = g_hash_table_lookup(r->pages, key);
		if (*page == NULL) {
			*page = g_new0(struct memory_page, 1);
			(*page)->number = number;
			g_hash_table_insert(r->pages, key, *page);
		}
	}
	return &(*page)->at[address % PAGE_BYTES];
}

static struct variable_range *range_at(struct running *r, uint32_t variable)
{
	return &g_array_index(r->variables, struct variable_range, variable);
}

/* The variable at a byte; NONE: none yet in this life of the memory. */
static uint32_t variable_at(struct running *r, uint64_t address, const struct block_life *life)
{
	uint32_t variable = *byte_at(r, address) - 1;
	if (variable == NONE)
		return NONE;
	const struct variable_range *v = range_at(r, variable);
	bool is = v->life == life && address >= v->address && address - v->address < v->size;
	return is ? variable : NONE;
}

static void set_bytes(struct running *r, uint32_t variable)
{
	const struct variable_range v = *range_at(r, variable);
	for (uint32_t i = 0; i < v.size; i++)
		*byte_at(r, v.address + i) = variable + 1;
}

/* New memory: the variable that has been there in an earlier life is used again if it has the
 * same bytes. */
static uint32_t new_variable(struct running *r, struct variable_range range)
{
	uint32_t variable = *byte_at(r, range.address) - 1;
	if (variable != NONE && range_at(r, variable)->address == range.address &&
	    range_at(r, variable)->size == range.size) {
		*range_at(r, variable) = range;
		r->sink.renew(r->sink.context, variable);
	} else {
		variable = r->variables->len;
		g_array_append_val(r->variables, range);
	}
	set_bytes(r, variable);
	return variable;
}

/* From `address` on the bytes of a variable are another. */
static uint32_t split(struct running *r, uint32_t variable, uint64_t address)
{
	struct variable_range *v = range_at(r, variable), rest = *v;
	uint32_t made = r->variables->len;
	v->size = (uint32_t)(address - v->address);
	rest.address = address;
	rest.size -= v->size;
	g_array_append_val(r->variables, rest);
	set_bytes(r, made);
	r->sink.split(r->sink.context, variable, made);
	return made;
}

static void cover_slowly(struct running *r, struct variable_range access)
{
	uint64_t end = access.address + access.size;
	for (uint64_t at = access.address; at < end;) {
		uint32_t variable = variable_at(r, at, access.life);
		if (variable == NONE) {
			uint64_t to = at + 1;
			while (to < end && variable_at(r, to, access.life) == NONE)
				to++;
			struct variable_range fresh = { at, (uint32_t)(to - at), access.life };
			variable = new_variable(r, fresh);
		} else if (range_at(r, variable)->address < at) {
			variable = split(r, variable, at);
		}
		const struct variable_range *v = range_at(r, variable);
		if (v->address + v->size > end)
			split(r, variable, end);
		g_array_append_val(r->covered, variable);
		at += range_at(r, variable)->size;
	}
}

/* The variables of an access, into r->covered. */
static void cover(struct running *r, struct variable_range access)
{
	uint32_t variable = *byte_at(r, access.address) - 1;
	g_array_set_size(r->covered, 0);
	if (variable != NONE && range_at(r, variable)->address == access.address &&
	    range_at(r, variable)->size == access.size &&
	    range_at(r, variable)->life == access.life)
		g_array_append_val(r->covered, variable);
	else
		cover_slowly(r, access);
}

/* -- records ------------------------------------------------------------------------------- */

static struct calling *calling_at(struct running *r, uint32_t thread)
{
	if (r->threads->len <= thread)
		g_array_set_size(r->threads, thread + 1);
	return &g_array_index(r->threads, struct calling, thread);
}

static void take_access(struct running *r, const struct log_record *record)
{
	_Static_assert(LOG_RMW - LOG_READ == OP_RMW - OP_READ, "in the same order");
	uint64_t address = record->address & LOG_ADDRESS_MASK;
	unsigned order = record->flags & LOG_ORDER_MASK;
	if (record->size == 0 || record->size > MOST_BYTES)
		return;
	const struct block_life *life = import_life(r->im, address);
	struct flow_event x = {
		.op = (enum op)(OP_READ + (record->tag - LOG_READ)),
		.flags = (uint8_t)MIN(order, (unsigned)ORDER_SEQ_CST),
		.thread = import_lane(r->im, r->thread)->thread,
		.number = r->events++,
		.target = NONE,
		.block = life ? life->block : NONE,
		.point = point_of(r, calling_at(r, r->thread)->context, record),
	};
	cover(r, (struct variable_range){ address, (uint32_t)record->size, life });
	x.variables = (const uint32_t *)(void *)r->covered->data;
	x.variables_count = r->covered->len;
	r->sink.event(r->sink.context, &x);
}

static void leave(struct running *r, struct calling *c, uint64_t frames)
{
	for (; frames > 0 && c->depth > 0; frames--) {
		c->context = g_array_index(r->calls, struct call, c->context).parent;
		c->depth--;
		r->events++;
	}
}

static void enter(struct running *r, const struct log_record *record)
{
	struct calling *c = calling_at(r, r->thread);
	leave(r, c, record->left);
	struct call call = { c->context, record->address, record->pc, record->value };
	c->context = intern(r->call_of, key_of(call.parent, call.function, call.pc), r->calls,
	                    &call);
	c->depth++;
	r->events++;
}

/* The importer's new events. */
static void pass_on(struct running *r, uint32_t from)
{
	struct builder *b = r->im->b;
	for (uint32_t i = from; i < builder_event_count(b); i++) {
		const struct event *e = builder_event(b, i);
		struct flow_event x = { .op = (enum op)e->op,
			                .flags = e->flags,
			                .thread = e->thread,
			                .number = r->events++,
			                .target = e->target,
			                .block = NONE };
		if (op_table[e->op].operand == OPERAND_OBJECT) {
			const struct object *o = builder_object_at(b, e->target);
			bool ends = op_tells(x.op) || x.op == OP_WAKE || x.op == OP_DEPART;
			x.count = o->count;
			x.block = ends && !event_inert(e) ? NONE : o->block;
		}
		r->sink.event(r->sink.context, &x);
	}
}

static void keep(struct running *r, const struct log_record *record)
{
	uint64_t words = record->tag == LOG_MODULE ? 5 + (record->words[4] + 7) / 8 : 5;
	struct log_record *kept = g_malloc0(sizeof *kept + words * sizeof *kept->words);
	*kept = *record;
	kept->words = (const void *)(kept + 1);
	memcpy(kept + 1, record->words, words * sizeof *kept->words);
	g_ptr_array_add(r->kept, kept);
}

static void keep_allocation(struct running *r, const struct log_record *record)
{
	struct allocated *a = g_new0(struct allocated, 1);
	*a = (struct allocated){ .thread = r->thread,
		                 .context = calling_at(r, r->thread)->context,
		                 .pc = record->pc,
		                 .words = { 0, record->words[1], record->words[2] } };
	g_hash_table_insert(r->allocated, import_life(r->im, record->words[1]), a);
}

/* Those that change what the events are, or are events, and synchronise. */
static void take_other(struct running *r, const struct log_record *record)
{
	uint32_t from = builder_event_count(r->im->b);
	switch (record->tag) {
	case LOG_MODULE:
	case LOG_THREAD:
		keep(r, record);
		break;
	case LOG_FORK:
	case LOG_JOIN:
		if (record->words[1] >= LOG_THREADS)
			return; /* damaged log */
		break;
	default:
		break;
	}
	import_record(r->im, r->thread, record);
	if (record->tag == LOG_ALLOC)
		keep_allocation(r, record);
	pass_on(r, from);
}

static void take_record(struct running *r, const struct log_record *record)
{
	struct calling *c = calling_at(r, r->thread);
	switch (record->tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW:
		take_access(r, record);
		break;
	case LOG_SWITCH:
		r->thread = record->pc < LOG_THREADS ? (uint32_t)record->pc : r->thread;
		break;
	case LOG_ENTER:
		enter(r, record);
		break;
	case LOG_LEAVE:
		leave(r, c, record->pc);
		break;
	case LOG_MISS:
		c->missing++;
		r->events++;
		break;
	case LOG_BACK:
		r->events += c->missing > 0;
		c->missing -= c->missing > 0;
		break;
	case LOG_NOTE:
	case LOG_CLOCK:
	case LOG_RANDOM:
	case LOG_INPUT:
	case LOG_REPEAT:
	case LOG_BLOCKED:
	case LOG_CRASH:
		break; /* facts for the trace */
	default:
		take_other(r, record);
		break;
	}
}

static bool begin(struct running *r)
{
	if (!so_far_header(r->log, &r->header) || !(r->header.flags & LOG_CONTROLLED))
		return false;
	r->im = import_new(&r->facts);
	r->im->header = &r->header;
	import_init(r->im, r->path, "the recording so far");
	return true;
}

bool running_look(struct running *r)
{
	struct log_record record = { .slot = 0 };
	bool any = false;
	if (r->im == NULL && !begin(r))
		return false;
	for (; so_far_next(r->log, &record); any = true)
		take_record(r, &record);
	return any;
}

uint64_t running_words(const struct running *r)
{
	return so_far_words(r->log);
}

uint32_t running_site(const struct running *r, uint32_t point)
{
	return g_array_index(r->points, struct point, point).site;
}

/* -- a pair as a trace --------------------------------------------------------------------- */

/* The runtime's number of a thread of the events. */
static uint32_t number_of(const struct running *r, uint32_t thread)
{
	for (guint i = 0; i < r->im->lanes->len; i++) {
		const struct lane *lane = &g_array_index(r->im->lanes, struct lane, i);
		if (lane->known && lane->thread == thread)
			return i;
	}
	return 0;
}

static uint32_t call_into(const struct running *r, struct import *im, uint32_t thread,
                          uint32_t context)
{
	if (context == 0)
		return 0;
	const struct call *c = &g_array_index(r->calls, struct call, context);
	uint32_t depth = call_into(r, im, thread, c->parent);
	struct log_record enter = {
		.tag = LOG_ENTER, .pc = c->pc, .address = c->function, .value = c->frame
	};
	import_record(im, thread, &enter);
	return depth + 1;
}

static void call_and_leave(const struct running *r, struct import *im, uint32_t thread,
                           uint32_t context, const struct log_record *inside)
{
	uint32_t depth = call_into(r, im, thread, context);
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	import_record(im, thread, inside);
	import_record(im, thread, &leave);
}

static uint32_t add_access(const struct running *r, struct import *im,
                           const struct running_access *a, const struct variable_range *v)
{
	const struct point *p = &g_array_index(r->points, struct point, a->point);
	const struct running_place *place =
	        &g_array_index(r->places, struct running_place, p->site);
	struct log_record access = { .tag = place->tag,
		                     .flags = place->flags,
		                     .pc = place->pc,
		                     .code = LOG_RANGE,
		                     .address = v->address,
		                     .size = v->size };
	uint32_t thread = number_of(r, a->thread);
	uint32_t depth = call_into(r, im, thread, p->context);
	uint32_t event = builder_event_count(im->b);
	struct log_record leave = { .tag = LOG_LEAVE, .pc = depth };
	import_record(im, thread, &access);
	import_record(im, thread, &leave);
	return event;
}

struct trace *running_pair(struct running *r, uint32_t variable,
                           const struct running_access pair[2], struct record_facts *facts,
                           uint32_t events[2], struct error *error)
{
	struct import *im = import_new(facts);
	const struct variable_range *v = range_at(r, variable);
	im->header = &r->header;
	import_init(im, r->path, "the recording so far");
	for (guint i = 0; i < r->kept->len; i++)
		import_record(im, 0, r->kept->pdata[i]);
	const struct allocated *a = g_hash_table_lookup(r->allocated, v->life);
	if (v->life != NULL && a != NULL) {
		struct log_record alloc = { .tag = LOG_ALLOC, .pc = a->pc, .words = a->words };
		call_and_leave(r, im, a->thread, a->context, &alloc);
	}
	for (int i = 0; i < 2; i++)
		events[i] = add_access(r, im, &pair[i], v);
	if (facts->suppressions)
		builder_note(im->b, SUPPRESSIONS_NOTE, facts->suppressions);
	struct trace *t = builder_finish(g_steal_pointer(&im->b), true, error);
	import_free(im);
	return t;
}

/* -- making and ending ---------------------------------------------------------------------- */

struct running *running_new(const char *path, int buffer, const struct running_sink *sink)
{
	struct so_far *log = so_far_new(path, buffer);
	if (log == NULL)
		return NULL;
	struct running *r = g_new0(struct running, 1);
	struct call none = { 0 };
	r->sink = *sink;
	r->log = log;
	r->path = g_strdup(path);
	r->threads = g_array_new(FALSE, TRUE, sizeof(struct calling));
	r->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	g_array_append_val(r->calls, none);
	r->points = g_array_new(FALSE, FALSE, sizeof(struct point));
	r->places = g_array_new(FALSE, FALSE, sizeof(struct running_place));
	r->call_of = g_hash_table_new(hash_pointer, NULL);
	r->point_of = g_hash_table_new(hash_pointer, NULL);
	r->place_of = g_hash_table_new(hash_pointer, NULL);
	r->pages = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	r->variables = g_array_new(FALSE, FALSE, sizeof(struct variable_range));
	r->covered = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->allocated = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	r->kept = g_ptr_array_new_with_free_func(g_free);
	return r;
}

void running_free(struct running *r)
{
	if (r == NULL)
		return;
	if (r->im)
		import_free(r->im);
	record_facts_release(&r->facts);
	so_far_free(r->log);
	GArray *arrays[] = { r->threads, r->calls,     r->points,
		             r->places,  r->variables, r->covered };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_free(arrays[i], TRUE);
	GHashTable *tables[] = { r->call_of, r->point_of, r->place_of, r->pages, r->allocated };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_hash_table_destroy(tables[i]);
	g_ptr_array_free(r->kept, TRUE);
	g_free(r->path);
	g_free(r);
}
