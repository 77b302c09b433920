/*
 * import.c - a recording log (layout.h) becomes a trace, through builder.h.
 *
 * Addresses become places: a region for each life of a heap block, each module's data,
 * each thread's stack; what lies elsewhere is one flat region.  Nothing in the result but
 * the addresses themselves depends on where things were loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/commute/spec.h"
#include "engine/record/decode.h"
#include "engine/record/compress.h"
#include "engine/record/name.h"
#include "engine/record/record.h"

struct block_life {
	uint64_t low, high;
	uint32_t region, block;
	bool heap, dead;
};

struct lane {            /* a thread */
	uint32_t thread; /* in the builder */
	bool known;
	uint64_t stack_high;
	GArray *functions; /* uint32_t strings: the call stack */
	GArray *ordinals;  /* dropped events, for replay */
	uint64_t ordinal;
	struct block_life *last;
	/* free mode */
	GArray *chunks; /* uint64_t offsets */
	unsigned chunk;
	struct log_reader *reader; /* owned, or NULL */
	uint64_t *expanded;        /* the same: LOG_CHUNK bytes for a compressed chunk */
	struct log_record record;
	bool running;
};

#define CACHE      4096
#define MAX_THREAD 0x7fffu

struct import {
	struct builder *b;
	const char *base;
	uint64_t size;
	const struct log_header *header;
	uint64_t damaged; /* chunks that could not be expanded */
	struct record_facts *facts;
	GArray *lanes;        /* struct lane */
	GTree *lives;         /* low -> struct block_life */
	GPtrArray *all_lives; /* owned */
	struct block_life *cache[CACHE];
	struct {
		uint64_t pc;
		uint32_t location;
	} sites[LOG_SITES];
	GHashTable *locations; /* pc -> location + 1 */
	GHashTable *functions; /* pc -> string + 1 */
	GString *clocks;       /* for replay: see plan.c */
	GString *repeats;      /* the same: "THREAD:ORDINAL:COUNT,", by the log's order */
	uint64_t repeated;
	GHashTable *objects;   /* "region:offset" as 64-bit -> object + 1 */
	GHashTable *instances; /* "TYPE ADDRESS" -> instance + 1, "TYPE" -> how many */
	struct names *names;
	uint32_t flat; /* region of everything else, or NONE */
	uint64_t blocks;
	uint64_t refused;
	struct error first_refusal;
};

static int compare_addresses(gconstpointer a, gconstpointer b, gpointer data)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

void record_facts_release(struct record_facts *f)
{
	if (f->blocked)
		g_ptr_array_free(f->blocked, TRUE);
	if (f->stopped)
		g_ptr_array_free(f->stopped, TRUE);
	g_free(f->diverged);
	if (f->modules) {
		for (guint i = 0; i < f->modules->len; i++) {
			struct record_module *m =
			        &g_array_index(f->modules, struct record_module, i);
			g_free(m->path);
			g_free(m->build_id);
		}
		g_array_free(f->modules, TRUE);
	}
	memset(f, 0, sizeof(*f));
}

/* ---- code ---- */

