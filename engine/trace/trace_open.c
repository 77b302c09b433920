/*
 * trace_open.c - opening and closing traces of every format.
 */
#include "engine/base/input.h"
#include "engine/trace/index_private.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/storage.h"
#include "engine/trace/weak.h"

/* Returns the trace, or closes it and returns NULL when its facts about a memory model are
 * inconsistent. */
static struct trace *weak_checked(struct trace *t, struct error *error)
{
	if (t == NULL || (t->weak_count == 0 && trace_model(t) == WEAK_SC) ||
	    trace_weak_fits(t, error))
		return t;
	trace_close(t);
	return NULL;
}

struct trace *trace_open(const char *path, const struct trace_options *options,
                         const struct progress *progress, struct error *error)
{
	struct input in;
	struct trace *t;
	if (!input_open(path, "trace", &in, error))
		return NULL;
	char *digest =
	        in.stream ? g_compute_checksum_for_data(G_CHECKSUM_SHA256, in.bytes, in.length)
	                  : NULL;
	if (binary_recognise(in.bytes, in.length)) {
		t = binary_read(path, in.bytes, in.length, in.stream ? NULL : &in.file,
		                options != NULL ? options->watch : NULL, progress, error);
	} else {
		t = text_read(path, in.bytes, in.length, options, progress, error);
		input_close(&in);
	}
	if (t != NULL && digest != NULL)
		t->digest = trace_own(t, digest);
	else
		g_free(digest);
	return weak_checked(t, error);
}

struct trace *trace_from_text(const char *name, const char *text, size_t length,
                              const struct trace_options *options, struct error *error)
{
	return weak_checked(text_read(name, text, length, options, NULL, error), error);
}
