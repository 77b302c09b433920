/* trial.c - see trial.h. */
#include "engine/harm/trial.h"

#include "engine/base/file.h"

#include <errno.h>
#include <unistd.h>

/* A run that goes on for ever fills the disk, and its trace the memory: some million events. */
#define LONGEST_LOG (16ull << 20)

bool trial_open(struct trial *x)
{
	x->output = file_open_nameless(g_get_tmp_dir());
	x->errors = file_open_nameless(g_get_tmp_dir());
	x->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (x->output >= 0 && x->errors >= 0)
		return true;
	error_set(x->error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
	          "cannot keep what a run prints: %s", g_strerror(errno));
	trial_close(x);
	return false;
}

void trial_close(struct trial *x)
{
	plan_release(&x->plan);
	if (x->output >= 0)
		close(x->output);
	if (x->errors >= 0)
		close(x->errors);
	x->output = x->errors = -1;
}

bool trial_run(struct trial *x, unsigned first, struct outcome *outcome, char **why)
{
	struct plan_run run;
	g_autofree char *path = file_descriptor_path(x->output);
	g_autofree char *errors = file_descriptor_path(x->errors);
	bool followed;

	x->plan.output = path;
	x->plan.max_bytes = LONGEST_LOG;
	x->plan.errors = errors;
	if (x->input >= 0)
		lseek(STDIN_FILENO, x->input, SEEK_SET);
	if (!plan_follow(&x->plan, x->o->argv, first, NULL, NULL, &run, x->error)) {
		x->broken = true;
		*why = g_strdup("the program could not be run");
		plan_run_release(&run);
		return false;
	}
	followed = !run.diverged && !run.apart;
	if (!followed)
		*why = g_strdup(run.apart ? "the two accesses were of different places"
		                : run.cause && *run.cause ? run.cause
		                                          : "the program left the schedule");
	outcome_take(outcome, run.trace, &run.facts, &run.result, path, NULL);
	if (x->o->ran)
		x->o->ran(x->o->context, &run, path);
	plan_run_release(&run);
	return followed;
}