static const struct record_module *module_of(const GArray *modules, uint64_t address)
{
	for (guint i = 0; i < modules->len; i++) {
		const struct record_module *m =
		        &g_array_index(modules, struct record_module, i);
		if (address >= m->low && address < m->high)
			return m;
	}
	return NULL;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Nobody wants to see the C library's own lines, and its debug information, where it is
 * installed, takes longer to read than most recordings. */
static bool is_c_library(const struct record_module *m)
{
	const char *name = last_component(m->path);
	return g_str_has_prefix(name, "libc.so") || g_str_has_prefix(name, "ld-linux");
}

static void append_offset(const struct record_module *m, uint64_t address, GString *out)
{
	if (m)
		g_string_append_printf(out, "%s+0x%" PRIx64, last_component(m->path),
		                       address - m->bias);
	else
		g_string_append_printf(out, "0x%" PRIx64, address);
}

static uint32_t location_of(struct import *im, uint64_t pc)
{
	if (pc == 0)
		return 0;
	gpointer found = g_hash_table_lookup(im->locations, GSIZE_TO_POINTER(pc));
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	const struct record_module *m = module_of(im->facts->modules, pc - 1);
	uint32_t location;
	if (m && is_c_library(m)) {
		GString *name = g_string_new(NULL);
		append_offset(m, pc - 1, name);
		location = builder_location(im->b, name->str, name->len);
		g_string_free(name, TRUE);
	} else if (m) {
		location = builder_code(im->b, m->index, pc - 1 - m->bias);
	} else {
		char *name = g_strdup_printf("0x%" PRIx64, pc - 1);
		location = builder_location(im->b, name, strlen(name));
		g_free(name);
	}
	g_hash_table_insert(im->locations, GSIZE_TO_POINTER(pc),
	                    GUINT_TO_POINTER(location + 1));
	return location;
}

/* The same for a record, whose slot is a good place to remember it. */
static uint32_t site_location(struct import *im, const struct log_record *r)
{
	if (im->sites[r->slot].pc != r->pc || r->pc == 0) {
		im->sites[r->slot].location = location_of(im, r->pc);
		im->sites[r->slot].pc = r->pc;
	}
	return im->sites[r->slot].location;
}

static uint32_t call_name(struct import *im, uint64_t call)
{
	static const char *const names[] = { "",
#define C(name) #name "@libc",
		                             LOG_CALLS(C)
#undef C
	};
	return builder_string(im->b, names[call], strlen(names[call]));
}

/* The function that holds a pc: the real one, not what was inlined into it. */
static uint32_t function_of(struct import *im, uint64_t pc)
{
	if (pc < LOG_CALL_COUNT)
		return call_name(im, pc);
	gpointer found = g_hash_table_lookup(im->functions, GSIZE_TO_POINTER(pc));
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	GString *name = g_string_new(NULL);
	const struct record_module *m = module_of(im->facts->modules, pc - 1);
	if (!m || !names_function(im->names, m->index, pc - 1 - m->bias, name))
		append_offset(m, pc - 1, name);
	uint32_t string = builder_string(im->b, name->str, name->len);
	g_string_free(name, TRUE);
	g_hash_table_insert(im->functions, GSIZE_TO_POINTER(pc), GUINT_TO_POINTER(string + 1));
	return string;
}

void record_describe(const struct record_facts *facts, uint64_t pc, GString *place,
                     GString *function)
{
	const struct record_module *m = module_of(facts->modules, pc - 1);
	struct debuginfo *d =
	        m && !is_c_library(m) ? debuginfo_open(m->path, m->build_id, NULL) : NULL;
	struct debug_place places[1];
	size_t n = d ? debuginfo_code(d, pc - 1 - m->bias, places, 1) : 0;
	if (place) {
		if (n && places[0].file[0])
			g_string_append_printf(place, "%s:%u", last_component(places[0].file),
			                       places[0].line);
		else
			append_offset(m, pc - 1, place);
	}
	if (function && n)
		g_string_append(function, places[0].function);
	debuginfo_close(d);
}

/* ---- memory ---- */

static struct block_life *life_new(struct import *im, uint64_t low, uint64_t size,
                                   uint32_t region, uint32_t block, bool heap)
{
	struct block_life *life = g_new0(struct block_life, 1);
	*life = (struct block_life){ low, low + (size ? size : 1), region, block, heap, false };
	g_ptr_array_add(im->all_lives, life);
	/* What the log does not show to be freed (by the C library itself) is over all the
	 * same once its memory is given out again. */
	for (;;) {
		uint64_t end = life->high - 1;
		GTreeNode *node = g_tree_upper_bound(im->lives, &end);
		node = node ? g_tree_node_previous(node) : g_tree_node_last(im->lives);
		struct block_life *old = node ? g_tree_node_value(node) : NULL;
		if (!old || old->high <= low || !old->heap)
			break;
		old->dead = true;
		g_tree_remove(im->lives, &old->low);
	}
	g_tree_insert(im->lives, &life->low, life);
	return life;
}

static struct block_life *life_at(struct import *im, uint64_t address)
{
	struct block_life **slot = &im->cache[(address >> 4) % CACHE];
	struct block_life *life = *slot;
	if (life && !life->dead && address >= life->low && address < life->high)
		return life;
	GTreeNode *node = g_tree_upper_bound(im->lives, &address);
	node = node ? g_tree_node_previous(node) : g_tree_node_last(im->lives);
	life = node ? g_tree_node_value(node) : NULL;
	if (!life || address >= life->high)
		return NULL;
	*slot = life;
	return life;
}

static uint32_t flat_region(struct import *im)
{
	if (im->flat == NONE)
		im->flat = builder_region(im->b, "memory", 0, LOG_ADDRESS_MASK, NONE);
	return im->flat;
}

static uint32_t place_of(struct import *im, uint64_t address, uint64_t size)
{
	struct block_life *life = life_at(im, address);
	uint32_t bytes = size > UINT32_MAX ? UINT32_MAX : size;
	if (life)
		return builder_place(im->b, life->region, address - life->low, bytes);
	return builder_place(im->b, flat_region(im), address, bytes);
}

static uint32_t object_of(struct import *im, uint64_t address)
{
	struct block_life *life = life_at(im, address);
	uint32_t region = life ? life->region : flat_region(im);
	uint64_t offset = life ? address - life->low : address;
	uint64_t key = (uint64_t)region << 40 ^ offset;
	gpointer found = g_hash_table_lookup(im->objects, GSIZE_TO_POINTER(key));
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	GString *name = g_string_new(NULL);
	const struct record_module *m = module_of(im->facts->modules, address);
	if (m && !(life && life->heap))
		append_offset(m, address, name);
	else
		g_string_append_printf(name, "r%u+%" PRIu64, region, offset);
	uint32_t object = builder_object(im->b, name->str, name->len);
	builder_object_address(im->b, object, address);
	g_string_free(name, TRUE);
	g_hash_table_insert(im->objects, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(object + 1));
	return object;
}

/* ---- threads ---- */

static struct lane *lane_of(struct import *im, uint32_t id)
{
	while (im->lanes->len <= id) {
		struct lane lane = { .functions = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
			             .ordinals = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
			             .chunks = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
		g_array_append_val(im->lanes, lane);
	}
	struct lane *lane = &g_array_index(im->lanes, struct lane, id);
	if (!lane->known) {
		char name[32] = "main";
		if (id)
			snprintf(name, sizeof(name), "T%u", id);
		lane->known = true;
		lane->thread = builder_thread(im->b, name, strlen(name));
	}
	return lane;
}

static void add_thread(struct import *im, uint32_t id, uint64_t low, uint64_t high)
{
	struct lane *lane = lane_of(im, id);
	if (high <= low)
		return;
	char name[48] = "stack@main";
	if (id)
		snprintf(name, sizeof(name), "stack@T%u", id);
	uint32_t block = builder_block(im->b, name, strlen(name), high - low, low);
	uint32_t region = builder_region(im->b, name, low, high - low, block);
	builder_stack_block(im->b, lane->thread, block);
	lane->stack_high = high;
	life_new(im, low, high - low, region, block, true);
}

static void add_module(struct import *im, const uint64_t *w, const char *text, uint64_t length)
{
	size_t n = strnlen(text, length);
	struct record_module m = { .path = g_strndup(text, n),
		                   .build_id = n < length
		                                       ? g_strndup(text + n + 1, length - n - 1)
		                                       : g_strdup(""),
		                   .bias = w[0],
		                   .low = w[1],
		                   .high = w[2] };
	m.index = builder_module(im->b, m.path, m.build_id, m.bias);
	/* Without a folder: the namer does not look for it. */
	names_module(im->names, is_c_library(&m) ? last_component(m.path) : m.path, m.build_id,
	             m.bias);
	g_array_append_val(im->facts->modules, m);
	uint32_t region =
	        builder_region(im->b, last_component(m.path), m.low, m.high - m.low, NONE);
	life_new(im, m.low, m.high - m.low, region, NONE, false);
}

/* ---- records ---- */

static const uint8_t op_of[LOG_TAG_COUNT] = {
	[LOG_READ] = OP_READ,
	[LOG_WRITE] = OP_WRITE,
	[LOG_AREAD] = OP_AREAD,
	[LOG_AWRITE] = OP_AWRITE,
	[LOG_RMW] = OP_RMW,
	[LOG_FENCE] = OP_FENCE,
	[LOG_ACQ] = OP_ACQ,
	[LOG_REL] = OP_REL,
	[LOG_RACQ] = OP_RACQ,
	[LOG_RREL] = OP_RREL,
	[LOG_TRYFAIL] = OP_TRYFAIL,
	[LOG_TAKETRYFAIL] = OP_TAKETRYFAIL,
	[LOG_DESTROY] = OP_DESTROY,
	[LOG_WAIT] = OP_WAIT,
	[LOG_WAKE] = OP_WAKE,
	[LOG_SIGNAL] = OP_SIGNAL,
	[LOG_BROADCAST] = OP_BROADCAST,
	[LOG_ARRIVE] = OP_ARRIVE,
	[LOG_DEPART] = OP_DEPART,
	[LOG_POST] = OP_POST,
	[LOG_TAKE] = OP_TAKE,
	[LOG_FORK] = OP_FORK,
	[LOG_JOIN] = OP_JOIN,
	[LOG_SND] = OP_SND,
	[LOG_RCV] = OP_RCV,
	[LOG_ALLOC] = OP_ALLOC,
	[LOG_FREE] = OP_FREE,
};

static void add_event(struct import *im, struct lane *lane, struct event e)
{
	struct error error;
	e.thread = lane->thread;
	if (!builder_add(im->b, e, 0, &error)) {
		if (im->refused++ == 0)
			im->first_refusal = error;
		g_array_append_val(lane->ordinals, lane->ordinal);
	}
}

static void note(struct import *im, const char *text, uint64_t length)
{
	size_t n = strnlen(text, length);
	char *key = g_strndup(text, n);
	char *value = n < length ? g_strndup(text + n + 1, length - n - 1) : g_strdup("");
	if (strcmp(key, "blocked") == 0)
		g_ptr_array_add(im->facts->blocked, g_strdup(value));
	else if (strcmp(key, "stopped") == 0)
		g_ptr_array_add(im->facts->stopped, g_strdup(value));
	else if (strcmp(key, "fork") == 0)
		im->facts->forked = true;
	else if (strcmp(key, "diverged") == 0 && !im->facts->diverged)
		im->facts->diverged = g_strdup(value);
	g_free(key);
	g_free(value);
}

static void add_access(struct import *im, struct lane *lane, const struct log_record *r)
{
	struct event e = { .op = op_of[r->tag],
		           .flags = (r->flags & LOG_ORDER_MASK) |
		                    (r->flags & LOG_VOLATILE ? EVENT_VOLATILE : 0),
		           .location = site_location(im, r),
		           .target = place_of(im, r->address, r->size) };
	if (r->tag == LOG_RMW && r->valued)
		e.aux = builder_pair(im->b, builder_integer(im->b, r->old),
		                     builder_integer(im->b, r->value));
	else if (r->valued)
		e.aux = builder_integer(im->b, r->value);
	add_event(im, lane, e);
}

static void add_enter(struct import *im, struct lane *lane, const struct log_record *r)
{
	uint32_t function = function_of(im, r->address);
	uint64_t high = lane->stack_high & ~(uint64_t)(LOG_FRAME_UNIT - 1);
	/* A call of the C library holds no variable that anybody knows. */
	bool call = r->address < LOG_CALL_COUNT;
	names_frame(im->names, lane->thread, call ? 0 : r->address - 1,
	            call       ? FRAME_OF_NOBODY
	            : r->value ? high - (r->value - 1) * LOG_FRAME_UNIT
	                       : 0);
	g_array_append_val(lane->functions, function);
	im->facts->instrumented += !call;
	add_event(im, lane,
	          (struct event){ .op = OP_ENTER,
	                          .target = function,
	                          .location = site_location(im, r) });
}

static void add_leave(struct import *im, struct lane *lane, uint64_t frames)
{
	for (; frames > 0 && lane->functions->len > 0; frames--) {
		uint32_t function =
		        g_array_index(lane->functions, uint32_t, lane->functions->len - 1);
		g_array_set_size(lane->functions, lane->functions->len - 1);
		add_event(im, lane, (struct event){ .op = OP_LEAVE, .target = function });
	}
}

static void add_alloc(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w)
{
	char name[32];
	snprintf(name, sizeof(name), "b%" PRIu64, im->blocks++);
	uint32_t block = builder_block(im->b, name, strlen(name), w[2], w[1]);
	uint32_t region = builder_region(im->b, name, w[1], w[2] ? w[2] : 1, block);
	life_new(im, w[1], w[2], region, block, true);
	add_event(im, lane,
	          (struct event){
	                  .op = OP_ALLOC, .target = block, .location = location_of(im, pc) });
}

static void add_free(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w)
{
	struct block_life *life = life_at(im, w[1]);
	if (!life || life->low != w[1] || !life->heap) {
		g_array_append_val(lane->ordinals,
		                   lane->ordinal); /* not allocated in the log */
		return;
	}
	/* An access after this still belongs to this life, until the next one begins: that is
	 * what a use after free is.  So it stays in the tree. */
	add_event(im, lane,
	          (struct event){ .op = OP_FREE,
	                          .target = life->block,
	                          .location = location_of(im, pc) });
}

static void add_sync(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                     uint64_t pc, const uint64_t *w)
{
	struct event e = { .op = op_of[tag],
		           .flags = flags & LOG_ORDER_MASK,
		           .location = location_of(im, pc),
		           .target = NONE };
	char text[32];
	switch (op_table[e.op].operand) {
	case OPERAND_OBJECT:
		e.target = object_of(im, w[1]);
		break;
	case OPERAND_THREAD: {
		uint32_t thread = lane->thread; /* lane_of may move the lanes */
		e.target = lane_of(im, w[1])->thread;
		for (guint i = 0; i < im->lanes->len; i++)
			if (g_array_index(im->lanes, struct lane, i).known &&
			    g_array_index(im->lanes, struct lane, i).thread == thread)
				lane = &g_array_index(im->lanes, struct lane, i);
		break;
	}
	case OPERAND_MESSAGE:
		snprintf(text, sizeof(text), "once%" PRIu64, w[1]);
		e.target = builder_message(im->b, text, strlen(text));
		break;
	default:
		break;
	}
	add_event(im, lane, e);
}

/* ---- invocations ---- */

/*
 * An object's name: its type and, where it is small, its number (fd3), else an ordinal.
 * What lies at the address of an object that is gone is another one: in a new block, or
 * made by a call that says so (fd3#2).
 */
static uint32_t instance_of(struct import *im, const char *type, uint64_t self, bool made)
{
	const struct block_life *life = self < 65536 ? NULL : life_at(im, self);
	char *key = g_strdup_printf("%s %" PRIx64 " %u", type, self, life ? life->block : NONE);
	char *counter =
	        self < 65536 ? g_strdup_printf("%s%" PRIu64, type, self) : g_strdup(type);
	gpointer found = g_hash_table_lookup(im->instances, key);
	if (!found || made) {
		uint32_t count =
		        GPOINTER_TO_UINT(g_hash_table_lookup(im->instances, counter)) + 1;
		char *name = self >= 65536 ? g_strdup_printf("%s%u", counter, count)
		             : count > 1   ? g_strdup_printf("%s#%u", counter, count)
		                           : g_strdup(counter);
		uint32_t instance = builder_instance(im->b, name, strlen(name));
		builder_instance_type(im->b, instance,
		                      builder_string(im->b, type, strlen(type)));
		g_hash_table_insert(im->instances, g_strdup(counter), GUINT_TO_POINTER(count));
		found = GUINT_TO_POINTER(instance + 1);
		g_hash_table_insert(im->instances, g_strdup(key), found);
		g_free(name);
	}
	g_free(key);
	g_free(counter);
	return GPOINTER_TO_UINT(found) - 1;
}

static int hex_digit(char c)
{
	return g_ascii_isxdigit(c) ? g_ascii_xdigit_value(c) : 0;
}

/* A string up to its closing quote, escapes resolved; moves *at behind it. */
static uint32_t string_value(struct import *im, const char **at)
{
	GString *s = g_string_new(NULL);
	const char *c = *at + 1;
	for (; *c && *c != '"'; c++) {
		if (*c != '\\' || !c[1]) {
			g_string_append_c(s, *c);
		} else if (*++c == 'x' && c[1] && c[2]) {
			g_string_append_c(s, (char)(hex_digit(c[1]) * 16 + hex_digit(c[2])));
			c += 2;
		} else {
			g_string_append_c(s, *c == 'n' ? '\n' : *c);
		}
	}
	*at = *c ? c + 1 : c;
	/* Bytes that are no UTF-8 cannot be in a text trace. */
	char *valid = g_utf8_make_valid(s->str, (gssize)s->len);
	uint32_t value = builder_value(im->b, V_STRING, valid, strlen(valid));
	g_free(valid);
	g_string_free(s, TRUE);
	return value;
}

/* One value as a text trace writes it; moves *at behind it. */
static uint32_t one_value(struct import *im, const char **at)
{
	static const struct {
		const char *word;
		enum value_kind kind;
	} words[] = { { "nil", V_NIL }, { "false", V_FALSE }, { "true", V_TRUE } };
	if (**at == '"')
		return string_value(im, at);
	size_t length = strcspn(*at, ",");
	const char *start = *at;
	char *end;
	*at += length;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i].word) == length &&
		    memcmp(start, words[i].word, length) == 0)
			return builder_value(im->b, words[i].kind, start, length);
	errno = 0;
	gint64 n = g_ascii_strtoll(start, &end, 10);
	if (length > 0 && end == start + length && errno == 0)
		return builder_integer(im->b, n);
	char *valid = g_utf8_make_valid(start, (gssize)length);
	uint32_t value = builder_value(im->b, V_TOKEN, valid, strlen(valid));
	g_free(valid);
	return value;
}

