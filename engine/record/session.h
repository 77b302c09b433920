/*
 * session.h - one recording from beginning to end: run, import, write the trace, remove the
 * log. Shared by `record`, `shake`, `replay` and the explorer's `r` key.
 */
#ifndef HEDDLE_SESSION_H
#define HEDDLE_SESSION_H

#include "engine/record/import/running.h"
#include "engine/record/record.h"
#include "engine/record/strategy.h"
#include "engine/trace/weak.h"

/* Accesses that are redundant for these analyses are left out. */
enum session_filter { FILTER_NOTHING, FILTER_HB, FILTER_WCP, FILTER_COMMUTE, FILTER_VARIABLES };
/* Their words, from FILTER_HB on; ends with NULL. */
extern const char *const session_filters[];

/* Options in the user's terms; zero to init, argv is required. */
struct session_options {
	char **argv;
	const char *output; /* the trace; NULL: PROG.hdl in the current folder */
	bool free_mode;
	bool no_values;
	enum session_filter filter;
	uint32_t sample; /* 0: all accesses; N: one window in N; not with a filter */
	bool no_missing; /* calls into code that is not instrumented are not recorded */
	bool no_edc;     /* where the program compares its accesses, EDC needs none */
	bool no_inputs;  /* input from outside is not kept for replay */
	bool compress;   /* the log, while recording; not with keep_events */
	/* The events go to the file alone: the session's trace has only its other tables. */
	bool disk_alone;
	bool nothing_kept; /* no trace is made: `watch` alone takes the events. The session's
	                    * has only warnings, and after a deadlock its tables. */
	/* Takes the events while they are recorded: controlled mode, not with compress and
	 * keep_events. Without `begin`: none. */
	struct running_watch watch;
	struct strategy strategy; /* its turns are borrowed */
	enum weak_model memory;   /* not WEAK_SC: controlled mode only */
	uint64_t max_bytes, keep_events;
	const char *start_at;
	const char *suppressions;              /* kept in the trace: its text, or NULL */
	const char *stdout_path, *stderr_path; /* files for its output, or NULL: as ours */
	unsigned timeout_ms;                   /* end it after this time; 0: never */
	struct joined *joined; /* a process that waits to be recorded, or NULL: a new one */
	const GPtrArray
	        *specs; /* char *: files whose bind lines and missing blocks count; or NULL */
};

struct recording {
	struct record_result result;
	struct record_facts facts;
	struct trace *trace; /* owned, or NULL */
	char *output;        /* owned */
	char *log; /* owned: the recording, kept as no trace was made of it; or NULL */
};
void session_release(struct recording *s);
/* Does the program compare its plain accesses itself (LOG_SHADOW), if there is room? */
bool session_has_shadow(const struct session_options *o);

/* Accesses are to be recorded from the first call of `function` on: sets its address in
 * `config`. False and `error` when the program has no such function, or it is inlined. */
bool session_start_at(const char *program, const char *function, struct log_config *config,
                      struct error *error);

/*
 * Run and write the trace.  False and `error` for a failure of our own; then
 * session.result.started says whether the program ran all the same.
 */
bool session_record(const struct session_options *options, struct recording *s,
                    const struct progress *progress, struct error *error);

#endif
