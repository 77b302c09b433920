/*
 * graphs.h - `explore --memory`: a real program as a struct memory_program.
 *
 * The enumeration (engine/memory/enumerate.h) asks for the next event of a thread in a graph. A
 * thread's next event depends on what it read, and on what happens before it; a number for that
 * past (its mark) is the key of a table of the next events that some run has shown. Where the
 * table has none, the program is run along the graph, and everything that the run shows enters
 * the table. So the program is run about once for each class of values read, however many
 * graphs have them.
 */
#ifndef HEDDLE_EXPLORE_GRAPHS_H
#define HEDDLE_EXPLORE_GRAPHS_H

#include "engine/explore/explore_private.h"
#include "engine/memory/enumerate.h"
#include "engine/memory/recorded.h"

/* The next step of a thread after a past. */
struct known {
	enum memory_step step;
	struct memory_event event;
	/* For a load: a run updated here, with this order, after reading this value. */
	bool updates;
	uint8_t success_order;
	uint64_t expected;
	GArray *steps;       /* struct log_step: steps of a plan before the event's own */
	struct log_step own; /* tag 0: not an event of the runtime */
	uint64_t state;      /* state in which the thread begins the event; 0: unknown */
	/* The enumeration from which on the past is not continued, as a shorter one leads to
	 * the same state (graphs_shortcuts.c); 0: it is. */
	uint32_t passed;
};

struct graphs {
	struct exploration *x;
	enum memory_model model;
	struct memory_world world;
	GHashTable *known;   /* uint64_t: mark to struct known */
	GHashTable *longer;  /* uint64_t: mark that no run has shown yet to GArray of
	                      * uint64_t: marks of longer pasts that may lead to the same
	                      * state */
	GHashTable *classes; /* uint64_t: of runs */
	GHashTable *visited; /* uint64_t: classes of the graphs visited since it began again */
	GHashTable *places;  /* uint64_t: sites of loads to their places (char *) */
	/* uint64_t: sites of compare-and-exchanges to the order (enum memory_order_kind) of
	 * one that failed */
	GHashTable *compares;
	GHashTable *unseen; /* unseen.h */
	/* struct memory_place, whose plain accesses are events: under TSO places that several
	 * threads access, and places of atomics */
	GHashTable *shared;
	GHashTable *uses; /* struct memory_place, of a byte: GArray of uses (graphs_alone.c) */
	GHashTable *ends; /* uint64_t: marks of threads' last events in runs */
	bool meet;        /* threads share more than atomics */
	uint64_t spared;  /* graphs without a run */
	struct memory_counts counts;
	struct error *error;
	guint looks;      /* reasons about loops that look in vain, so far */
	bool with_rounds; /* for graphs_recorded: rounds with updates stay */
	bool restart;     /* the enumeration begins again, with all it has learnt */
	bool again;       /* the definition of an event has changed: the enumeration begins
	                   * again */
	bool failed;      /* the program could not be run: `error` */
	bool limited;     /* a limit was reached */
	uint64_t asked;   /* for next events */
	/* Pasts were found that need not be continued; the enumeration begins again after
	 * `until` requests, or at its end: each takes half as long again as the last. */
	bool shortens;
	uint64_t began, until;
	uint32_t enumeration; /* its number */
};

/* ---- graphs_marks.c ---- */
/* The mark of an event: a number for its thread's past up to it, equal in all runs. */
uint64_t graphs_mark(struct memory_graph *g, uint32_t event);
/* The mark after a look (struct memory_look) at the mark `before`. */
uint64_t graphs_mark_look(struct memory_graph *g, const GArray *looks, uint32_t look,
                          uint64_t before);
/* The mark after the mark `before` and the load, had it read the store of `other`. */
uint64_t graphs_mark_as(struct memory_graph *g, uint64_t before,
                        const struct memory_event *load, const struct memory_event *other);
/* The mark before a thread's first event. */
uint64_t graphs_root(uint32_t thread);
/* The mark of a thread's last event in the graph. */
uint64_t graphs_last(struct memory_graph *g, uint32_t thread);
/* Of all threads together. */
uint64_t graphs_class(struct memory_graph *g);

/* ---- graphs_known.c ---- */
const struct known *graphs_known(const struct graphs *s, uint64_t mark);
/* The event, before the store that it reads is known. */
struct memory_event graphs_event(const struct graphs *s, const struct known *known);
/* Enters everything that a run shows. */
void graphs_learn(struct graphs *s, const struct plan_run *run, struct memory_recorded *r);
/* The graph of a run; sets s->again when it changes the definition of an event. */
void graphs_recorded(struct graphs *s, const struct plan_run *run, struct memory_recorded *r);
void known_free(void *known);
/* Under RC11, where plain accesses of atomics are events, a graph in which they race cannot
 * be run: then true, and the reason is noted. */
bool graphs_note_mixed(struct graphs *s);
/* Notes that a loop which looked at the site `times` times in vain is taken to wait. */
void graphs_note_looks(struct graphs *s, uint64_t site, unsigned times);

/* ---- graphs_shortcuts.c ---- */
/* A load of a thread since it last changed anything, and the mark before it. */
struct graphs_looked {
	uint64_t before;
	uint32_t event; /* of the graph */
};
void graphs_look(GArray *looks, const struct graphs_looked *look);
/* Notes that after these looks (struct graphs_looked), which lead to the mark, the thread
 * begins its next event in the state; sets s->shortens when a shorter past leads to that
 * state. */
void graphs_note_state(struct graphs *s, struct memory_graph *g, const GArray *looks,
                       uint64_t mark, uint64_t state);

/* ---- graphs_alone.c ---- */
/* Notes the memory and objects that the threads of a run share; sets s->restart when graphs
 * were skipped on an assumption that the run refutes. */
void graphs_note_uses(struct graphs *s, const struct trace *t, const struct memory_recorded *r);
/* The graph was run. */
void graphs_note_ends(struct graphs *s, struct memory_graph *g);
/* Can the graph be skipped, as a run of it would show nothing new? */
bool graphs_spare(struct graphs *s, struct memory_graph *g, bool blocked);

/* ---- graphs_plan.c ---- */
/* The plan of a graph, all of whose events are known. plan_release. */
void graphs_plan(struct graphs *s, struct memory_graph *g, struct plan *plan);

/* ---- graphs_orders.c ---- */
/* Adds the run's atomics to the report, and gives them the orders that replace their own. */
void graphs_apply_orders(struct graphs *s, struct trace *t);
/* At the end: notes orders given for places where no run has such an operation. */
void graphs_note_orders(struct graphs *s);
/* The fences to add beside atomics: struct memory_fence; owned by the caller. */
GArray *graphs_fences(const struct graphs *s);
/* For the search for races in the run's trace: an access beside such a fence has the fence's
 * order itself, which orders no more than the fence does. Returns the argument for
 * graphs_hide_fences, which undoes it. */
uint8_t *graphs_show_fences(const struct graphs *s, struct trace *t);
void graphs_hide_fences(struct trace *t, uint8_t *before);

/* ---- graphs_words.c ---- */
/* Sets the run's reversal, thread, place and variable, from the loads whose values no
 * sequentially consistent run in this order would read. */
void graphs_describe(const struct trace *t, struct explore_run *r);

/* ---- graphs_run.c ---- */
/* Explores all graphs; false and `error` when the program cannot be run. */
bool graphs_explore(struct exploration *x, enum memory_model model, struct error *error);

#endif