static GArray *values_of(struct import *im, const char *text)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	while (*text) {
		uint32_t value = one_value(im, &text);
		g_array_append_val(values, value);
		text += *text == ',';
	}
	return values;
}

static void add_invocation(struct import *im, struct lane *lane, enum log_tag tag,
                           unsigned flags, uint64_t pc, const uint64_t *w)
{
	char *text = g_malloc0(w[2] + 3); /* three strings end in NUL whatever the log holds */
	memcpy(text, w + 3, w[2]);
	const char *type = text, *method = type + strlen(type) + 1;
	const char *list = method < text + w[2] ? method + strlen(method) + 1 : method;
	GArray *values = values_of(im, list < text + w[2] ? list : "");
	const uint32_t *v = (const uint32_t *)values->data;
	struct event e = { .op = tag == LOG_CALL ? OP_CALL : OP_RET,
		           .target = instance_of(im, type, w[1], flags & LOG_MADE),
		           .location = location_of(im, pc) };
	e.aux = builder_invocation(im->b, builder_string(im->b, method, strlen(method)), v,
	                           tag == LOG_CALL ? values->len : 0, v,
	                           tag == LOG_CALL ? 0 : values->len);
	add_event(im, lane, e);
	g_array_unref(values);
	g_free(text);
}

static void add_record(struct import *im, uint32_t id, const struct log_record *r)
{
	enum log_tag tag = r->tag;
	unsigned flags = r->flags;
	uint64_t pc = r->pc;
	const uint64_t *w = r->words;
	struct lane *lane = lane_of(im, id);
	if ((tag == LOG_FORK || tag == LOG_JOIN) && w[1] > MAX_THREAD)
		return; /* a damaged log */
	switch (tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW:
		add_access(im, lane, r);
		lane->ordinal++;
		break;
	case LOG_ENTER:
		add_enter(im, lane, r);
		break;
	case LOG_LEAVE:
		add_leave(im, lane, pc);
		break;
	case LOG_ALLOC:
		add_alloc(im, lane, pc, w);
		lane->ordinal++;
		break;
	case LOG_FREE:
		add_free(im, lane, pc, w);
		lane->ordinal++;
		break;
	case LOG_THREAD:
		if (pc <= MAX_THREAD)
			add_thread(im, pc, w[2], w[3]);
		break;
	case LOG_SEMAPHORE:
		builder_semaphore(im->b, object_of(im, w[1]), w[2]);
		break;
	case LOG_MODULE:
		add_module(im, w + 1, (const char *)(w + 5), w[4]);
		break;
	case LOG_NOTE:
		note(im, (const char *)(w + 2), w[1]);
		break;
	case LOG_CLOCK:
		if (im->clocks->len < 4 << 20)
			g_string_append_printf(im->clocks, "%s%u:%u:%" PRId64 ":%" PRId64,
			                       im->clocks->len ? "," : "", id, flags,
			                       (int64_t)w[1], (int64_t)w[2]);
		break;
	case LOG_CALL:
	case LOG_RET:
		add_invocation(im, lane, tag, flags, pc, w);
		lane->ordinal++;
		break;
	case LOG_REPEAT: /* without its event in what --last kept it is nobody's */
		im->repeated += pc;
		if (lane->ordinal > 0)
			g_string_append_printf(im->repeats, "%s%u:%" PRIu64 ":%" PRIu64,
			                       im->repeats->len ? "," : "", id,
			                       lane->ordinal - 1, pc);
		break;
	case LOG_RANDOM:
	case LOG_SWITCH:
	case LOG_TICKET:
	case LOG_DROP:
	case LOG_NOTHING:
	case LOG_TAG_COUNT:
		break;
	default:
		add_sync(im, lane, tag, flags, pc, w);
		g_array_index(im->lanes, struct lane, id).ordinal++;
	}
}

