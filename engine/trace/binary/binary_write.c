/*
 * binary_write.c - writes binary traces (docs/trace-binary.md): of a trace in memory at once,
 * of a recording while it is made.
 */
#include "engine/base/file.h"
#include "engine/trace/binary/binary_private.h"

#include <string.h>
#include <zstd.h>

/* -- sections --------------------------------------------------------------------------- */

struct trace_writer {
	struct file_writer *file;
	GArray *sections; /* struct file_section */
	GArray *blocks;   /* struct tape_block */
	uint8_t *bytes;   /* of the current block; owned, as end.tape */
	struct tape_end end;
	uint64_t begin;  /* of the tape, in the file */
	uint64_t sum;    /* of the header, in the end */
	bool any_stacks; /* if false, blocks are encoded without stacks */
	bool ended;      /* the events and the places are complete */
};

static void pad(struct file_writer *file)
{
	static const char zeroes[ALIGNMENT];
	size_t over = file_writer_length(file) % ALIGNMENT;
	if (over)
		file_writer_put(file, zeroes, ALIGNMENT - over);
}

/* A frame made of pieces of a table, so that no second copy of it is in memory. */
struct packed_bytes {
	char *bytes; /* owned by the caller */
	size_t length, room;
};

static void frame_room(struct packed_bytes *f, size_t more)
{
	if (f->room - f->length >= more)
		return;
	f->room = MAX(2 * f->room, f->length + more);
	f->bytes = g_realloc(f->bytes, f->room);
}

/* A frame with a higher ratio than a reader accepts is followed by a skippable one. */
static void pad_frame(struct packed_bytes *f, size_t bytes)
{
	const uint32_t head[2] = { ZSTD_MAGIC_SKIPPABLE_START,
		                   (uint32_t)(bytes / (PACKED_MOST - 1)) };
	if (bytes / f->length < PACKED_MOST)
		return;
	frame_room(f, sizeof head + head[1]);
	memcpy(f->bytes + f->length, head, sizeof head);
	memset(f->bytes + f->length + sizeof head, 0, head[1]);
	f->length += sizeof head + head[1];
}

/* False when packing is not worth it: the frame has `most` bytes. */
static bool frame_add(struct packed_bytes *f, ZSTD_CCtx *c, const void *bytes, size_t length,
                      bool last, size_t most)
{
	ZSTD_inBuffer in = { bytes, length, 0 };
	size_t left;
	do {
		frame_room(f, ZSTD_CStreamOutSize());
		ZSTD_outBuffer out = { f->bytes, f->room, f->length };
		left = ZSTD_compressStream2(c, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		f->length = out.pos;
		if (ZSTD_isError(left) || f->length >= most)
			return false;
	} while (last ? left != 0 : in.pos < in.size);
	return true;
}

/* Tables whose elements ascend, or have similar neighbours. */
static bool in_differences(const char *name, uint64_t bytes)
{
	static const char *const tables[] = { "places",        "variables", "wides",
		                              "blocks",        "contexts",  "objects",
		                              "string_offsets" };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (strcmp(name, tables[i]) == 0)
			return bytes >= PACKED_FROM;
	return false;
}

enum { PIECE = 1 << 15 }; /* numbers */

static void differences(const uint32_t *numbers, size_t from, size_t count, uint32_t each,
                        uint32_t *d)
{
	for (size_t i = from; i < from + count; i++)
		d[i - from] = i < each ? numbers[i] : numbers[i] - numbers[i - each];
}

/* The bytes as a zstd frame; with `each`, as differences from the 32-bit number that many
 * before. False: not worth it. */
static bool pack(const void *data, size_t bytes, uint32_t each, struct packed_bytes *f)
{
	enum { LEVEL = 1 };
	if (bytes < PACKED_FROM || bytes > UINT32_MAX / 4)
		return false;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	g_autofree uint32_t *piece = each ? g_new(uint32_t, PIECE) : NULL;
	bool good = c != NULL &&
	            !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL)) &&
	            !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(c, bytes));
	for (size_t at = 0; good && at < bytes;) {
		size_t length = each ? MIN(PIECE * sizeof *piece, bytes - at) : bytes;
		const void *from = piece ? (const void *)piece : data;
		if (each)
			differences(data, at / 4, length / 4, each, piece);
		at += length;
		good = frame_add(f, c, from, length, at == bytes, bytes / 4 * 3);
	}
	ZSTD_freeCCtx(c);
	if (good)
		pad_frame(f, bytes);
	return good;
}

