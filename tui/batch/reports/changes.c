/*
 * changes.c - see changes.h.
 */
#include "tui/batch/reports/changes.h"

struct changes {
	struct changes_sides s;
	struct match match;
	struct became *gone;  /* by old finding: its fate in the new trace */
	struct became *fresh; /* by new finding: its fate in the old trace */
	uint32_t counts[MATCH_STATE_COUNT];
};

static const json_t *fields_of(const struct report_file *r, uint32_t i)
{
	return g_array_index(r->findings, struct filed_finding, i).fields;
}

static void count(struct changes *c)
{
	for (guint i = 0; i < c->s.new->findings->len; i++)
		c->counts[c->match.new.state[i]] += filed_is_found(fields_of(c->s.new, i));
	for (guint i = 0; i < c->s.old->findings->len; i++)
		c->counts[MATCH_ABSENT] += filed_is_found(fields_of(c->s.old, i)) &&
		                           c->match.old.state[i] == MATCH_ABSENT;
}

struct changes *changes_new(const struct changes_sides *s, const struct progress *progress,
                            struct error *error)
{
	struct changes *c = g_new0(struct changes, 1);

	c->s = *s;
	match_reports(s->old, s->new, &c->match);
	count(c);
	c->gone = became_find(s->old, &c->match.old, MATCH_ABSENT,
	                      &(struct became_there){ s->new, s->new_trace, s->race }, progress,
	                      error);
	if (c->gone != NULL)
		c->fresh = became_find(s->new, &c->match.new, MATCH_NEW,
		                       &(struct became_there){ s->old, s->old_trace, s->race },
		                       progress, error);
	if (c->fresh == NULL) {
		changes_free(c);
		return NULL;
	}
	return c;
}

void changes_free(struct changes *c)
{
	if (c == NULL)
		return;
	became_free(c->gone, c->s.old);
	became_free(c->fresh, c->s.new);
	match_release(&c->match);
	g_free(c);
}

uint32_t changes_count(const struct changes *c, enum match_state state)
{
	return c->counts[state];
}

enum match_state changes_state(const struct changes *c, uint32_t new_finding)
{
	return c->match.new.state[new_finding];
}

/* -- JSON ----------------------------------------------------------------------------- */

json_t *changes_counts(const struct changes *c)
{
	json_t *j = json_pack("{ss}", "report", c->s.old->name);

	for (int state = 0; state < MATCH_STATE_COUNT; state++)
		json_object_set_new(j, match_state_word(state), json_integer(c->counts[state]));
	return j;
}

static void set_text(json_t *j, const char *key, const json_t *from)
{
	if (from != NULL)
		json_object_set(j, key, (json_t *)from);
}

/* {"fate": "impossible", "text": ..., "first": ..., "proof": ...} */
static json_t *became_json(const struct became *b)
{
	static const char *const taken[] = { "first", "second", "locations", "proof",
		                             "budget" };
	json_t *j = json_pack("{ssss}", "fate", fate_word(b->fate), "text", fate_text(b->fate));

	for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
		set_text(j, taken[i], json_object_get(b->finding, taken[i]));
	set_text(j, "place", b->place);
	return j;
}

/* Is the fate known, beyond that the other report lacks the finding? */
static bool tells(const struct became *b)
{
	return b->fate != FATE_NOT_REPORTED;
}

void changes_add_state(const struct changes *c, uint32_t i, json_t *into)
{
	enum match_state state = c->match.new.state[i];
	uint32_t other = c->match.new.other[i];

	if (!filed_is_found(fields_of(c->s.new, i)))
		return;
	json_object_set_new(into, "baselineState", json_string(match_state_word(state)));
	if (state == MATCH_UPDATED)
		set_text(into, "was", json_object_get(fields_of(c->s.old, other), "sites"));
	if (state == MATCH_NEW && tells(&c->fresh[i]))
		json_object_set_new(into, "was", became_json(&c->fresh[i]));
}

static bool is_gone(const struct changes *c, guint i)
{
	return filed_is_found(fields_of(c->s.old, i)) && c->match.old.state[i] == MATCH_ABSENT;
}