/* ---- the file ---- */

struct chunk {
	uint64_t sequence, offset;
	uint32_t thread;
};

static gint compare_chunks(gconstpointer a, gconstpointer b)
{
	const struct chunk *x = a, *y = b;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static GArray *find_chunks(struct import *im)
{
	GArray *chunks = g_array_new(FALSE, FALSE, sizeof(struct chunk));
	for (uint64_t slot = 0;; slot++) {
		uint64_t at = log_chunk_offset(im->header->flags, slot);
		if (at + sizeof(struct log_frame) > im->size)
			break;
		const struct log_chunk *head = (const void *)(im->base + at);
		if (head->magic != LOG_CHUNK_MAGIC) {
			at += LOG_CHUNK;
			if (!(im->header->flags & LOG_COMPRESSED) ||
			    at + sizeof(struct log_frame) > im->size)
				continue;
			head = (const void *)(im->base + at); /* a frame begins the same way */
			if (head->magic != LOG_FRAME_MAGIC)
				continue;
		}
		struct chunk c = { head->sequence, at, head->thread };
		g_array_append_val(chunks, c);
	}
	g_array_sort(chunks, compare_chunks);
	return chunks;
}

/* `expanded` is where a compressed one goes: made when it is NULL, and the caller's. */
static void begin_chunk(struct import *im, struct log_reader *reader, uint64_t offset,
                        uint64_t **expanded)
{
	uint64_t bytes = MIN(LOG_CHUNK, im->size - offset);
	const char *chunk = im->base + offset;
	if (((const struct log_chunk *)(const void *)chunk)->magic == LOG_FRAME_MAGIC) {
		if (!*expanded)
			*expanded = g_malloc(LOG_CHUNK);
		bytes = compressor_expand((const void *)chunk, bytes, *expanded);
		im->damaged += bytes == 0;
		chunk = (const void *)*expanded;
	}
	bytes = MAX(bytes & ~7ull, sizeof(struct log_chunk));
	log_reader_chunk(reader, (const uint64_t *)(chunk + sizeof(struct log_chunk)),
	                 (const uint64_t *)(chunk + bytes));
}

static bool read_controlled(struct import *im, GArray *chunks, const struct progress *progress)
{
	uint32_t thread = 0;
	struct log_reader *reader = g_new0(struct log_reader, 1);
	struct log_record record = { .slot = 0 };
	uint64_t *expanded = NULL;
	bool whole = true;
	for (guint i = 0; i < chunks->len && whole; i++) {
		const struct chunk *c = &g_array_index(chunks, struct chunk, i);
		whole = progress_tick(progress, (double)i / chunks->len,
		                      "reading the recording");
		begin_chunk(im, reader, c->offset, &expanded);
		while (log_reader_next(reader, &record))
			if (record.tag == LOG_SWITCH)
				thread = record.pc & MAX_THREAD;
			else
				add_record(im, thread, &record);
	}
	g_free(reader);
	g_free(expanded);
	return whole;
}

/* Free mode: every thread has its own chunks, and tickets at synchronisation say how the
 * pieces between them follow each other. */

/* lane->record is its next; false at its end. */
static bool lane_record(struct import *im, struct lane *lane)
{
	if (!lane->reader)
		lane->reader = g_new0(struct log_reader, 1);
	while (!log_reader_next(lane->reader, &lane->record)) {
		if (lane->chunk == lane->chunks->len)
			return false;
		begin_chunk(im, lane->reader,
		            g_array_index(lane->chunks, uint64_t, lane->chunk++),
		            &lane->expanded);
	}
	return true;
}

/* Everything of thread `id` up to its next ticket, which is returned; 0 at its end. */
static uint64_t run_lane(struct import *im, uint32_t id)
{
	for (;;) {
		struct lane *lane = lane_of(im, id);
		if (!lane_record(im, lane))
			return 0;
		struct log_record r = lane->record; /* lanes may move */
		if (r.tag == LOG_TICKET)
			return r.pc;
		add_record(im, id, &r);
		if (r.tag == LOG_FORK && r.words[1] <= MAX_THREAD)
			lane_of(im, r.words[1])->running = true;
	}
}

static bool read_free(struct import *im, GArray *chunks, const struct progress *progress)
{
	for (guint i = 0; i < chunks->len; i++) {
		const struct chunk *c = &g_array_index(chunks, struct chunk, i);
		if (c->thread > MAX_THREAD)
			continue;
		g_array_append_val(lane_of(im, c->thread)->chunks, c->offset);
	}
	GArray *tickets = g_array_new(FALSE, TRUE, sizeof(uint64_t)); /* by thread; 0: none */
	lane_of(im, 0)->running = true;
	uint64_t steps = 0;
	for (;;) {
		g_array_set_size(tickets, im->lanes->len);
		uint32_t best = NONE;
		for (guint i = 0; i < im->lanes->len; i++) {
			struct lane *lane = &g_array_index(im->lanes, struct lane, i);
			uint64_t *ticket = &g_array_index(tickets, uint64_t, i);
			if (lane->running && *ticket == 0) {
				uint64_t next = run_lane(im, i);
				g_array_set_size(tickets, im->lanes->len);
				g_array_index(tickets, uint64_t, i) = next;
				if (next == 0)
					g_array_index(im->lanes, struct lane, i).running =
					        false;
			}
			uint64_t mine = g_array_index(tickets, uint64_t, i);
			if (mine &&
			    (best == NONE || mine < g_array_index(tickets, uint64_t, best)))
				best = i;
		}
		if (best == NONE)
			break;
		g_array_index(tickets, uint64_t, best) = run_lane(im, best);
		if (g_array_index(tickets, uint64_t, best) == 0)
			g_array_index(im->lanes, struct lane, best).running = false;
		if (++steps % 65536 == 0 &&
		    !progress_tick(progress, 0.5, "reading the recording")) {
			g_array_free(tickets, TRUE);
			return false;
		}
	}
	g_array_free(tickets, TRUE);
	return true;
}

/* The functions that a thread is still in when the program ends are left there. */
static void leave_all(struct import *im)
{
	for (guint i = 0; i < im->lanes->len; i++) {
		struct lane *lane = &g_array_index(im->lanes, struct lane, i);
		if (lane->known)
			add_leave(im, lane, lane->functions->len);
	}
}

/* Which events of the log are not in the trace: replay counts them. */
static void note_dropped(struct import *im)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < im->lanes->len; i++) {
		struct lane *lane = &g_array_index(im->lanes, struct lane, i);
		for (guint k = 0; k < lane->ordinals->len; k++)
			g_string_append_printf(text, "%s%u:%" PRIu64, text->len ? "," : "", i,
			                       g_array_index(lane->ordinals, uint64_t, k));
	}
	if (text->len)
		builder_note(im->b, "recording-dropped", text->str);
	g_string_free(text, TRUE);
}

