/*
 * checkup_kept.c - the list of runs of `heddle check`, what they found missing, and the time
 * left.
 */
#include "tui/batch/check/checkup.h"

#include "engine/predict/predict.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* -- limits --------------------------------------------------------------------------------- */

bool checkup_over(const struct checkup *c)
{
	return (c->interrupted && *c->interrupted) ||
	       (c->deadline != 0 && g_get_monotonic_time() > c->deadline);
}

double checkup_left(const struct checkup *c)
{
	if (c->deadline == 0)
		return CHECKUP_LONGEST;
	return MAX(0, (double)(c->deadline - g_get_monotonic_time()) / G_USEC_PER_SEC);
}

static void add_new(GPtrArray *texts, char *text)
{
	if (g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
		g_free(text);
	else
		g_ptr_array_add(texts, text);
}

void checkup_uncovered(struct checkup *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_new(c->uncovered, g_strdup_vprintf(format, ap));
	va_end(ap);
}

void checkup_late(struct checkup *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_new(c->late, g_strdup_vprintf(format, ap));
	va_end(ap);
}

/* -- runs ----------------------------------------------------------------------------------- */

enum { KEPT_EVENTS = 1000000 }; /* bound on an additional run whose trace is kept */

static void add_name(GChecksum *sum, const struct trace *t, uint32_t name)
{
	const char *text = trace_string(t, name);

	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

/* Events name threads, variables, locks and places by number: what these numbers mean in two
 * traces of the command line differs. */
static void add_names(GChecksum *sum, const struct trace *t)
{
	for (uint64_t i = 0; i < t->threads_count; i++)
		add_name(sum, t, t->threads[i].name);
	for (uint64_t i = 0; i < t->variables_count; i++) {
		const struct variable *v = &t->variables[i];

		if (v->block == NONE && v->spelling & NAME_BY_RULE)
			g_checksum_update(sum, (const guchar *)&v->address, sizeof(v->address));
		else if (!(v->spelling & NAME_BY_RULE))
			add_name(sum, t, v->spelling);
	}
	for (uint64_t i = 0; i < t->objects_count; i++)
		add_name(sum, t, t->objects[i].name);
	for (uint64_t i = 0; i < t->locations_count; i++)
		add_name(sum, t, t->locations[i].name);
}

static char *digest_of(const struct trace *t)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	struct ending end = trace_ending(t);
	int numbers[2] = { (int)end.kind, end.number };

	g_checksum_update(sum, (const guchar *)t->events,
	                  (gssize)(t->events_count * sizeof(*t->events)));
	g_checksum_update(sum, (const guchar *)numbers, sizeof(numbers));
	add_names(sum, t);
	return g_strdup(g_checksum_get_string(sum));
}

uint32_t checkup_add_run(struct checkup *c, const struct trace *t, struct checkup_run made)
{
	struct checkup_run run = made;

	run.trace = g_strdup(made.trace);
	run.events = t->events_count;
	run.same_as = NONE;
	run.digest = digest_of(t);
	run.warnings = g_ptr_array_new_with_free_func(g_free);
	gpointer known = g_hash_table_lookup(c->digests, run.digest);
	for (guint i = 0; t->warnings != NULL && i < t->warnings->len; i++)
		g_ptr_array_add(run.warnings, g_strdup(t->warnings->pdata[i]));

	if (known != NULL)
		run.same_as = GPOINTER_TO_UINT(known) - 1;
	g_array_append_val(c->runs, run);
	if (known == NULL)
		g_hash_table_insert(c->digests, run.digest, GUINT_TO_POINTER(c->runs->len));
	c->missing_calls += missing_code_was_called(t);
	c->lacks_accesses |= accesses_are_missing(t);
	const char *unseen = trace_note(t, TRACE_UNSEEN_CALLS_NOTE);
	if (unseen != NULL)
		checkup_uncovered(c,
		                  "accesses of functions that are not instrumented, called "
		                  "while other threads ran: %s",
		                  unseen);
	const char *lacking = trace_note(t, TRACE_LACKING_NOTE);
	if (lacking != NULL)
		checkup_uncovered(
		        c, "what was not recorded, though it ran code of the program: %s",
		        lacking);
	return c->runs->len - 1;
}

char *checkup_run_path(const struct checkup *c)
{
	return g_strdup_printf("%s.run%u.hdl", c->prefix, c->runs->len);
}

/* Any such run is a run of the program, even when its schedule was not followed. */
void checkup_keep_run(struct checkup *c, struct plan_run *run, const char *output)
{
	struct outcome *outcome;
	struct error error;
	uint32_t number;

	if (run->trace == NULL || run->trace->events_count > KEPT_EVENTS ||
	    c->runs->len > c->runs_asked * 3 + 3)
		return;
	/* a run that left its schedule and could not continue was ended by our signal */
	if (run->diverged && (run->result.signal == SIGABRT || run->result.signal == SIGKILL))
		return;
	record_note_ending(run->trace, &run->facts, &run->result);
	g_autofree char *digest = digest_of(run->trace);
	if (g_hash_table_contains(c->digests, digest))
		return;
	g_autofree char *path = checkup_run_path(c);
	if (trace_write(run->trace, path, TRACE_BINARY, NULL, NULL, &error)) {
		outcome = g_new0(struct outcome, 1);
		outcome_take(outcome, run->trace, &run->facts, &run->result, output, NULL);
		number = checkup_add_run(c, run->trace,
		                         (struct checkup_run){ .strategy = c->making,
		                                               .trace = path,
		                                               .exit = run->result.status,
		                                               .outcome = outcome });
		checkup_run_at(c, number)->tried = c->trying;
		g_array_append_val(c->waiting, number);
	}
}

void checkup_rewind_input(const struct checkup *c)
{
	if (c->input >= 0)
		lseek(STDIN_FILENO, c->input, SEEK_SET);
}

struct trace *checkup_open_run(struct checkup *c, const char *path)
{
	struct trace_options options = { .lenient = c->lenient };

	return trace_open(path, &options, NULL, &c->error);
}
