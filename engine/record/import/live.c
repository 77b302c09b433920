/*
 * live.c - see live.h. The log's header says how many chunks have been begun; when another is
 * begun, all before it are whole in the file. The last one is read by the main thread when the
 * program has ended, and so is all of a log that never had two.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/record/import/import_private.h"
#include "engine/record/import/live.h"

enum { PAUSE_US = 1000, LONGEST_PAUSE_US = 16000 };

struct live {
	char *path, *name; /* owned */
	struct import *im;
	GThread *thread;
	gint stop; /* atomic */
	int log;
	struct log_header header; /* as last read */
	char *chunk;
};

static uint64_t whole_chunks(struct live *l)
{
	struct log_header *h = &l->header;
	return pread(l->log, h, sizeof *h, 0) == sizeof *h &&
	                       memcmp(h->magic, LOG_MAGIC, sizeof h->magic) == 0 &&
	                       h->version == LOG_VERSION && h->flags & LOG_CONTROLLED &&
	                       h->chunks > 1
	               ? h->chunks - 1
	               : 0;
}

/* False when the chunk contradicts the header: the main thread will report the error. */
static bool read_chunk(struct live *l)
{
	struct import *im = l->im;
	uint64_t offset = log_chunk_offset(l->header.flags, im->chunks_read);
	ssize_t bytes = pread(l->log, l->chunk, LOG_CHUNK, (off_t)offset);
	const struct log_chunk *head = (const void *)l->chunk;
	if (bytes < (ssize_t)sizeof *head || head->magic != LOG_CHUNK_MAGIC ||
	    head->sequence != im->chunks_read)
		return false;
	if (im->b == NULL) {
		im->header = &l->header;
		import_init(im, l->path, l->name);
	}
	import_chunk(im, l->chunk, (uint64_t)bytes);
	return true;
}

static gpointer follow(gpointer context)
{
	struct live *l = context;
	gulong pause = PAUSE_US;
	while (!g_atomic_int_get(&l->stop)) {
		if (l->im->chunks_read < whole_chunks(l)) {
			if (!read_chunk(l))
				break;
			pause = PAUSE_US;
			continue;
		}
		g_usleep(pause);
		pause = MIN(pause * 2, LONGEST_PAUSE_US);
	}
	return NULL;
}

static void release(struct live *l)
{
	if (l->log >= 0)
		close(l->log);
	g_free(l->chunk);
	g_free(l->path);
	g_free(l->name);
	g_free(l);
}

struct live *live_start(const char *path, const char *name, struct record_facts *facts)
{
	struct live *l = g_new0(struct live, 1);
	l->path = g_strdup(path);
	l->name = g_strdup(name);
	l->log = open(path, O_RDONLY | O_CLOEXEC);
	if (l->log >= 0) {
		l->chunk = g_malloc(LOG_CHUNK);
		l->im = import_new(facts);
		l->thread = g_thread_try_new("import", follow, l, NULL);
	}
	if (l->thread)
		return l;
	g_free(l->im);
	release(l);
	return NULL;
}

struct trace *live_finish(struct live *l, const struct progress *progress, struct error *error)
{
	g_atomic_int_set(&l->stop, 1);
	g_thread_join(l->thread);
	struct trace *t = import_finish(l->im, l->path, l->name, progress, error);
	release(l);
	return t;
}
