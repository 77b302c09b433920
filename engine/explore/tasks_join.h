/*
 * tasks_join.h - the results of tasks (tasks.h) added to one state: runs, errors, races and
 * pending schedules, with their numbers changed to those of the join.
 */
#ifndef HEDDLE_TASKS_JOIN_H
#define HEDDLE_TASKS_JOIN_H

#include "engine/base/numbers.h"
#include "engine/explore/explore_private.h"

/* The state that others are added to. */
struct join {
	struct exploration *x;
	struct numbers *classes; /* of its runs that count */
	GHashTable *histories;   /* class -> its number among the histories + 1 */
};

void join_begin(struct join *j, struct exploration *x);
void join_end(struct join *j);
/* Takes over the results that a task has added to the base. */
void join_add(struct join *j, struct exploration *task);

/*
 * A task that met an object which is not as specified, or a run that needs kernel threads, has
 * begun anew, and the runs of the others are void (begin_again of explore.c): only errors of
 * specifications count.
 */
void join_add_restarted(struct exploration *x, const struct exploration *other,
                        const struct task_origin *base);
/* The number of objects that violate their specifications, and of other reasons to begin
 * again. */
guint join_knowledge(const struct exploration *x);

#endif