/* The looks of threads that waited by polling which are not in the trace; polls.c says why
 * that is right. */
static void note_repeats(struct import *im)
{
	if (im->repeated == 0)
		return;
	builder_note(im->b, "recording-repeats", im->repeats->str);
	char count[32];
	snprintf(count, sizeof(count), "%" PRIu64, im->repeated);
	builder_note(im->b, "recording-repeated", count);
}

static void import_release(struct import *im)
{
	for (guint i = 0; i < im->lanes->len; i++) {
		struct lane *lane = &g_array_index(im->lanes, struct lane, i);
		g_array_free(lane->functions, TRUE);
		g_array_free(lane->ordinals, TRUE);
		g_array_free(lane->chunks, TRUE);
		g_free(lane->reader);
		g_free(lane->expanded);
	}
	g_array_free(im->lanes, TRUE);
	g_tree_destroy(im->lives);
	g_ptr_array_free(im->all_lives, TRUE);
	g_hash_table_destroy(im->locations);
	g_hash_table_destroy(im->functions);
	g_hash_table_destroy(im->objects);
	g_string_free(im->clocks, TRUE);
	g_string_free(im->repeats, TRUE);
	g_hash_table_destroy(im->instances);
	names_free(im->names);
	munmap((void *)im->base, im->size);
}

