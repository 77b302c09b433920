/*
 * models.h - memory models: which execution graphs a machine or language permits.
 *
 * A model is a row of MEMORY_MODELS: its word on the command line and the predicate that its
 * graphs satisfy, which is stated by axioms (design/memory-models.md). The predicates know the
 * graph alone, not how it was found.
 */
#ifndef HEDDLE_MEMORY_MODELS_H
#define HEDDLE_MEMORY_MODELS_H

#include "engine/memory/graph.h"

/* MODEL(name, word, its name in a sentence, its predicate in models*.c) */
#define MEMORY_MODELS(MODEL) \
	MODEL(SC, "sc", "sequential consistency", consistent_sc) \
	MODEL(TSO, "tso", "x86-TSO", consistent_tso) \
	MODEL(RC11, "rc11", "RC11", memory_consistent_rc11)
enum memory_model {
#define MODEL(name, word, sentence, predicate) MEMORY_##name,
	MEMORY_MODELS(MODEL)
#undef MODEL
	        MEMORY_MODEL_COUNT
};
const char *memory_model_word(enum memory_model model);
/* False when no model has this word. */
bool memory_model_parse(const char *word, enum memory_model *model);

/* Why a graph is no execution of a model: the axiom, and a cycle that it forbids. */
struct memory_why {
	const char *axiom; /* static */
	GArray *cycle; /* struct memory_edge, each from where the previous one ends; owned */
};
struct memory_edge {
	uint32_t from, to;
	const char *relation; /* "po", "rf", "mo", "fr", "hb", ...; static */
};
void memory_why_release(struct memory_why *why);

/* Do all axioms of the model hold? `why` may be NULL; else memory_why_release, when false.
 * Every load must have its rf, and every store its place in mo. */
bool memory_consistent(const struct memory_graph *g, enum memory_model model,
                       struct memory_why *why);

/* TSO: is the thread's store buffer empty at this event, before the next event in po? */
bool memory_drains(const struct memory_event *e);

#endif