static void put_section(struct trace_writer *w, const char *name, const void *data,
                        uint32_t element, uint64_t count)
{
	struct file_section s = { .element = element, .count = count };
	struct packed_bytes frame = { 0 };
	uint32_t each = in_differences(name, element * count) ? element / 4 : 0;
	bool packed = pack(data, element * count, each, &frame);
	size_t bytes = packed ? frame.length : element * count;
	const void *from = packed ? frame.bytes : data;
	if (packed)
		s.packed = (uint32_t)bytes | (each ? PACKED_DIFFERENCES : 0);
	pad(w->file);
	g_strlcpy(s.name, name, sizeof s.name);
	s.offset = file_writer_length(w->file);
	s.sum = sum_bytes(from, bytes);
	file_writer_put(w->file, from, bytes);
	g_array_append_val(w->sections, s);
	g_free(frame.bytes);
}

/* -- events ----------------------------------------------------------------------------- */

static void begin_block(struct trace_writer *w)
{
	w->end.at = tape_begin(w->end.tape, w->bytes);
	w->end.room = TAPE_BLOCK;
}

static void writer_begin(struct trace_writer *w, struct file_writer *file)
{
	static const struct header none;
	*w = (struct trace_writer){
		.file = file,
		.sections = g_array_new(FALSE, TRUE, sizeof(struct file_section)),
		.end.tape = tape_new(),
		.blocks = g_array_new(FALSE, FALSE, sizeof(struct tape_block)),
		.bytes = g_malloc((TAPE_BLOCK + 1) * TAPE_EVENT)
	};
	if (file != NULL) {
		file_writer_put(file, &none, sizeof none);
		w->begin = file_writer_length(file);
	}
	begin_block(w);
}

static void writer_release(struct trace_writer *w)
{
	g_array_free(w->sections, TRUE);
	g_array_free(w->blocks, TRUE);
	tape_free(w->end.tape);
	g_free(w->bytes);
}

void binary_end_block(struct trace_writer *w)
{
	if (w->file == NULL) {
		begin_block(w);
		return;
	}
	struct tape_block block = { .offset = file_writer_length(w->file) - w->begin,
		                    .bytes = (uint32_t)(w->end.at - w->bytes),
		                    .count = TAPE_BLOCK - w->end.room };
	block.sum = sum_bytes(w->bytes, block.bytes);
	file_writer_put(w->file, w->bytes, block.bytes);
	g_array_append_val(w->blocks, block);
	begin_block(w);
}

/* Writes events, at most to the end of the block. */
static void put_part(struct trace_writer *w, const struct event *events, uint32_t count,
                     const struct tape_stacks *stacks)
{
	w->end.at = tape_put(w->end.tape, events, count, stacks, w->end.at);
	w->end.room -= count;
	if (w->end.room == 0)
		binary_end_block(w);
}

/* Ends the section of the blocks' bytes; the sums are in the table of blocks. */
static void end_blocks(struct trace_writer *w, const uint32_t *places, uint64_t places_count)
{
	if (w->end.room < TAPE_BLOCK)
		binary_end_block(w);
	struct file_section bytes = { .name = "event_bytes",
		                      .element = 1,
		                      .offset = w->begin,
		                      .count = file_writer_length(w->file) - w->begin };
	g_array_append_val(w->sections, bytes);
	put_section(w, "event_blocks", w->blocks->data, sizeof(struct tape_block),
	            w->blocks->len);
	put_section(w, "places", places, sizeof(uint32_t), places_count);
	w->ended = true;
}