json_t *changes_absent(const struct changes *c)
{
	json_t *list = json_array();

	for (guint i = 0; i < c->s.old->findings->len; i++) {
		if (!is_gone(c, i))
			continue;
		json_t *j = json_copy((json_t *)fields_of(c->s.old, i));
		json_object_del(j, "witness"); /* a number here */
		json_object_set_new(j, "baselineState",
		                    json_string(match_state_word(MATCH_ABSENT)));
		json_object_set_new(j, "became", became_json(&c->gone[i]));
		json_array_append_new(list, j);
	}
	return list;
}

json_t *changes_members(const struct changes *c)
{
	json_t *findings = json_array();

	for (guint i = 0; i < c->s.new->findings->len; i++) {
		json_t *members = json_object();

		changes_add_state(c, i, members);
		json_array_append_new(findings, members);
	}
	return json_pack("{sososo}", "counts", changes_counts(c), "findings", findings,
	                 "absent", changes_absent(c));
}

void changes_absent_sarif(const struct changes *c, struct sarif *s)
{
	for (guint i = 0; i < c->s.old->findings->len; i++) {
		if (is_gone(c, i))
			sarif_add(s, fields_of(c->s.old, i), match_state_word(MATCH_ABSENT));
	}
}

/* -- text ----------------------------------------------------------------------------- */

static void print_place(const json_t *place, FILE *out)
{
	if (*json_word(place, "function"))
		fprintf(out, "%s, ", json_word(place, "function"));
	fprintf(out, "%s%s", base_name(json_word(place, "file")), json_word(place, "name"));
	if (json_object_get(place, "line") != NULL)
		fprintf(out, ":%d", (int)json_integer_value(json_object_get(place, "line")));
}

static void print_became(const struct became *b, const char *when, FILE *out)
{
	const json_t *locations = json_object_get(b->finding, "locations"),
	             *proof = json_object_get(b->finding, "proof"), *step;
	const char *budget = json_word(b->finding, "budget");
	size_t i;

	if (b->fate == FATE_UNKNOWN && *budget)
		fprintf(out, "    %s: unknown: %s", when,
		        open_reason_text(open_reason_of(budget)));
	else
		fprintf(out, "    %s: %s", when, fate_text(b->fate));
	if (b->place != NULL) {
		fputs(": ", out);
		print_place(b->place, out);
	}
	if (json_array_size(locations) == 2)
		fprintf(out, " (%s, %s)", json_element(locations, 0),
		        json_element(locations, 1));
	if (proof != NULL)
		fprintf(out, ", by the %s", json_word(proof, "method"));
	fputc('\n', out);
	json_array_foreach((json_t *)json_object_get(proof, "steps"), i, step) fprintf(
	        out, "        %s  [%s]\n", json_word(step, "text"), json_word(step, "rule"));
}

static void print_moved(const struct changes *c, guint i, FILE *out)
{
	const json_t *was = finding_places(fields_of(c->s.old, c->match.new.other[i]));

	fputs("    was at ", out);
	for (size_t k = 0; k < json_array_size(was); k++) {
		fputs(k ? "; " : "", out);
		print_place(json_array_get(was, k), out);
	}
	fputc('\n', out);
}

void changes_print_text(const struct changes *c, enum match_state state, FILE *out)
{
	bool gone = state == MATCH_ABSENT;
	const struct report_file *r = gone ? c->s.old : c->s.new;
	const struct match_side *side = gone ? &c->match.old : &c->match.new;

	for (guint i = 0; i < r->findings->len; i++) {
		if (side->state[i] != state || !filed_is_found(fields_of(r, i)))
			continue;
		fprintf(out, "%s: ", gone ? "gone" : state == MATCH_NEW ? "new" : "left");
		finding_print(fields_of(r, i), out);
		if (gone)
			print_became(&c->gone[i], "now", out);
		else if (state == MATCH_NEW && tells(&c->fresh[i]))
			print_became(&c->fresh[i], "before", out);
		else if (state == MATCH_UPDATED)
			print_moved(c, i, out);
	}
}

void changes_print_counts(const struct changes *c, FILE *out)
{
	fprintf(out, "%u new, %u known", c->counts[MATCH_NEW],
	        c->counts[MATCH_UNCHANGED] + c->counts[MATCH_UPDATED]);
	if (c->counts[MATCH_UPDATED])
		fprintf(out, " (%u at other lines)", c->counts[MATCH_UPDATED]);
	fprintf(out, ", %u gone", c->counts[MATCH_ABSENT]);
}
