/*
 * binary_write.c - writing the binary format: a temporary file beside the target, renamed
 * when all of it is there.
 */
#include "engine/trace/binary.h"
#include "engine/trace/binary_digest.h"
#include "engine/trace/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct table_view { /* one section to be written */
	const char *name;
	const void *data;
	uint64_t count;
	uint32_t element;
};

enum {
#define TABLE(member, type) SECTION_##member,
	TRACE_TABLES(TABLE)
#undef TABLE
	        SECTION_COUNT
};

/* -- a part of the events ---------------------------------------------------------------------
 */

/* The tables that speak of events, with the events' new ids. */
struct subset {
	GArray *events, *stacks, *threads, *blocks;
	uint32_t *ids;
};

static void subset_init(struct subset *s, const struct trace *t, const uint64_t *keep)
{
	s->ids = g_new(uint32_t, t->events_count + 1);
	s->events = g_array_new(FALSE, FALSE, sizeof(struct event));
	s->stacks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint64_t e = 0; e < t->events_count; e++) {
		s->ids[e] = NONE;
		if (!(keep[e / 64] >> e % 64 & 1))
			continue;
		s->ids[e] = s->events->len;
		g_array_append_val(s->events, t->events[e]);
		if (t->stacks_count)
			g_array_append_val(s->stacks, t->stacks[e]);
	}
	s->threads = g_array_new(FALSE, FALSE, sizeof(struct thread));
	for (uint64_t i = 0; i < t->threads_count; i++) {
		struct thread thread = t->threads[i];
		thread.fork = thread.fork == NONE ? NONE : s->ids[thread.fork];
		g_array_append_val(s->threads, thread);
	}
	s->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		struct block block = t->blocks[i];
		block.alloc = block.alloc == NONE ? NONE : s->ids[block.alloc];
		block.free = block.free == NONE ? NONE : s->ids[block.free];
		g_array_append_val(s->blocks, block);
	}
}

static void subset_release(struct subset *s)
{
	g_array_free(s->events, TRUE);
	g_array_free(s->stacks, TRUE);
	g_array_free(s->threads, TRUE);
	g_array_free(s->blocks, TRUE);
	g_free(s->ids);
}

static void use_subset(struct table_view *views, const struct subset *s)
{
	views[SECTION_events].data = s->events->data;
	views[SECTION_events].count = s->events->len;
	views[SECTION_stacks].data = s->stacks->data;
	views[SECTION_stacks].count = s->stacks->len;
	views[SECTION_threads].data = s->threads->data;
	views[SECTION_blocks].data = s->blocks->data;
}

/* -- the file
 * ------------------------------------------------------------------------------------ */

#define ALIGNMENT 64

static void lay_out(const struct trace *t, const struct table_view *views, bool filtered,
                    struct binary_header *header, struct binary_section *sections)
{
	uint64_t offset = sizeof *header + SECTION_COUNT * sizeof *sections;
	for (int i = 0; i < SECTION_COUNT; i++) {
		offset = (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		sections[i] = (struct binary_section){ .element = views[i].element,
			                               .offset = offset,
			                               .count = views[i].count };
		g_strlcpy(sections[i].name, views[i].name, sizeof sections[i].name);
		offset += views[i].count * views[i].element;
	}
	*header = (struct binary_header){ .version = TRACE_VERSION,
		                          .byte_order = 0x01020304,
		                          .sections = SECTION_COUNT,
		                          .length = offset };
	memcpy(header->magic, BINARY_MAGIC, sizeof header->magic);
	header->flags = (t->complete ? BINARY_COMPLETE : 0) |
	                (t->filtered || filtered ? BINARY_FILTERED : 0) |
	                (t->values_exact ? BINARY_VALUES_EXACT : 0) |
	                (t->order_exact ? BINARY_ORDER_EXACT : 0);
	header->digest = binary_digest(header, sections);
}

static bool put_at(FILE *f, uint64_t offset, const void *data, size_t bytes)
{
	static const char zeroes[ALIGNMENT];
	long at = ftell(f);
	if (at < 0 || (uint64_t)at > offset)
		return false;
	return fwrite(zeroes, 1, offset - (uint64_t)at, f) == offset - (uint64_t)at &&
	       fwrite(data, 1, bytes, f) == bytes;
}

static bool put_all(FILE *f, const struct binary_header *header,
                    const struct binary_section *sections, const struct table_view *views)
{
	bool good = fwrite(header, sizeof *header, 1, f) == 1 &&
	            fwrite(sections, sizeof *sections, SECTION_COUNT, f) == SECTION_COUNT;
	for (int i = 0; i < SECTION_COUNT && good; i++)
		good = put_at(f, sections[i].offset, views[i].data,
		              views[i].count * views[i].element);
	return good && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

static bool write_file(const char *path, const struct binary_header *header,
                       const struct binary_section *sections, const struct table_view *views,
                       struct error *error)
{
	char *temporary = g_strdup_printf("%s.XXXXXX", path);
	int fd = g_mkstemp_full(temporary, O_RDWR | O_CLOEXEC, 0666);
	FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
	bool good = f && put_all(f, header, sections, views);
	int why = errno;
	if (f && fclose(f) != 0 && good) {
		good = false;
		why = errno;
	}
	if (good && rename(temporary, path) != 0) {
		good = false;
		why = errno;
	}
	if (!good) {
		if (fd >= 0)
			unlink(temporary);
		error_set(error, place_line(path, 0).text,
		          "make room or choose another place; nothing was left behind",
		          "cannot write the trace: %s", g_strerror(why));
	}
	g_free(temporary);
	return good;
}

bool binary_write(const struct trace *t, const char *path, const uint64_t *keep,
                  struct error *error)
{
	struct table_view views[SECTION_COUNT] = {
#define TABLE(member, type) { #member, t->member, t->member##_count, sizeof(type) },
		TRACE_TABLES(TABLE)
#undef TABLE
	};
	struct subset subset = { 0 };
	if (keep) {
		subset_init(&subset, t, keep);
		use_subset(views, &subset);
	}
	struct binary_header header;
	struct binary_section sections[SECTION_COUNT];
	lay_out(t, views, keep != NULL, &header, sections);
	bool good = write_file(path, &header, sections, views, error);
	if (keep)
		subset_release(&subset);
	return good;
}

bool trace_write(const struct trace *t, const char *path, enum trace_format format,
                 const uint64_t *keep, uint64_t *left_out, struct error *error)
{
	if (left_out)
		*left_out = 0;
	if (format == TRACE_BINARY)
		return binary_write(t, path, keep, error);
	GString *text = g_string_new(NULL);
	trace_print(t, format, keep, text, left_out);
	bool good = file_write_whole(path, text->str, text->len, error);
	g_string_free(text, TRUE);
	return good;
}
