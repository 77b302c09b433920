/*
 * cmd_verify.c - `heddle verify`: checks a witness against its trace.
 */
#include "engine/atomic/atomic.h"
#include "engine/commute/language/spec.h"
#include "engine/witness/witness.h"
#include "tui/batch/print/print.h"
#include "tui/batch/spec_rules.h"
#include "engine/witness/check_reach.h"
#include "engine/witness/check_weak.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "spec", "FILE", "specification of objects, in the place of those in the witness", 0 },
	{ "memory", "sc|tso|rc11", "is it a run of this memory model (default: the witness's)",
	  0 },
	{ "lenient", NULL,
	  "warn of a fault of the input that can be passed over safely, and go on; judge a witness of another "
	  "content of the trace",
	  0 },
	OPTION_FORMAT,
	{ 0 },
};

/* The result. */
struct verdict_of {
	bool accepted;
	enum claim claim; /* the claim proved, or refused */
	GPtrArray *notes; /* char *, owned */
	GString *reason;
};

/* Is it a witness of this trace? One of another trace names other events, even when its
 * numbers fit; with --lenient it is checked nevertheless. */
static bool of_this_trace(const struct arguments *a, const struct trace *t,
                          const struct witness *w, struct verdict_of *v)
{
	g_autofree char *digest = trace_digest(t);
	bool other = w->trace_digest != NULL && strlen(w->trace_digest) == 64 &&
	             *digest != '\0' && g_ascii_strcasecmp(digest, w->trace_digest) != 0;

	if (!other)
		return true;
	if (!argument_flag(a, "lenient")) {
		g_string_append(v->reason,
		                "the trace: this witness was made for another content of it "
		                "(--lenient judges it by its events all the same)");
		return false;
	}
	g_ptr_array_add(v->notes, g_strdup("this witness was made for another content of the "
	                                   "trace; it was judged by its events all the same"));
	return true;
}

static json_t *json_notes(const GPtrArray *notes)
{
	json_t *array = json_array();

	for (guint i = 0; i < notes->len; i++)
		json_array_append_new(array, json_text(notes->pdata[i]));
	return array;
}

static void print_verdict(const struct witness *w, const struct verdict_of *v,
                          enum output_format format)
{
	if (format != FORMAT_TEXT) {
		json_auto_t *j =
		        json_pack("{ss sb ss ss si so so}", "heddle", HEDDLE_VERSION,
		                  "accepted", v->accepted, "kind", claim_word(w->claim),
		                  "proved", v->accepted ? claim_word(v->claim) : "nothing",
		                  "events", (int)w->events->len, "reason",
		                  json_text(v->reason->str), "notes", json_notes(v->notes));
		json_dumpf(j, stdout, 0);
		putchar('\n');
		return;
	}
	if (v->accepted && w->claim == CLAIM_REACH)
		printf("accepted: a correct reordering of %u event%s, before the last of which "
		       "this holds: %s\n",
		       w->events->len, plural(w->events->len), printable(w->condition));
	else if (v->accepted && w->claim == CLAIM_STUCK)
		printf("accepted: %u event%s, the last of which can never come\n",
		       w->events->len, plural(w->events->len));
	else if (v->accepted && w->memory != WEAK_SC)
		printf("accepted: a run under %s of %u event%s\n", weak_model_words[w->memory],
		       w->events->len, plural(w->events->len));
	else if (v->accepted)
		printf("accepted: a correct reordering of %u event%s\n", w->events->len,
		       plural(w->events->len));
	else
		printf("refused: %s\n", v->reason->str);
	for (guint i = 0; i < v->notes->len; i++)
		printf("note: %s\n", (const char *)v->notes->pdata[i]);
}

/* Specifications from --spec, else from the witness; none for a race without any. False and
 * `error`. */
static bool open_rules(const struct arguments *a, struct trace *t, const struct witness *w,
                       struct spec_rules **rules, struct error *error)
{
	g_autoptr(GPtrArray) given = argument_values(a, "spec"), named = spec_rules_paths(w);
	bool needed = given->len > 0 || named->len > 0 || w->claim == CLAIM_COV;

	*rules = needed ? spec_rules_new(t, given->len > 0 ? given : named, error) : NULL;
	return !needed || *rules != NULL;
}

/* A witness of an atomic-set violation must also have a cycle of units: of those it names, if
 * any. */
static bool has_cycle(const struct arguments *a, struct trace *t, const struct witness *w,
                      GString *reason, struct error *error, bool *good)
{
	g_autoptr(GPtrArray) given = argument_values(a, "spec"), named = spec_rules_paths(w);
	struct specs *specs = specs_open(given->len > 0 ? given : named, error);
	struct atomic_model *m = specs ? atomic_model_for(t, specs, NULL, NULL) : NULL;
	bool cycle = m != NULL && atomic_check(t, m, event_list_of(w->events),
	                                       event_list_of(w->pair), reason);

	*good = specs != NULL;
	atomic_model_free(m);
	if (specs)
		specs_free(specs);
	return cycle;
}

