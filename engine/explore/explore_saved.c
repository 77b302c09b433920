/*
 * explore_saved.c - traces of runs in files, SAVE.runN.hdl: with how they ended, and under a
 * memory model with the run as a witness beside them.
 */
#include "engine/explore/explore_private.h"

#include "engine/trace/ending.h"
#include "engine/trace/formats.h"
#include "engine/witness/witness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Record the ending in the trace. */
static void note_ending(struct trace *t, const struct explore_run *r)
{
	static const uint8_t endings[EXPLORE_END_COUNT] = {
		[EXPLORE_FINE] = ENDING_EXIT,
		[EXPLORE_STATUS] = ENDING_EXIT,
		[EXPLORE_SIGNAL] = ENDING_SIGNAL,
		[EXPLORE_DEADLOCK] = ENDING_STUCK,
		[EXPLORE_BLOCKED] = ENDING_STUCK,
		[EXPLORE_CHECK] = ENDING_CHECK,
		[EXPLORE_USE_AFTER_FREE] = ENDING_ERROR,
		[EXPLORE_LOCK_MISUSE] = ENDING_ERROR,
		[EXPLORE_UNWRITTEN] = ENDING_ERROR,
		[EXPLORE_SPECIFICATION] = ENDING_ERROR,
		[EXPLORE_LINEARIZABILITY] = ENDING_ERROR,
		[EXPLORE_CUT] = ENDING_CUT,
		[EXPLORE_DIVERGED] = ENDING_CUT,
	};
	enum ending_kind kind = (enum ending_kind)endings[r->end];
	char *text = kind == ENDING_ERROR
	                     ? g_strdup_printf("%s: %s", explore_end_word(r->end), r->story)
	                     : g_strdup(r->story);
	trace_note_ending(t, kind, r->status, text);
	g_free(text);
}

/* Under a memory model: the run as a witness, beside its trace. */
static bool save_witness(struct exploration *x, const struct explore_run *r,
                         struct error *error)
{
	if (x->options->memory == MEMORY_SC)
		return true;
	char *path = g_strdup_printf("%s.run%u.wit", x->options->save, x->run);
	struct witness w;
	witness_of_run(x->trace, r->trace, &w);
	bool good = witness_write(x->trace, &w, path, error);
	witness_release(&w);
	g_free(path);
	return good;
}

void explore_name_kept(const struct explore_report *r, struct error *error)
{
	const char *first = NULL;
	unsigned traces = 0;
	for (guint i = 0; i < r->runs->len; i++) {
		const struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);
		if (run->trace != NULL && traces++ == 0)
			first = run->trace;
	}
	size_t length = strlen(error->remedy);
	if (traces == 1)
		snprintf(error->remedy + length, sizeof error->remedy - length,
		         "; the trace %s is kept", first);
	else if (traces > 1)
		snprintf(error->remedy + length, sizeof error->remedy - length,
		         "; the traces of %u runs are kept, %s the first", traces, first);
}

/* Has the run a trace in a file of this exploration? Others are left as they are. */
static bool is_own_trace(const struct exploration *x, const struct explore_run *r)
{
	g_autofree char *begin = g_strdup_printf("%s.run", x->options->save);
	return x->options->save != NULL && r->trace != NULL &&
	       g_str_has_prefix(r->trace, begin);
}

/* The witness beside a trace; owned by the caller. */
static char *witness_path(const char *trace)
{
	return g_strdup_printf("%.*s.wit", (int)strlen(trace) - 4, trace);
}

void explore_unsave(const struct exploration *x, struct explore_run *r)
{
	if (!is_own_trace(x, r))
		return;
	g_autofree char *witness = witness_path(r->trace);
	unlink(r->trace);
	unlink(witness);
	g_clear_pointer(&r->trace, g_free);
}

void explore_renumber(const struct exploration *x, struct explore_run *r, uint32_t number)
{
	if (!is_own_trace(x, r))
		return;
	char *path = g_strdup_printf("%s.run%u.hdl", x->options->save, number);
	if (rename(r->trace, path) != 0) {
		g_free(path);
		return;
	}
	g_free(r->trace);
	r->trace = path;
}

bool explore_save(struct exploration *x, struct explore_run *r, struct error *error)
{
	if (x->options->save == NULL)
		return true;
	r->trace = g_strdup_printf("%s.run%u.hdl", x->options->save, x->run);
	note_ending(x->trace, r);
	if (trace_write(x->trace, r->trace, TRACE_BINARY, NULL, NULL, error) &&
	    save_witness(x, r, error))
		return true;
	explore_name_kept(x->report, error);
	return false;
}
