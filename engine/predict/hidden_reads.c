/* hidden_reads.c - see hidden_reads.h. */
#include "engine/predict/hidden_reads.h"

#include "debuginfo/debuginfo.h"

/* Values of the cache. */
enum { READS_NOTHING = 1, READS_TOO };

GHashTable *hidden_reads_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

static uint64_t site_of(const struct location *l)
{
	return l->address ^ (uint64_t)l->module << 48;
}

/* Looks at the stores of one module at the locations that `asked` has. */
static void look(GHashTable *known, const struct trace *t, const bool *asked, uint32_t module)
{
	g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t l = 0; l < t->locations_count; l++) {
		uint64_t address =
		        t->locations[l].address + 1; /* behind the call of the hook */
		if (!asked[l] || t->locations[l].module != module)
			continue;
		g_array_append_val(addresses, address);
		g_array_append_val(places, l);
	}
	g_autofree bool *reads = g_new(bool, places->len);
	debuginfo_stores_that_read(trace_string(t, t->modules[module].path),
	                           (const uint64_t *)addresses->data, addresses->len, reads);
	for (guint i = 0; i < places->len; i++) {
		uint64_t site = site_of(&t->locations[g_array_index(places, uint32_t, i)]);
		g_hash_table_insert(known, g_memdup2(&site, sizeof site),
		                    GUINT_TO_POINTER(reads[i] ? READS_TOO : READS_NOTHING));
	}
}

bool *hidden_reads_at(GHashTable *known, const struct trace *t, const bool *asked)
{
	g_autofree bool *found = g_new0(bool, t->locations_count);
	bool any = false;
	for (uint32_t l = 0; l < t->locations_count; l++) {
		if (!asked[l] || t->locations[l].module == NONE)
			continue;
		uint64_t site = site_of(&t->locations[l]);
		if (g_hash_table_lookup(known, &site) == NULL)
			look(known, t, asked, t->locations[l].module);
		found[l] = GPOINTER_TO_UINT(g_hash_table_lookup(known, &site)) == READS_TOO;
		any |= found[l];
	}
	return any ? g_steal_pointer(&found) : NULL;
}

const char *hidden_read_find(GHashTable *known, const struct trace *t)
{
	enum { NOBODY = 0, SEVERAL = UINT32_MAX };
	g_autofree bool *asked = g_new0(bool, t->locations_count);
	for (uint32_t e = 0; e < t->events_count; e++)
		asked[t->events[e].location] |= t->events[e].op == OP_WRITE;
	g_autofree bool *stores = hidden_reads_at(known, t, asked);
	if (stores == NULL)
		return NULL;
	g_autofree uint32_t *writer = g_new0(uint32_t, t->variables_count);
	const char *place = NULL;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t e = 0; place == NULL && e < t->events_count; e++) {
			const struct event *s = &t->events[e];
			if (s->op != OP_WRITE)
				continue;
			struct wide w = event_variables(t, s);
			for (uint32_t v = w.first; v < w.first + w.count; v++) {
				if (pass == 0)
					writer[v] = writer[v] == NOBODY ||
					                            writer[v] == s->thread + 1u
					                    ? s->thread + 1u
					                    : SEVERAL;
				else if (stores[s->location] && writer[v] == SEVERAL)
					place = trace_string(t, t->locations[s->location].name);
			}
		}
	return place;
}
