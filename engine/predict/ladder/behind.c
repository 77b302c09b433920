/*
 * behind.c - races behind a racy flag: accesses kept apart only because a read reads from the
 * same write as in the trace, while that read races itself. Other runs may read another write,
 * for which nothing was proved.
 */
#include "engine/base/aside.h"
#include "engine/trace/shown.h"
#include "engine/predict/ladder/behind.h"

#include "engine/predict/effort.h"
#include "engine/predict/ladder/ladder_proofs.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/predict_private.h"
#include "engine/trace/own_site.h"

/* The read of a step (or NONE) and its write. */
static struct racy_read read_of_step(const struct trace *t, const struct step *s)
{
	struct racy_read r = { NONE, NONE };

	if (step_reading(s, &r.read, &r.write))
		return r;
	if (s->rule == STEP_OBSERVATION && op_is_access(t->events[s->to].op) &&
	    op_is_access(t->events[s->from].op))
		r = (struct racy_read){ s->to, s->from };
	return r;
}

static bool has_read(const GArray *reads, struct racy_read r)
{
	for (guint i = 0; reads != NULL && i < reads->len; i++) {
		const struct racy_read *known = &g_array_index(reads, struct racy_read, i);

		if (known->read == r.read && known->write == r.write)
			return true;
	}
	return false;
}

GArray *finding_reads(const struct trace *t, const struct finding *f)
{
	const GArray *steps = f->proof != NULL ? f->proof->cycle.steps : NULL;
	GArray *reads = g_array_new(FALSE, FALSE, sizeof(struct racy_read));

	for (guint i = 0; steps != NULL && i < steps->len; i++) {
		struct racy_read r = read_of_step(t, &g_array_index(steps, struct step, i));

		if (r.read != NONE && r.write != NONE &&
		    events_race_conflict(t, r.read, r.write) && !has_read(reads, r))
			g_array_append_val(reads, r);
	}
	return reads;
}

void finding_add_behind(struct finding *f, struct racy_read r)
{
	if (f->behind == NULL)
		f->behind = g_array_new(FALSE, FALSE, sizeof(struct racy_read));
	if (!has_read(f->behind, r))
		g_array_append_val(f->behind, r);
}

void finding_append_behind(const struct trace *t, const struct finding *f, GString *out)
{
	for (guint i = 0; f->behind != NULL && i < f->behind->len; i++) {
		uint32_t read = g_array_index(f->behind, struct racy_read, i).read;
		const struct event *x = &t->events[read];

		g_string_append(out, i == 0 ? "only while " : " and ");
		trace_append_variable(t, x, out);
		g_string_append(out, " (itself racing) is read ");
		if (x->aux != 0 && x->op != OP_RMW) {
			g_string_append(out, "as ");
			shown_append(t, shown_variable(x), x->aux, read, out);
		} else {
			g_string_append_printf(
			        out, "from event %u",
			        g_array_index(f->behind, struct racy_read, i).write);
		}
		g_string_append_printf(out, ", by %s at ", trace_thread_name(t, x->thread));
		append_escaped(out, trace_site_name(t, read), strlen(trace_site_name(t, read)));
	}
	if (f->behind != NULL)
		g_string_append(out, ": repair that first, or look behind it");
}

/* Is the race on these two accesses, or on their places and variables? */
static bool tells_of(const struct trace *t, const struct finding *race, struct racy_read r)
{
	uint32_t a = own_site(t, r.read), b = own_site(t, r.write),
	         c = own_site(t, race->first), d = own_site(t, race->second);
	struct wide run = event_variables(t, &t->events[r.read]);

	if (race->first == MIN(r.read, r.write) && race->second == MAX(r.read, r.write))
		return true;
	if (!(a == c && b == d) && !(a == d && b == c))
		return false;
	for (guint i = 0; race->variables != NULL && i < race->variables->len; i++) {
		if (g_array_index(race->variables, uint32_t, i) - run.first < run.count)
			return true;
	}
	return false;
}

void report_look_behind(struct report *r)
{
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];
		g_autoptr(GArray) reads =
		        f->verdict == VERDICT_IMPOSSIBLE ? finding_reads(r->trace, f) : NULL;

		for (guint k = 0; reads != NULL && k < reads->len; k++) {
			struct racy_read read = g_array_index(reads, struct racy_read, k);

			for (guint j = 0; j < r->findings->len; j++) {
				const struct finding *race = r->findings->pdata[j];

				if (race->verdict == VERDICT_RACE &&
				    tells_of(r->trace, race, read)) {
					finding_add_behind(f, read);
					break;
				}
			}
		}
	}
}

