/*
 * compress.c - see compress.h.
 *
 * Compression is in the parent, so that the recorded program needs no library and loses no
 * time. By the order of writes a kill at any point leaves the chunk, its frame, or both.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "engine/base/file.h"
#include "engine/record/import/compress.h"
#include "engine/record/run_private.h"

enum {
	LEVEL = 1,
	PAUSE = 20000, /* microseconds between polls */
	FRAME_ROOM = LOG_CHUNK - sizeof(struct log_frame),
};

struct compressor {
	GThread *thread;
	int stop; /* atomic */
	int log;
	const struct log_header *header; /* shared with the runtime */
	const char *buffers;             /* the same */
	uint32_t buffer_chunks;
	uint64_t seen;   /* number of chunks examined or in `pending` */
	GArray *pending; /* uint64_t: sequence numbers of unfinished chunks */
	char *chunk;
	struct log_frame *frame;
	ZSTD_CCtx *context;
};

static bool being_filled(const struct compressor *c, uint64_t sequence)
{
	for (uint32_t i = 0; i < c->buffer_chunks; i++) {
		const struct log_chunk *head =
		        (const void *)(c->buffers + (size_t)i * LOG_CHUNK);
		if (__atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) == LOG_CHUNK_MAGIC &&
		    __atomic_load_n(&head->sequence, __ATOMIC_ACQUIRE) == sequence)
			return true;
	}
	return false;
}

/* The file is read before the shared memory: a chunk in the file that is no longer in memory is
 * complete. */
static bool finished(const struct compressor *c, uint64_t sequence, uint64_t offset)
{
	struct log_chunk head;
	return pread(c->log, &head, sizeof(head), offset) == sizeof(head) &&
	       head.magic == LOG_CHUNK_MAGIC && head.sequence == sequence &&
	       !being_filled(c, sequence);
}

/* False when further work is useless. */
static bool compress(struct compressor *c, uint64_t sequence, uint64_t offset)
{
	static const uint32_t none = 0;
	ssize_t length = pread(c->log, c->chunk, LOG_CHUNK, offset);
	if (length < (ssize_t)sizeof(struct log_chunk))
		return false;
	size_t bytes = ZSTD_compress2(c->context, c->frame + 1, FRAME_ROOM, c->chunk, length);
	if (ZSTD_isError(bytes))
		return true; /* not compressible: keep it */
	const struct log_chunk *head = (const void *)c->chunk;
	*c->frame = (struct log_frame){ .magic = LOG_FRAME_MAGIC,
		                        .thread = head->thread,
		                        .sequence = sequence,
		                        .bytes = bytes };
	uint64_t to = offset + LOG_CHUNK;
	/* writes the frame's head after its body, then removes the chunk: its head first */
	return file_write_all(c->log, c->frame + 1, bytes, to + sizeof(*c->frame)) &&
	       file_write_all(c->log, c->frame, sizeof(*c->frame), to) &&
	       file_write_all(c->log, &none, sizeof(none), offset) &&
	       fallocate(c->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
	                 LOG_CHUNK) == 0;
}

static bool look(struct compressor *c)
{
	uint64_t begun = __atomic_load_n(&c->header->chunks, __ATOMIC_ACQUIRE);
	for (; c->seen < begun; c->seen++)
		g_array_append_val(c->pending, c->seen);
	for (guint i = 0;
	     i < c->pending->len && !__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);) {
		uint64_t sequence = g_array_index(c->pending, uint64_t, i);
		uint64_t offset = log_chunk_offset(LOG_COMPRESSED, sequence);
		if (!finished(c, sequence, offset)) {
			i++;
			continue;
		}
		if (!compress(c, sequence, offset))
			return false;
		g_array_remove_index(c->pending, i);
	}
	return true;
}

static gpointer work(gpointer context)
{
	struct compressor *c = context;
	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE) && look(c))
		g_usleep(PAUSE);
	return NULL;
}

static void compressor_free(struct compressor *c)
{
	if (c->header != MAP_FAILED)
		munmap((void *)c->header, LOG_HEADER);
	if (c->buffers != MAP_FAILED)
		munmap((void *)c->buffers, (size_t)c->buffer_chunks * LOG_CHUNK);
	if (c->log >= 0)
		close(c->log);
	g_array_free(c->pending, TRUE);
	g_free(c->chunk);
	g_free(c->frame);
	ZSTD_freeCCtx(c->context);
	g_free(c);
}

struct compressor *compressor_start(const struct log_config *config, int buffer)
{
	struct compressor *c = g_new0(struct compressor, 1);
	c->log = record_open_log(config->log);
	c->header = mmap(NULL, LOG_HEADER, PROT_READ, MAP_SHARED, c->log, 0);
	c->buffer_chunks = config->buffer_chunks;
	c->buffers = mmap(NULL, (size_t)c->buffer_chunks * LOG_CHUNK, PROT_READ, MAP_SHARED,
	                  buffer, 0);
	c->pending = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	c->chunk = g_malloc(LOG_CHUNK);
	c->frame = g_malloc(LOG_CHUNK);
	c->context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1);
	if (c->log >= 0 && c->header != MAP_FAILED && c->buffers != MAP_FAILED && c->context)
		c->thread = g_thread_try_new("compress", work, c, NULL);
	if (!c->thread) {
		compressor_free(c);
		return NULL;
	}
	return c;
}

void compressor_stop(struct compressor *c)
{
	if (!c)
		return;
	__atomic_store_n(&c->stop, 1, __ATOMIC_RELEASE);
	g_thread_join(c->thread);
	compressor_free(c);
}

size_t compressor_expand(const struct log_frame *frame, size_t room, void *chunk)
{
	if (room < sizeof(*frame) || frame->bytes > room - sizeof(*frame))
		return 0;
	size_t n = ZSTD_decompress(chunk, LOG_CHUNK, frame + 1, frame->bytes);
	return ZSTD_isError(n) ? 0 : n;
}
