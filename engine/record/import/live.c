/*
 * live.c - see live.h. The import goes on in whole chunks. Where analyses wait for the events,
 * and no chunk has become whole for a while, it takes the records of the chunk that is being
 * filled, one by one: the program is slow then. The rest of the log is read by the main thread
 * when the program has ended.
 */
#include <string.h>
#include <unistd.h>

#include "engine/record/import/import_private.h"
#include "engine/record/import/live.h"
#include "engine/record/import/so_far.h"

enum { PAUSE_US = 1000, LONGEST_PAUSE_US = 16000, PART_US = 500000, PART_RECORDS = 4096 };

struct live {
	char *path, *name; /* owned */
	struct import *im;
	GThread *thread;
	gint stop; /* atomic */
	struct so_far *log;
	struct log_header header; /* as it was when the import began */
};

static bool begin(struct live *l)
{
	if (!so_far_header(l->log, &l->header) || !(l->header.flags & LOG_CONTROLLED))
		return false;
	l->im->header = &l->header;
	import_init(l->im, l->path, l->name);
	return true;
}

/* Takes records of the chunk that is being filled, and passes all events on. False: all that
 * there are. */
static bool take_part(struct live *l)
{
	struct import *im = l->im;
	struct log_record record = { .slot = 0 };
	uint32_t count = 0;
	while (count < PART_RECORDS && so_far_next(l->log, &record)) {
		import_next(im, &record);
		count++;
	}
	if (count > 0)
		im->chunks_read = so_far_chunk(l->log, &im->words_read);
	builder_show(im->b);
	return count == PART_RECORDS;
}

static gpointer follow(gpointer context)
{
	struct live *l = context;
	gulong pause = PAUSE_US, quiet = 0;
	while (!g_atomic_int_get(&l->stop)) {
		if (l->im->b == NULL && !begin(l)) {
			g_usleep(PAUSE_US);
		} else if (so_far_whole(l->log)) {
			import_chunk(l->im);
			if (l->im->unnamed)
				so_far_drop(l->log);
			pause = PAUSE_US;
			quiet = 0;
		} else if (l->im->running == NULL || quiet < PART_US || !take_part(l)) {
			quiet = quiet < PART_US ? quiet + pause : 0;
			g_usleep(pause);
			pause = MIN(pause * 2, LONGEST_PAUSE_US);
		}
	}
	return NULL;
}

static void release(struct live *l)
{
	so_far_free(l->log);
	g_free(l->path);
	g_free(l->name);
	g_free(l);
}

struct live *live_start(const char *path, int buffer, const char *name,
                        struct record_facts *facts, const struct running_watch *watch)
{
	struct import *im = import_new(facts);
	if (im->reader == NULL)
		im->reader = g_new0(struct log_reader, 1);
	struct live *l = g_new0(struct live, 1);
	l->path = g_strdup(path);
	l->name = g_strdup(name);
	l->im = im;
	l->log = so_far_new(path, buffer, im->reader, watch != NULL);
	if (watch)
		im->running = running_new(im, watch);
	if (l->log)
		l->thread = g_thread_try_new("import", follow, l, NULL);
	if (l->thread)
		return l;
	running_free(g_steal_pointer(&im->running));
	g_free(im->reader);
	g_free(im);
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
