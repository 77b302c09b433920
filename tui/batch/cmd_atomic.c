/* cmd_atomic.c - `heddle atomic`: atomic-set serializability violations. */
#include "engine/atomic/atomic.h"
#include "tui/batch/command.h"

static const struct command_option options[] = {
	{ "cycles", "N", "list at most N cycles, shortest first", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	struct print_options print = { .format = argument_format(a, true) };
	uint64_t limit = argument_number(a, "cycles", 0);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct atomic_model *m = atomic_model_declared(t);
	struct report *r = atomic_find(t, m, limit, progress_on_stderr());
	progress_done();
	int status = print_report(r, &print);
	report_free(r);
	atomic_model_free(m);
	trace_close(t);
	return status;
}

const struct command command_atomic = {
	.name = "atomic",
	.usage = "TRACE [--cycles N]",
	.summary = "atomic-set serializability violations",
	.options = options,
	.run = run,
};
