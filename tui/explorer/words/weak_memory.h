/*
 * weak_memory.h - a run under a memory model on the screen: where a load's value came from,
 * which store it passed over, why it could, and what would forbid it; store buffers (tso) and
 * the modification order of a place (rc11) as rows of the state.
 */
#ifndef HEDDLE_WEAK_MEMORY_H
#define HEDDLE_WEAK_MEMORY_H

#include "tui/explorer/views/state_pane.h"

/* False and `error`: the run is not sequentially consistent (session.weak), and the analysis
 * `what` ("other schedules") does not apply to such a run. */
bool weak_memory_allows(const struct session *s, const char *what, struct error *error);
/* Append how the load differs from the last store, in a few words: ", not 1 by T1 (mp.c:5)".
 * Nothing for other events. Needs INDEX_ALL. */
void weak_memory_append_brief(const struct session *s, uint32_t event, GString *out);
/* The memory orders that would forbid the weak behaviour at the selected event, as `heddle
 * explore --order` takes them: "m.c:32=release"; char *, owned by the caller. Empty if none
 * is known. */
GPtrArray *weak_memory_against(const struct session *s);
/* Rows at the selected event; none for a run without a memory model. Needs INDEX_ALL. */
void add_weak_memory(const struct app *app, GArray *rows);
/* The heading of these. */
char *weak_memory_heading(const struct app *app);

#endif
