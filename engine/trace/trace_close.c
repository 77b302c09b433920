/*
 * trace_close.c - the end of a trace: frees its tables, index and storage, and closes its
 * files.
 */
#include "engine/trace/index_private.h"
#include "engine/trace/own_site.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/storage.h"

#include <sys/mman.h>

void trace_close(struct trace *t)
{
	if (t == NULL)
		return;
	index_free(t->index);
	reel_free(t->storage->reel);
	g_ptr_array_free(t->storage->owned, TRUE);
	g_ptr_array_free(t->storage->columns, TRUE);
	spelt_names_free(t->storage->spelt);
	g_free(t->storage->sync_bytes);
	if (t->storage->wait_events != NULL)
		g_array_unref(t->storage->wait_events);
	own_sites_release(t->storage->own_sites);
	g_free(t->storage->own_sites);
	if (t->storage->map)
		munmap(t->storage->map, t->storage->map_length);
	g_free(t->storage);
	if (t->warnings)
		g_ptr_array_free(t->warnings, TRUE);
	g_free(t->name);
	g_free(t->path);
	g_free(t);
}