static void put_events(struct trace_writer *w, const struct trace *t)
{
	for (uint64_t from = 0; from < t->events_count; from += TAPE_BLOCK) {
		struct tape_stacks stacks = { t->stacks_count ? (uint32_t *)t->stacks + from
			                                      : NULL,
			                      t->contexts, t->contexts_count };
		put_part(w, t->events + from, (uint32_t)MIN(t->events_count - from, TAPE_BLOCK),
		         &stacks);
	}
	w->any_stacks = t->stacks_count > 0;
}

/* -- the tables and the header ---------------------------------------------------------- */

static void put_tables(struct trace_writer *w, const struct trace *t)
{
#define TABLE(member, type) put_section(w, #member, t->member, sizeof(type), t->member##_count);
	TRACE_LISTS(TABLE)
#undef TABLE
	GString *warnings = g_string_new(NULL);
	for (guint i = 0; t->warnings && i < t->warnings->len; i++) {
		g_string_append(warnings, t->warnings->pdata[i]);
		g_string_append_c(warnings, '\0');
	}
	put_section(w, "warnings", warnings->str, 1, warnings->len);
	g_string_free(warnings, TRUE);
}

static uint32_t flags_of(const struct trace *t)
{
	return (t->complete ? FLAG_COMPLETE : 0) | (t->filtered ? FLAG_FILTERED : 0) |
	       (t->values_exact ? FLAG_VALUES_EXACT : 0) |
	       (t->order_exact ? FLAG_ORDER_EXACT : 0) |
	       (t->locks_taken ? FLAG_LOCKS_TAKEN : 0);
}

/* Sections are written between the header and the section table at the end, since both need the
 * lengths. */
static void writer_end(struct trace_writer *w, const struct trace *t, bool filtered)
{
	struct header h = { .version = TRACE_VERSION,
		            .byte_order = binary_byte_order,
		            .flags = flags_of(t) | (filtered ? FLAG_FILTERED : 0) |
		                     (w->any_stacks ? FLAG_STACKS : 0) };
	memcpy(h.magic, binary_magic, sizeof binary_magic);
	if (!w->ended)
		end_blocks(w, NULL, 0);
	put_tables(w, t);
	pad(w->file);
	h.sections = w->sections->len;
	const struct file_section *sections =
	        (const struct file_section *)(void *)w->sections->data;
	file_writer_put(w->file, sections, h.sections * sizeof *sections);
	h.length = file_writer_length(w->file);
	h.sum = w->sum = binary_header_sum(&h, sections);
	file_writer_patch(w->file, 0, &h, sizeof h);
}

/* -- a trace in memory ------------------------------------------------------------------ */

/* A trace without some of its events: the tables that refer to events, with new ids. */
struct selection {
	struct event *events;
	uint32_t *stacks, *ids; /* ids: new id of each event, NONE: left out */
	struct thread *threads;
	struct block *blocks;
	struct weak_source *weak;
	uint64_t count, weak_count;
};

static uint32_t new_id(const struct selection *s, uint32_t event)
{
	return event == NONE ? NONE : s->ids[event];
}

/* Sources of weak reads, for the selected events: entries about a store that the selection
 * leaves out are left out, too, as the trace is then a filtered one. */
static void select_weak(const struct trace *t, struct selection *s)
{
	for (uint64_t e = 0; e < s->count; e++)
		if (s->events[e].op == OP_FLUSH)
			s->events[e].aux = new_id(s, s->events[e].aux);
	s->weak = g_new(struct weak_source, t->weak_count + 1);
	for (uint64_t i = 0; i < t->weak_count; i++) {
		struct weak_source w = t->weak[i];
		bool known = w.store == NONE || new_id(s, w.store) != NONE;

		w.event = new_id(s, w.event);
		w.store = new_id(s, w.store);
		if (known && w.event != NONE)
			s->weak[s->weak_count++] = w;
	}
}