static bool proves(struct trace *t, const struct witness *w, enum claim claim,
                   const struct check_options *check, GString *reason)
{
	return witness_check(t, event_list_of(w->events),
	                     (struct claimed){ claim, event_list_of(w->pair) }, check, reason);
}

/* By the definitions of the model alone: that the sequence is a run of it, and of a race that
 * its happens-before leaves the two unordered. */
static bool judge_weak(const struct trace *t, const struct witness *w, enum weak_model model,
                       struct verdict_of *v, struct error *error)
{
	bool race = w->claim == CLAIM_C11_RACE;
	const char *word = weak_model_words[model];

	if (!race && w->claim != CLAIM_PREFIX)
		return error_set(error, trace_name(t), "give it the kind prefix or c11-race",
		                 "under a memory model, and of a run that is not sequentially "
		                 "consistent, only that a witness is a run and its race are "
		                 "checked");
	if (!witness_fits(t, w, error))
		return false;
	v->accepted = witness_check_weak(t, event_list_of(w->events), w->weak, model,
	                                 race ? (const uint32_t *)(void *)w->pair->data : NULL,
	                                 v->reason);
	if (v->accepted)
		g_ptr_array_add(v->notes,
		                race ? g_strdup_printf("by the rules of --memory %s: it is a "
		                                       "run, and nothing orders the two",
		                                       word)
		                     : g_strdup_printf("kind prefix, --memory %s: that it is "
		                                       "a run of the memory model, and "
		                                       "nothing of its pair",
		                                       word));
	return true;
}

/* False when the specifications cannot be read, with `error`. */
static bool judge(const struct arguments *a, struct trace *t, const struct witness *w,
                  const struct check_options *check, struct verdict_of *v, struct error *error)
{
	bool good = true;

	if (!of_this_trace(a, t, w, v))
		return true;
	enum weak_model model =
	        (enum weak_model)argument_choice(a, "memory", weak_model_words, (int)w->memory);
	if (model != WEAK_SC || trace_weak_first(t) != NONE)
		return judge_weak(t, w, model, v, error);
	v->accepted = proves(t, w, w->claim, check, v->reason);
	/* A C11 race has the kind race, too. */
	if (!v->accepted && w->claim == CLAIM_RACE &&
	    proves(t, w, CLAIM_C11_RACE, check, NULL)) {
		v->accepted = true;
		v->claim = CLAIM_C11_RACE;
		g_ptr_array_add(
		        v->notes,
		        g_strdup_printf("proved is a race that is visible only as a C11 race "
		                        "(kind c11-race): the sequence holds both events, and "
		                        "its happens-before orders neither; as kind race: %s",
		                        v->reason->str));
		g_string_truncate(v->reason, 0);
	}
	if (v->accepted && w->claim == CLAIM_ATOMIC)
		v->accepted = has_cycle(a, t, w, v->reason, error, &good);
	if (v->accepted && w->claim == CLAIM_REACH)
		v->accepted = check_reach(
		        t, (const uint32_t *)(void *)w->events->data, w->events->len - 1,
		        g_array_index(w->pair, uint32_t, 0), w->condition, v->reason);
	if (v->accepted && w->claim == CLAIM_PREFIX)
		g_ptr_array_add(v->notes, g_strdup("kind prefix: that it is a correct "
		                                   "reordering, and nothing of its pair"));
	return good;
}

/* Is it known whether an order violation's two invocations commute? */
static bool knows_pair(const struct trace *t, const struct witness *w, struct spec_rules *rules,
                       struct error *error)
{
	const uint32_t *pair = (const uint32_t *)(const void *)w->pair->data;

	return w->claim != CLAIM_COV || rules == NULL || w->pair->len != 2 ||
	       MAX(pair[0], pair[1]) >= t->events_count ||
	       model_pair_known(spec_rules_model(rules), pair[0], pair[1], error);
}

static int verify(const struct arguments *a, struct trace *t, const struct witness *w,
                  enum output_format format)
{
	struct check_options check = { .use_values = w->under_values,
		                       .use_missing = w->under_missing };
	struct verdict_of v = { .claim = w->claim };
	struct spec_rules *rules;
	struct error error;

	if (!open_rules(a, t, w, &rules, &error))
		return fail(&error);
	check.semantics = spec_rules_semantics(rules);
	v.reason = g_string_new(NULL);
	v.notes = g_ptr_array_new_with_free_func(g_free);
	bool good = knows_pair(t, w, rules, &error) && judge(a, t, w, &check, &v, &error);
	if (good)
		print_verdict(w, &v, format);
	g_string_free(v.reason, TRUE);
	g_ptr_array_unref(v.notes);
	spec_rules_free(rules);
	return !good ? fail(&error) : v.accepted ? EXIT_NOTHING : EXIT_FOUND;
}

static int run(struct arguments *a)
{
	struct witness w = { 0 };
	struct error error;
	int status = EXIT_BAD;

	argument_words(a, 2, 2);
	enum output_format format = argument_format(a, false);
	argument_choice(a, "memory", weak_model_words, WEAK_SC);
	if (!witness_read(a->words->pdata[1], &w, &error))
		return fail(&error);
	struct trace *t = open_trace(a, a->words->pdata[0]);
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
	.reads_weak = true,
};
