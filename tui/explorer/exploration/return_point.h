/*
 * return_point.h - the point of no return of the open run, from the exploration beside its
 * trace: the last event after which it can still end well, and the next one, after which no
 * continuation does.
 *
 * `heddle explore -o FILE` keeps it in FILE, `heddle check` in PREFIX.explored. It holds for
 * every run that begins with the same events up to there, also for a recorded one.
 */
#ifndef HEDDLE_RETURN_POINT_H
#define HEDDLE_RETURN_POINT_H

#include "tui/explorer/words/prose.h"
#include "tui/explorer/source.h"

struct return_point {
	uint32_t passes, fails;           /* events of the open trace; passes NONE: the begin */
	char *thread, *operation, *place; /* owned: the event in place of `fails` in a run
	                                   * that ends well */
	char *story;                      /* owned: how the run of the exploration ended */
	bool every; /* true for all continuations; else for those that were run */
};

/* Searches `file` (an exploration; may be NULL), then the files beside the trace. NULL: none
 * has a point for this run. Owned by the caller; return_point_free takes NULL, too. */
struct return_point *return_point_find(const struct trace *t, const char *file);
void return_point_free(struct return_point *p);

/* "every schedule fails", or the weaker claim that was established. */
const char *return_point_claim(const struct return_point *p);
/* "T1's lock m (q.c:14)": the step of the run that ends well. */
void return_point_append_instead(const struct return_point *p, GString *out);
/* Add both places with their source, the difference, and the threads' state at both. */
void return_point_tell(const struct session *s, struct sources *sources, GArray *prose);

#endif