/* -- pairs that happens-before alone finds -------------------------------------------------- */

/* The unordered pair of places, as a key. */
static gint64 places_key(const struct report *r, const struct finding *f)
{
	uint32_t a = own_site(r->trace, f->first), b = own_site(r->trace, f->second);

	return (gint64)((uint64_t)MIN(a, b) << 32 | MAX(a, b));
}

/* The places of all races of the report. */
static GHashTable *race_places(const struct report *r)
{
	GHashTable *places =
	        g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, NULL);

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->verdict == VERDICT_RACE) {
			gint64 key = places_key(r, f);
			g_hash_table_add(places, g_memdup2(&key, sizeof(key)));
		}
	}
	return places;
}

/* "a, b, c and 2 more variables", of the pairs' first variables, each once. */
static void append_variables(const struct trace *t, const GPtrArray *pairs, GString *out)
{
	enum { NAMED = 3 };
	g_autoptr(GHashTable) seen =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	uint32_t more = 0;

	for (guint i = 0; i < pairs->len; i++) {
		const struct finding *f = pairs->pdata[i];
		g_autoptr(GString) name = g_string_new(NULL);

		trace_append_variable(t, &t->events[f->first], name);
		if (!g_hash_table_add(seen, g_strdup(name->str)))
			continue;
		if (g_hash_table_size(seen) > NAMED)
			more++;
		else
			g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "",
			                       name->str);
	}
	if (more > 0)
		g_string_append_printf(out, " and %u more variable%s", more,
		                       more == 1 ? "" : "s");
}

struct behind {
	struct trace *t;
	const struct race_options *options;
	struct effort effort;
	struct site_races *sites;
	struct stream *stream; /* NULL: not begun */
	struct aside *aside;
	gint stop; /* atomic: it is to end */
};

struct behind *behind_new(struct trace *t, const struct race_options *options)
{
	struct behind *b = g_new0(struct behind, 1);

	b->t = t;
	b->options = options;
	return b;
}

bool behind_pass(struct behind *b, uint64_t end, const struct progress *progress)
{
	if (b->stream == NULL) {
		effort_init(&b->effort, b->t->events_count, b->options);
		b->sites = b->sites == NULL ? site_races_new(b->t, b->options) : b->sites;
		b->stream = stream_new(b->t, ORDER_KIND_HB, b->sites, &b->effort, progress);
	}
	if (b->stream == NULL)
		return false;
	effort_resume(&b->effort);
	bool done = stream_pass(b->stream, end, progress);
	effort_pause(&b->effort);
	return done;
}

static bool pass_goes_on(void *behind, double fraction, const char *what)
{
	return !g_atomic_int_get(&((struct behind *)behind)->stop);
}

static void pass_aside(void *behind)
{
	struct behind *b = behind;
	const struct progress progress = { pass_goes_on, b };

	behind_pass(b, b->t->events_count, &progress);
}

void behind_begin(struct behind *b)
{
	b->aside = aside_begin(pass_aside, b);
}

void behind_end(struct behind *b)
{
	aside_end(g_steal_pointer(&b->aside));
}

void behind_free(struct behind *b)
{
	g_atomic_int_set(&b->stop, 1);
	behind_end(b);
	stream_free(b->stream);
	site_races_free(b->sites);
	g_free(b);
}

bool report_note_behind(struct trace *t, const struct race_options *options,
                        struct behind *behind, struct report *r,
                        const struct progress *progress, struct error *error)
{
	g_autoptr(GHashTable) places = race_places(r);
	g_autoptr(GString) variables = g_string_new(NULL);

	/* a share does not have all races, behind any of which its pairs may be */
	if (!r->complete || options->shards > 1 || g_hash_table_size(places) == 0)
		return true;
	behind_end(behind);
	if (!behind_pass(behind, t->events_count, progress))
		return error_cancelled(error);
	struct report *hb = report_new(t, "hb");
	site_races_report(behind->sites, hb, "hb");
	report_keep_shard(hb, options);
	report_finish(hb);
	r->behind = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
	for (guint i = 0; i < hb->findings->len; i++) {
		gint64 key = places_key(hb, hb->findings->pdata[i]);

		if (!g_hash_table_contains(places, &key))
			g_ptr_array_add(r->behind, g_steal_pointer(&hb->findings->pdata[i]));
	}
	append_variables(t, r->behind, variables);
	if (r->behind->len > 0)
		report_note(r,
		            "pairs of places that no synchronisation orders, and that only the "
		            "values which racy reads saw in this run keep apart: %u, on %s; "
		            "repair the races first and record again, or see --verdicts all",
		            r->behind->len, variables->str);
	report_free(hb);
	return true;
}
