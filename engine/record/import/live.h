/*
 * live.h - makes the trace of a recording while its program runs: a thread of the recorder
 * reads each chunk of the log as soon as the runtime has written it. Controlled mode only.
 */
#ifndef HEDDLE_LIVE_H
#define HEDDLE_LIVE_H

#include "engine/record/import/running.h"
#include "engine/record/record.h"

struct live;

/* Follow the log at `path`, which exists, and may have no header yet, and whose last chunk is
 * in `buffer`; `name` and `facts` are those of record_import, and all are used until the end.
 * `watch`: analyses of the events, soon after they are recorded; or NULL. NULL: not possible
 * here. */
struct live *live_start(const char *path, int buffer, const char *name,
                        struct record_facts *facts, const struct running_watch *watch);
/* The program has ended and its log is whole: imports the rest, as record_import. Frees it. */
struct trace *live_finish(struct live *live, const struct progress *progress,
                          struct error *error);

#endif