bool record_is_log(const char *path)
{
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool is = read(fd, magic, 8) == 8 && memcmp(magic, LOG_MAGIC, 8) == 0;
	close(fd);
	return is;
}

static bool map_log(struct import *im, const char *path, const char *name, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set(error, name, NULL, "cannot read the recording: %s",
		          g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	im->size = status.st_size;
	if (im->size < LOG_HEADER) {
		close(fd);
		return error_set(error, name, "record it again",
		                 "the recording has %" PRIu64 " bytes, not even its header",
		                 im->size);
	}
	im->base = mmap(NULL, im->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (im->base == MAP_FAILED)
		return error_set(error, name, NULL, "cannot map the recording: %s",
		                 g_strerror(errno));
	im->header = (const void *)im->base;
	if (memcmp(im->header->magic, LOG_MAGIC, 8) != 0 ||
	    im->header->version != LOG_VERSION || im->header->chunk_size != LOG_CHUNK) {
		bool ours = memcmp(im->header->magic, LOG_MAGIC, 8) == 0;
		uint32_t version = im->header->version;
		munmap((void *)im->base, im->size);
		return ours ? error_set(error, name, "record it again with this version",
		                        "a recording of version %u, expected %u", version,
		                        LOG_VERSION)
		            : error_set(error, name, NULL, "not a recording");
	}
	return true;
}

/* The command as one would type it: what `:replay` in the explorer runs again. */
static void note_command(struct import *im)
{
	if (im->facts->argv == NULL)
		return;
	GString *command = g_string_new(NULL);
	for (char **word = im->facts->argv; *word; word++) {
		char *quoted = g_shell_quote(*word);
		bool plain = **word &&
		             strspn(*word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
		                           "qrstuvwxyz0123456789_-+=./,:@%") == strlen(*word);
		g_string_append_printf(command, "%s%s", command->len ? " " : "",
		                       plain ? *word : quoted);
		g_free(quoted);
	}
	builder_note(im->b, "recording-command", command->str);
	g_string_free(command, TRUE);
	if (im->facts->start_at)
		builder_note(im->b, "recording-start", im->facts->start_at);
	const GPtrArray *specs = im->facts->specs;
	for (guint i = 0; specs != NULL && i < specs->len; i++) {
		char *found = spec_path(specs->pdata[i]);
		char *file = g_canonicalize_filename(found, NULL);
		g_free(found);
		builder_note(im->b, "recording-spec", file);
		g_free(file);
	}
}

struct trace *record_import(const char *path, const char *name, struct record_facts *facts,
                            const struct progress *progress, struct error *error)
{
	return record_import_with(path, name, NULL, facts, progress, error);
}

struct trace *record_import_with(const char *path, const char *name, const char *exe,
                                 struct record_facts *facts, const struct progress *progress,
                                 struct error *error)
{
	struct record_facts own = { 0 };
	struct import im = { .facts = facts ? facts : &own, .flat = NONE };
	*im.facts = (struct record_facts){ .argv = im.facts->argv,
		                           .start_at = im.facts->start_at,
		                           .specs = im.facts->specs };
	if (!map_log(&im, path, name, error))
		return NULL;
	struct trace_options options = { .lenient = true };
	im.b = builder_new(name, &options);
	im.lanes = g_array_new(FALSE, FALSE, sizeof(struct lane));
	im.lives = g_tree_new_full(compare_addresses, NULL, NULL, NULL);
	im.all_lives = g_ptr_array_new_with_free_func(g_free);
	im.locations = g_hash_table_new(NULL, NULL);
	im.functions = g_hash_table_new(NULL, NULL);
	im.objects = g_hash_table_new(NULL, NULL);
	im.clocks = g_string_new(NULL);
	im.repeats = g_string_new(NULL);
	im.instances = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	im.names = names_new(exe);
	builder_namer(im.b, names_namer(im.names));
	im.facts->blocked = g_ptr_array_new_with_free_func(g_free);
	im.facts->stopped = g_ptr_array_new_with_free_func(g_free);
	im.facts->modules = g_array_new(FALSE, FALSE, sizeof(struct record_module));
	im.facts->status = im.header->status;
	im.facts->flags = im.header->flags;
	im.facts->stolen = im.header->stolen;
	im.facts->error = im.header->error;
	im.facts->replayed = im.header->replayed;
	im.facts->lost = im.header->lost;

	bool controlled = im.header->flags & LOG_CONTROLLED;
	GArray *chunks = find_chunks(&im);
	bool whole = controlled ? read_controlled(&im, chunks, progress)
	                        : read_free(&im, chunks, progress);
	g_array_free(chunks, TRUE);
	leave_all(&im);
	note_dropped(&im);
	note_command(&im);
	builder_note(im.b, "recording", controlled ? "controlled" : "free");
	if (!controlled && im.header->repeated) {
		char count[32];
		snprintf(count, sizeof(count), "%" PRIu64, im.header->repeated);
		builder_note(im.b, "recording-left-out", count);
	}
	char seed[32];
	snprintf(seed, sizeof(seed), "%" PRIu64, im.header->seed);
	builder_note(im.b, "recording-seed", seed);
	if (!(im.header->flags & LOG_ASLR_OFF))
		builder_note(im.b, "recording-addresses", "randomised");
	if (im.clocks->len)
		builder_note(im.b, "recording-clocks", im.clocks->str);
	note_repeats(&im);
	if (im.refused)
		builder_warn(im.b,
		             "%" PRIu64 " recorded events are not well-formed and were left "
		             "out (the first: %s)",
		             im.refused, im.first_refusal.what);
	if (im.damaged)
		builder_warn(im.b,
		             "%" PRIu64 " compressed chunks of the recording are damaged and "
		             "were left out",
		             im.damaged);
	if (im.facts->stolen)
		builder_warn(im.b,
		             "%u times a call that is not modelled blocked: this schedule "
		             "may not come again",
		             im.facts->stolen);
	bool complete = im.header->status == LOG_EXITED || im.header->status == LOG_DEADLOCK ||
	                im.header->status == LOG_EXECED || im.header->status == LOG_DIVERGED;
	bool values = im.header->flags & LOG_VALUES;

	struct trace *t = NULL;
	if (whole) {
		t = builder_finish(im.b, complete || im.header->status == LOG_RUNNING, error);
	} else {
		error_set(error, name, NULL, "stopped while reading the recording");
		builder_free(im.b);
	}
	if (t) {
		t->order_exact = controlled;
		t->values_exact = controlled && values;
	}
	import_release(&im);
	if (!facts)
		record_facts_release(&own);
	return t;
}

void record_explain_deadlock(const struct trace *t, const struct record_facts *facts,
                             GString *out)
{
	for (guint i = 0; i < facts->blocked->len; i++) {
		unsigned thread;
		char kind[32] = "", holder[32] = "";
		uint64_t address, pc;
		if (sscanf(facts->blocked->pdata[i], "%u %31s %" SCNx64 " %31s %" SCNx64,
		           &thread, kind, &address, holder, &pc) != 5)
			continue;
		char *who = thread ? g_strdup_printf("T%u", thread) : g_strdup("main");
		const char *what = NULL;
		for (uint64_t k = 0; k < t->objects_count; k++)
			if (t->objects[k].address == address)
				what = trace_string(t, t->objects[k].name);
		g_string_append_printf(out, "%s waits for %s", who,
		                       strcmp(kind, "spinlock") == 0 ? "spin lock"
		                       : strcmp(kind, "thread") == 0 ? "the end of a thread"
		                                                     : kind);
		if (what)
			g_string_append_printf(out, " %s", what);
		if (strcmp(holder, "-") != 0)
			g_string_append_printf(out, ", held by %s%s",
			                       strcmp(holder, "0") == 0 ? "main" : "T",
			                       strcmp(holder, "0") == 0 ? "" : holder);
		g_string_append(out, " (");
		record_describe(facts, pc, out, NULL);
		g_string_append(out, ")\n");
		g_free(who);
	}
}
