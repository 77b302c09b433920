/*
 * cov_search.h - random traces with locks, memory, blocks that are freed, conditions, objects
 * that are destroyed, and invocations of a random specification; and the exhaustive search over
 * their correct reorderings, rule 5 among the rules, written from semantics.md: for the
 * property tests of order violations and of their witnesses.
 */
#ifndef HEDDLE_COV_SEARCH_H
#define HEDDLE_COV_SEARCH_H

#include "tests/property/random_spec.h"

#define COV_MOST      24 /* events */
#define COV_THREADS   3
#define COV_VARIABLES 2
#define COV_OBJECTS   5

struct trace *cov_random_run(struct dice *d, const struct spec_object *o, bool effects);

struct cov_search {
	struct model *m;
	const struct trace *t;
	uint32_t n, own[COV_THREADS + 1][COV_MOST], count[COV_THREADS + 1];
	uint32_t writer[COV_MOST]; /* of each read in the trace */
	uint32_t scope[COV_MOST];  /* innermost open CALL of a specified object, or NONE */
	uint32_t call[COV_MOST], ret[COV_MOST]; /* partners, or NONE */
	bool private_lock[COV_OBJECTS];         /* used only inside of scopes of one object */
	struct call calls[COV_MOST];            /* the invocation that ends at an event */
	struct call_scratch scratch[COV_MOST];
	uint32_t e1, e2, end2;
	bool free_mode;
	bool race; /* asked is for both e1 and e2 as the next events of their threads */
	/* the reordering so far */
	uint32_t sequence[COV_MOST], length, place[COV_THREADS + 1];
	bool taken[COV_MOST];
	GHashTable *seen;
};

/* Computes the facts of the trace of `s->m`, which has at most COV_MOST events. */
void cov_search_init(struct cov_search *s, struct model *m);
/*
 * Two events, `e` before `f`, by where they take effect (an ACT, RET, access, free, ...): are
 * they of one object and do not commute?  `happened`: this is the wrong order by the object
 * itself.
 */
bool cov_clash(struct cov_search *s, uint32_t e, uint32_t f, bool *happened);
/* Is there a correct reordering that holds e2 (which ends at end2) and ends with e1? */
bool cov_exists(struct cov_search *s, uint32_t e1, uint32_t e2, uint32_t end2);
/* One after which both are next? */
bool cov_race_exists(struct cov_search *s, uint32_t e1, uint32_t e2);
/* Is this sequence a witness of an order violation on the pair, by the definition? */
bool cov_is_witness(struct cov_search *s, const uint32_t *sequence, size_t length,
                    const uint32_t pair[2]);
/* Are the two inside of scopes on one object? */
bool cov_same_scope(const struct cov_search *s, uint32_t e, uint32_t f);

#endif
