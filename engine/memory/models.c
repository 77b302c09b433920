/* models.c - see models.h: the table, sequential consistency and TSO (RC11: rc11.c). */
#include "engine/memory/models_private.h"

#include <string.h>

static bool consistent_sc(const struct memory_graph *g, struct memory_why *why);
static bool consistent_tso(const struct memory_graph *g, struct memory_why *why);

static const struct {
	const char *word, *name;
	bool (*consistent)(const struct memory_graph *g, struct memory_why *why);
} models[MEMORY_MODEL_COUNT] = {
#define MODEL(name, word, sentence, predicate) [MEMORY_##name] = { word, sentence, predicate },
	MEMORY_MODELS(MODEL)
#undef MODEL
};

const char *memory_model_word(enum memory_model model)
{
	return models[model].word;
}

bool memory_model_parse(const char *word, enum memory_model *model)
{
	for (int m = 0; m < MEMORY_MODEL_COUNT; m++) {
		if (strcmp(word, models[m].word) != 0)
			continue;
		*model = (enum memory_model)m;
		return true;
	}
	return false;
}

/* ---- relations ---- */

/* rf of BEGIN, JOIN and WAKE, and rounds; po from INIT is left to the caller. */
static void memory_add_library_edges(struct memory_edges *edges, const struct memory_graph *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (g->events[i].kind == MEMORY_DEPART)
			memory_round_edges_add(edges, g, i);
		if (g->events[i].kind == MEMORY_BEGIN || g->events[i].kind == MEMORY_JOIN ||
		    g->events[i].kind == MEMORY_WAKE)
			memory_edge_add(edges, g->events[i].rf, i, "sw");
	}
}

/* mo and fr, each to the next store alone: their closure is the same. */
static void memory_add_modification_edges(struct memory_edges *edges,
                                          const struct memory_graph *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *e = &g->events[i];
		if (memory_writes(e))
			memory_edge_add(edges, i, e->mo_next, "mo");
		if (memory_reads(e))
			memory_edge_add(edges, i, g->events[e->rf].mo_next, "fr");
	}
}

/* ---- sequential consistency: po, rf, mo and fr have no cycle ---- */

static bool consistent_sc(const struct memory_graph *g, struct memory_why *why)
{
	struct memory_edges edges;
	memory_edges_init(&edges, g);
	for (uint32_t i = 0; i < g->count; i++) {
		memory_edge_add(&edges, g->events[i].po_prev, i, "po");
		if (memory_reads(&g->events[i]))
			memory_edge_add(&edges, g->events[i].rf, i, "rf");
	}
	memory_add_library_edges(&edges, g);
	memory_add_modification_edges(&edges, g);
	bool good = memory_edges_acyclic(&edges, "sequential consistency", why);
	memory_edges_release(&edges);
	return good && memory_is_atomic(g, why);
}

/* ---- TSO: coherence, and one total order in which a store comes late ---- */

bool memory_drains(const struct memory_event *e)
{
	const unsigned flags =
	        MEMORY_EXCLUSIVE | MEMORY_COMPARES | MEMORY_LIBRARY | MEMORY_LOCKED;
	bool looks = e->flags & MEMORY_UNORDERED && !(e->flags & MEMORY_UPDATES);
	if (e->kind == MEMORY_LOAD && looks) /* sem_getvalue */
		return false;
	if (e->kind == MEMORY_LOAD || e->kind == MEMORY_STORE)
		return (e->flags & flags) ||
		       (e->kind == MEMORY_STORE && e->order == ORDER_SEQ_CST);
	return e->kind != MEMORY_FENCE || e->order == ORDER_SEQ_CST;
}

/* Coherence: po per location, with rf, mo and fr, has no cycle. */
static bool is_coherent(const struct memory_graph *g, struct memory_why *why)
{
	struct memory_edges edges;
	memory_edges_init(&edges, g);
	uint32_t *last = g_new(uint32_t, g->locations + 1);
	for (uint32_t t = 0; t < g->threads; t++) {
		memset(last, 0xff, g->locations * sizeof *last);
		for (uint32_t i = g->first[t]; i != NONE; i = g->events[i].po_next) {
			uint32_t location = g->events[i].location;
			if (location == NONE)
				continue;
			memory_edge_add(&edges, last[location], i, "po");
			last[location] = i;
			if (memory_reads(&g->events[i]))
				memory_edge_add(&edges, g->events[i].rf, i, "rf");
		}
	}
	memory_add_modification_edges(&edges, g);
	bool good = memory_edges_acyclic(&edges, "coherence", why);
	memory_edges_release(&edges);
	g_free(last);
	return good;
}

/* The part of po that the total order keeps: all but a store before a later load, unless the
 * buffer is emptied between. Adds only edges that generate it. */
static void add_preserved(struct memory_edges *edges, const struct memory_graph *g, uint32_t t)
{
	uint32_t store = NONE, other = NONE; /* the last ones */
	for (uint32_t i = g->first[t]; i != NONE; i = g->events[i].po_next) {
		const struct memory_event *e = &g->events[i];
		bool drain = memory_drains(e), load = e->kind == MEMORY_LOAD;
		memory_edge_add(edges, other, i, "po");
		if (drain || e->kind == MEMORY_STORE)
			memory_edge_add(edges, store, i, "po");
		if (e->kind == MEMORY_STORE && !drain)
			store = i;
		else if (drain || load)
			other = i;
	}
}

static bool consistent_tso(const struct memory_graph *g, struct memory_why *why)
{
	if (!is_coherent(g, why) || !memory_is_atomic(g, why))
		return false;
	struct memory_edges edges;
	memory_edges_init(&edges, g);
	for (uint32_t t = 0; t < g->threads; t++)
		add_preserved(&edges, g, t);
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *e = &g->events[i];
		if (memory_reads(e) && g->events[e->rf].thread != e->thread)
			memory_edge_add(&edges, e->rf, i, "rf");
	}
	memory_add_library_edges(&edges, g);
	memory_add_modification_edges(&edges, g);
	bool good = memory_edges_acyclic(&edges, "total store order", why);
	memory_edges_release(&edges);
	return good;
}

bool memory_consistent(const struct memory_graph *g, enum memory_model model,
                       struct memory_why *why)
{
	return models[model].consistent(g, why);
}
