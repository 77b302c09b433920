/* race_options.c - the options that the commands about data races share. */
#include "tui/batch/race_options.h"

#include "engine/trace/formats.h"
#include "engine/order/order.h"
#include "engine/witness/witness.h"
#include "tui/batch/shares/shares.h"
#include "tui/batch/spec_rules.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static bool parse_analysis(const struct arguments *a, struct race_options *o)
{
	const char *word = argument_value(a, "analysis");

	if (word == NULL || analysis_from_word(word, &o->analysis))
		return true;
	g_autoptr(GString) all = g_string_new(NULL);
	for (int i = 0; i < ANALYSIS_COUNT; i++)
		g_string_append_printf(all, "%s%s", i > 0 ? ", " : "",
		                       analysis_word((enum analysis)i));
	usage_error(a, "--analysis: expected one of %s, found '%s'", all->str, word);
	return false;
}

static bool parse_candidates(const struct arguments *a, struct race_options *o)
{
	const char *word = argument_value(a, "candidates");
	enum order_kind kind;

	if (word == NULL || strcmp(word, "all") == 0)
		return true;
	if (!order_kind_from_word(word, &kind) || kind == ORDER_KIND_EDC) {
		usage_error(
		        a,
		        "--candidates: expected all or an order (po, hb, shb, cp, wcp, dc, wdc), "
		        "found '%s'",
		        word);
		return false;
	}
	o->candidates = (int)kind;
	return true;
}

bool race_options_parse(const struct arguments *a, struct race_options *o)
{
	uint32_t shard, shards;

	race_options_init(o);
	if (!parse_analysis(a, o) || !parse_candidates(a, o))
		return false;
	argument_budget(a, &o->budget_pair, &o->budget_total);
	argument_shard(a, &shard, &shards);
	if (shards > 0) {
		o->shard = shard;
		o->shards = shards;
	}
	o->use_values = argument_flag(a, "values");
	o->use_missing = argument_flag(a, "missing");
	return true;
}

bool race_options_fit(const struct arguments *a, const struct trace *t,
                      const struct race_options *o, struct error *error)
{
	const char *filter = trace_note(t, TRACE_FILTER_NOTE);
	bool none = g_strcmp0(filter, TRACE_FILTER_COMMUTE) == 0;
	/* --missing orders calls that were not recorded with accesses */
	bool observes =
	        analysis_is_sound(o->analysis) || o->want_witness || o->use_missing || none;

	if (!observes || !t->filtered || argument_flag(a, "lenient"))
		return true;
	const char *who = o->want_witness ? "a witness"
	                  : analysis_is_sound(o->analysis) || !o->use_missing
	                          ? analysis_word(o->analysis)
	                          : "--missing";
	if (filter)
		return error_set(
		        error, trace_name(t),
		        strcmp(a->command->name, "races") == 0
		                ? none ? "use heddle commute; or record without --filter; or "
		                         "--lenient to go on all the same"
		                       : "use --analysis hb; or record without --filter; or "
		                         "--lenient to go on all the same"
		                : "record without --filter; or --lenient to go on all the same",
		        "recorded with --filter %s, which leaves accesses out, and %s needs them "
		        "all",
		        filter, who);
	if (trace_sampled(t))
		return error_set(error, trace_name(t),
		                 strcmp(a->command->name, "races") == 0
		                         ? "use --analysis hb; or record without --sample; or "
		                           "--lenient to go on all the same"
		                         : "record without --sample; or --lenient to go on all "
		                           "the same",
		                 "recorded with --sample %" PRIu64
		                 ", which leaves accesses out, and %s needs them all",
		                 trace_sampled(t), who);
	return error_set(
	        error, trace_name(t), "use the whole trace, or --lenient to go on all the same",
	        "redundant events were filtered out of this trace, and %s needs them all", who);
}

static json_t *specs_json(const struct arguments *a)
{
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	json_t *specs = json_array();

	for (guint i = 0; i < paths->len; i++) {
		g_autofree char *header = spec_rules_header(paths->pdata[i]);

		json_array_append_new(specs, json_text(header));
	}
	return specs;
}

void race_options_tell(const struct arguments *a, const struct trace *t,
                       const struct race_options *o, struct print_options *print)
{
	g_autofree char *budget = g_strdup_printf("%g,%g", o->budget_pair, o->budget_total);

	print->options = json_pack(
	        "{sssssssbsbsbsbssso}", "pairs", o->pairs_events ? "events" : "sites",
	        "candidates",
	        o->candidates < 0 ? "all" : order_kind_word((enum order_kind)o->candidates),
	        "verdicts", o->all_verdicts ? "all" : "races", "witness", o->want_witness,
	        "values", o->use_values, "missing", o->use_missing, "lenient",
	        argument_flag(a, "lenient"), "budget", budget, "spec", specs_json(a));
	if (o->shards > 1 || argument_value(a, "shard") != NULL) {
		print->shard = g_strdup_printf("%u/%u", o->shard + 1, o->shards);
		print->digest = trace_digest(t);
	}
}
