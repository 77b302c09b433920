/* spec_rules.c - specifications for the checker. */
#include "tui/batch/spec_rules.h"
#include "engine/base/input.h"
#include "engine/commute/edc.h"

#include <string.h>

struct spec_rules {
	struct specs *specs;
	struct model *model;
	struct semantics semantics;
	struct rule5 *rule5; /* made on demand */
	struct race_rules races;
};

GPtrArray *spec_rules_choose(const struct arguments *a, const struct trace *t, GPtrArray *notes)
{
	g_autoptr(GPtrArray) given = argument_values(a, "spec"),
	                     recorded = trace_recorded_specs(t);
	return specs_choose(given, recorded, notes);
}

struct spec_rules *spec_rules_new(struct trace *t, const GPtrArray *paths, struct error *error)
{
	struct spec_rules *r = g_new0(struct spec_rules, 1);

	r->specs = specs_open(paths, error);
	if (r->specs != NULL)
		r->model = model_new(t, r->specs, progress_on_stderr(), error);
	if (r->model == NULL) {
		spec_rules_free(r);
		return NULL;
	}
	r->semantics = model_semantics(r->model);
	return r;
}

void spec_rules_free(struct spec_rules *r)
{
	if (r == NULL)
		return;
	rule5_free(r->rule5);
	if (r->model != NULL)
		model_free(r->model);
	if (r->specs != NULL)
		specs_free(r->specs);
	g_free(r);
}

struct order *spec_rules_order(const struct arguments *a, struct trace *t, enum order_kind kind,
                               struct error *error)
{
	struct order *order = NULL;

	if (kind != ORDER_KIND_EDC) {
		order = order_new(t, kind, progress_on_stderr());
		if (order == NULL)
			error_cancelled(error);
		return order;
	}
	g_autoptr(GPtrArray) paths = spec_rules_choose(a, t, NULL);
	struct spec_rules *rules = spec_rules_new(t, paths, error);

	if (rules != NULL)
		order = edc_order_new(spec_rules_model(rules), progress_on_stderr(), error);
	spec_rules_free(rules);
	return order;
}

const struct semantics *spec_rules_semantics(const struct spec_rules *r)
{
	return r == NULL ? NULL : &r->semantics;
}

struct model *spec_rules_model(const struct spec_rules *r)
{
	return r->model;
}

const struct race_rules *spec_rules_races(struct spec_rules *r)
{
	if (r->rule5 == NULL) {
		r->rule5 = rule5_new(r->model);
		r->races = rule5_races(r->rule5, &r->semantics);
	}
	return &r->races;
}

char *spec_rules_header(const char *path)
{
	size_t length;
	g_autofree char *text = input_text(path, "specification", &length, NULL);

	if (text == NULL)
		return g_strdup(path);
	g_autofree char *sum =
	        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
	return g_strdup_printf("%s:%s", path, sum);
}

GPtrArray *spec_rules_paths(const struct witness *w)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; w->under_specs != NULL && i < w->under_specs->len; i++) {
		const char *header = w->under_specs->pdata[i], *colon = strrchr(header, ':');

		g_ptr_array_add(paths, colon == NULL ? g_strdup(header)
		                                     : g_strndup(header, colon - header));
	}
	return paths;
}
