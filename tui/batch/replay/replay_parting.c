/* replay_parting.c - see replay_parting.h. */
#include "tui/batch/replay/replay_parting.h"

#include <stdio.h>

#include "engine/harm/outcome.h"
#include "engine/harm/parting.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

static void tell_side(const struct trace *t, const struct parting *p, int side,
                      const char *before)
{
	g_autoptr(GString) text = g_string_new(NULL);
	parting_append(t, p, side, text);
	fprintf(stderr, "heddle:   %s: %s\n", before, text->str);
}

/* Does the run's trace have all its events? A signal cuts its threads off anywhere. */
static bool is_whole(const struct plan_run *run)
{
	return !run->diverged && !run->result.timed_out && !run->result.signal &&
	       run->facts.status != LOG_STARVED && run->facts.status != LOG_LIMIT &&
	       run->facts.status != LOG_FULL;
}

static void tell_of_recording(const struct trace *recorded, const struct plan_run *run)
{
	struct ending ending = trace_ending(recorded);
	bool whole[2] = { is_whole(run), recorded->complete && ending.kind != ENDING_CUT &&
		                                 ending.kind != ENDING_SIGNAL };
	struct parting p;
	if (parting_find(run->trace, recorded, whole, false, &p)) {
		fprintf(stderr, "heddle: here the run and the recording part:\n");
		tell_side(run->trace, &p, 0, "the run");
		tell_side(recorded, &p, 1, "the recording");
	} else {
		fprintf(stderr, "heddle: each thread does and sees what it did in the "
		                "recording\n");
	}
	parting_release(&p);
}

/* "acct.balance is 150, not 100 (T2 last)" */
static void tell_ends(const struct plan_run *runs)
{
	struct outcome ends[2] = { { 0 }, { 0 } };
	for (int i = 0; i < 2; i++)
		outcome_take(&ends[i], runs[i].trace, &runs[i].facts, &runs[i].result, NULL,
		             NULL);
	unsigned parts = outcome_differs(&ends[0], &ends[1]) & ~(unsigned)OUTCOME_PRINTED;
	if (parts) {
		g_autofree char *text = outcome_difference(&ends[0], &ends[1], parts);
		fprintf(stderr, "heddle: at the end of the first: %s as in the second\n", text);
	}
	for (int i = 0; i < 2; i++)
		outcome_release(&ends[i]);
}

static void tell_of_two(const struct plan_run *runs)
{
	bool whole[2] = { is_whole(&runs[0]), is_whole(&runs[1]) };
	struct parting p;
	if (parting_find(runs[0].trace, runs[1].trace, whole, true, &p)) {
		fprintf(stderr, "heddle: here the two orders part:\n");
		tell_side(runs[0].trace, &p, 0, "run 1");
		tell_side(runs[1].trace, &p, 1, "run 2");
	} else {
		fprintf(stderr, "heddle: each thread does and sees the same in both\n");
	}
	parting_release(&p);
	tell_ends(runs);
}

void replay_tell_parting(const struct trace *recorded, const struct plan_run *runs,
                         unsigned count)
{
	if (runs[0].trace == NULL || (count > 1 && runs[1].trace == NULL))
		return;
	if (count > 1)
		tell_of_two(runs);
	else
		tell_of_recording(recorded, &runs[0]);
}

bool replay_keep(const struct plan_run *run, const char *prefix, unsigned number,
                 struct error *error)
{
	g_autofree char *path = g_strdup_printf("%s.run%u.hdl", prefix, number);
	return run->trace == NULL ||
	       trace_write(run->trace, path, TRACE_BINARY, NULL, NULL, error);
}
