/* running_sites.c - the instructions of a program that is running, by number. */
#include "engine/record/import/running_private.h"

uint32_t running_site_of(struct running *r, const struct event *e)
{
	uint64_t head = event_head(e) & ~(uint64_t)EVENT_THREADS;
	uint32_t slot = running_site_slot(e);
	gpointer found = g_hash_table_lookup(r->site_of, GSIZE_TO_POINTER(head));
	if (found == NULL) {
		found = GUINT_TO_POINTER(r->sites->len);
		g_array_append_val(r->sites, head);
		g_hash_table_insert(r->site_of, GSIZE_TO_POINTER(head), found);
	}
	if (slot >= r->latest->len)
		g_array_set_size(r->latest, slot + 1);
	g_array_index(r->latest, struct running_place, slot) =
	        (struct running_place){ head, GPOINTER_TO_UINT(found) };
	return GPOINTER_TO_UINT(found);
}
