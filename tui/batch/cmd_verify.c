/* cmd_verify.c - `heddle verify`: a witness against its trace, by the rules alone. */
#include "engine/atomic/atomic.h"
#include "engine/commute/spec.h"
#include "engine/witness/witness.h"
#include "tui/batch/print.h"
#include "tui/batch/spec_rules.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "spec", "FILE", "specification of objects, in the place of those in the witness", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

/* A witness of another trace is judged all the same, by what it says; but say so. */
static void compare_digest(const struct arguments *a, const struct trace *t,
                           const struct witness *w)
{
	char *digest = trace_digest(t);
	struct error note;

	if (w->trace_digest != NULL && strlen(w->trace_digest) == 64 && *digest != '\0' &&
	    g_ascii_strcasecmp(digest, w->trace_digest) != 0 && !argument_flag(a, "quiet")) {
		error_set(&note, a->words->pdata[1], "it is judged by its events all the same",
		          "this witness was made for another content of the trace");
		say_error(&note);
	}
	g_free(digest);
}

static void print_verdict(const struct trace *t, const struct witness *w, bool accepted,
                          const GString *reason, enum output_format format)
{
	if (format != FORMAT_TEXT) {
		json_t *j = json_pack("{ss sb si so}", "heddle", HEDDLE_VERSION, "accepted",
		                      accepted, "events", (int)w->events->len, "reason",
		                      json_text(reason->str));
		json_dumpf(j, stdout, 0);
		putchar('\n');
		json_decref(j);
	} else if (accepted) {
		printf("accepted: a correct reordering of %u events\n", w->events->len);
	} else {
		printf("refused: %s\n", reason->str);
	}
}

/* The rules of objects: from --spec, else from the witness; none for a race that names
 * none.  False and `error`. */
static bool open_rules(const struct arguments *a, struct trace *t, const struct witness *w,
                       struct spec_rules **rules, struct error *error)
{
	GPtrArray *given = argument_values(a, "spec"), *named = spec_rules_paths(w);
	bool needed = given->len > 0 || named->len > 0 || w->claim == CLAIM_COV;

	*rules = needed ? spec_rules_new(t, given->len > 0 ? given : named, error) : NULL;
	g_ptr_array_unref(given);
	g_ptr_array_unref(named);
	return !needed || *rules != NULL;
}

/* A witness of an atomic-set violation must show a cycle of units of work, too. */
static bool has_cycle(const struct arguments *a, struct trace *t, const struct witness *w,
                      GString *reason, struct error *error, bool *good)
{
	GPtrArray *given = argument_values(a, "spec"), *named = spec_rules_paths(w);
	struct specs *specs = specs_open(given->len > 0 ? given : named, error);
	struct atomic_model *m = specs ? atomic_model_for(t, specs, NULL, NULL) : NULL;
	bool cycle = m != NULL && atomic_check(t, m, (const uint32_t *)(void *)w->events->data,
	                                       w->events->len, NULL, 0, reason);

	*good = specs != NULL;
	atomic_model_free(m);
	if (specs)
		specs_free(specs);
	g_ptr_array_unref(given);
	g_ptr_array_unref(named);
	return cycle;
}

static int verify(const struct arguments *a, struct trace *t, const struct witness *w,
                  enum output_format format)
{
	struct check_options check = { .use_values = w->under_values,
		                       .use_missing = w->under_missing };
	struct spec_rules *rules;
	struct error error;
	GString *reason;
	bool accepted, good = true;

	compare_digest(a, t, w);
	if (!open_rules(a, t, w, &rules, &error))
		return fail(&error);
	check.semantics = spec_rules_semantics(rules);
	reason = g_string_new(NULL);
	accepted = witness_check(t, (const uint32_t *)w->events->data, w->events->len, w->claim,
	                         (const uint32_t *)w->pair->data, w->pair->len, &check, reason);
	/* A race that is visible only as a C11 race is of kind race too. */
	if (!accepted && w->claim == CLAIM_RACE)
		accepted = witness_check(t, (const uint32_t *)w->events->data, w->events->len,
		                         CLAIM_C11_RACE, (const uint32_t *)w->pair->data,
		                         w->pair->len, &check, NULL);
	if (accepted && w->claim == CLAIM_ATOMIC)
		accepted = has_cycle(a, t, w, reason, &error, &good);
	if (good)
		print_verdict(t, w, accepted, reason, format);
	g_string_free(reason, TRUE);
	spec_rules_free(rules);
	return !good ? fail(&error) : accepted ? EXIT_NOTHING : EXIT_FOUND;
}

static int run(struct arguments *a)
{
	enum output_format format;
	struct witness w = { 0 };
	struct error error;
	struct trace *t;
	int status = EXIT_BAD;

	argument_words(a, 2, 2);
	format = argument_format(a, false);
	if (!witness_read(a->words->pdata[1], &w, &error))
		return fail(&error);
	t = open_trace(a, a->words->pdata[0]);
	if (t != NULL)
		status = verify(a, t, &w, format);
	witness_release(&w);
	trace_close(t);
	return status;
}

const struct command command_verify = {
	.name = "verify",
	.usage = "TRACE WITNESS",
	.summary = "check a witness against its trace, by the rules alone",
	.details =
	        "Exit status: 0 accepted, 1 refused (with the rule that is broken, and where), "
	        "2 bad input.",
	.options = options,
	.run = run,
};