static struct trace select_events(const struct trace *t, const uint64_t *keep,
                                  struct selection *s)
{
	s->ids = g_new(uint32_t, t->events_count + 1);
	s->events = g_new(struct event, t->events_count + 1);
	s->stacks = t->stacks_count ? g_new(uint32_t, t->events_count + 1) : NULL;
	for (uint64_t e = 0; e < t->events_count; e++) {
		bool kept = keep[e / 64] >> (e % 64) & 1;
		if (t->events[e].op == OP_FLUSH && new_id(s, t->events[e].aux) == NONE)
			kept = false;
		s->ids[e] = kept ? s->count : NONE;
		if (!kept)
			continue;
		if (s->stacks)
			s->stacks[s->count] = t->stacks[e];
		s->events[s->count++] = t->events[e];
	}
	s->threads = g_memdup2(t->threads, t->threads_count * sizeof *t->threads);
	for (uint64_t i = 0; i < t->threads_count; i++)
		s->threads[i].fork = new_id(s, s->threads[i].fork);
	s->blocks = g_memdup2(t->blocks, t->blocks_count * sizeof *t->blocks);
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		s->blocks[i].alloc = new_id(s, s->blocks[i].alloc);
		s->blocks[i].free = new_id(s, s->blocks[i].free);
	}
	select_weak(t, s);
	struct trace selected = *t;
	selected.weak = s->weak;
	selected.weak_count = s->weak_count;
	selected.events = s->events;
	selected.events_count = s->count;
	selected.stacks = s->stacks;
	selected.stacks_count = s->stacks ? s->count : 0;
	selected.threads = s->threads;
	selected.blocks = s->blocks;
	return selected;
}

static void release_selection(struct selection *s)
{
	g_free(s->ids);
	g_free(s->events);
	g_free(s->stacks);
	g_free(s->threads);
	g_free(s->blocks);
	g_free(s->weak);
}

void binary_write(const struct trace *t, const uint64_t *keep, struct file_writer *file)
{
	struct selection s = { 0 };
	struct trace selected = keep ? select_events(t, keep, &s) : *t;
	struct trace_writer w;
	writer_begin(&w, file);
	put_events(&w, &selected);
	writer_end(&w, &selected, keep != NULL);
	writer_release(&w);
	release_selection(&s);
}

/* -- a recording, while it is made ------------------------------------------------------ */

struct trace_writer *trace_writer_open(const char *path, struct error *error)
{
	struct file_writer *file = NULL;
	if (!file_may_become(path, FILE_TRACE, error) ||
	    (file = file_writer_open(path, error)) == NULL)
		return NULL;
	file_writer_private(file);
	struct trace_writer *w = g_new(struct trace_writer, 1);
	writer_begin(w, file);
	return w;
}

struct trace_writer *trace_writer_nowhere(void)
{
	struct trace_writer *w = g_new(struct trace_writer, 1);
	writer_begin(w, NULL);
	return w;
}

bool trace_writer_keeps(const struct trace_writer *w)
{
	return w->file != NULL;
}

struct tape_end *binary_tape(struct trace_writer *w)
{
	return &w->end;
}

void binary_has_stacks(struct trace_writer *w)
{
	w->any_stacks = true;
}

void binary_places(struct trace_writer *w, const uint32_t *places, uint64_t count)
{
	if (w->file != NULL)
		end_blocks(w, places, count);
}

bool trace_writer_end(struct trace_writer *w, const struct trace *t, struct error *error)
{
	struct stat file;
	if (!trace_has_input(t))
		file_writer_public(w->file);
	writer_end(w, t, false);
	bool good = file_writer_commit_as(w->file, &file, error);
	if (good)
		cache_store_written(t, &file, w->sum);
	writer_release(w);
	g_free(w);
	return good;
}

void trace_writer_abandon(struct trace_writer *w)
{
	if (w == NULL)
		return;
	if (w->file != NULL)
		file_writer_abandon(w->file);
	writer_release(w);
	g_free(w);
}
