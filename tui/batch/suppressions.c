/*
 * suppressions.c - ThreadSanitizer's suppression files and triage marks; see suppressions.h.
 */
#include "tui/batch/suppressions.h"

#include "engine/base/input.h"
#include "engine/finding_key.h"
#include "engine/record/record.h"
#include "engine/trace/own_code.h"
#include "engine/trace/index.h"
#include "tui/batch/reports/report_file.h"

#include <jansson.h>
#include <string.h>

#define BIT(name) (1u << FINDING_##name)

/* ThreadSanitizer's types, with the kinds of findings that it reports under them. */
static const struct {
	const char *word;
	unsigned kinds; /* bits of enum finding_kind */
	bool innermost; /* only the innermost frame is compared */
	bool outside;   /* only frames of code without debug information */
} types[] = {
	{ "race", BIT(DATA_RACE) | BIT(USE_AFTER_FREE), false, false },
	{ "race_top", BIT(DATA_RACE) | BIT(USE_AFTER_FREE), true, false },
	{ "mutex", BIT(LOCK_MISUSE), false, false },
	{ "deadlock", BIT(DEADLOCK), false, false },
	{ "called_from_lib", ~0u, false, true },
	/* no finding has these types; lines with them are accepted */
	{ "thread", 0, false, false },
	{ "signal", 0, false, false },
};

struct rule {
	unsigned kinds;
	bool innermost, outside;
	GRegex *pattern;
	char *line; /* owned: with its place */
};

struct suppressions {
	GArray *rules;     /* struct rule */
	GHashTable *marks; /* finding_key (owned) to its mark as text (owned) */
};

/* -- reading ------------------------------------------------------------------------------- */

static GRegex *compile(const char *pattern)
{
	g_autoptr(GString) regex = g_string_new(NULL);

	if (*pattern == '^')
		g_string_append_c(regex, *pattern++);
	while (*pattern != '\0') {
		size_t literal = strcspn(pattern, "*$");
		g_autofree char *quoted = g_regex_escape_string(pattern, (gint)literal);

		g_string_append(regex, quoted);
		pattern += literal;
		if (*pattern == '*')
			g_string_append(regex, ".*");
		else if (*pattern == '$' && pattern[1] == '\0')
			g_string_append_c(regex, '$');
		else if (*pattern == '$')
			g_string_append(regex, "\\$");
		pattern += *pattern != '\0';
	}
	return g_regex_new(regex->str, G_REGEX_RAW | G_REGEX_OPTIMIZE | G_REGEX_DOTALL, 0,
	                   NULL);
}

static bool take_type(const char *word, struct rule *rule)
{
	for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
		if (strcmp(types[i].word, word) != 0)
			continue;
		rule->kinds = types[i].kinds;
		rule->innermost = types[i].innermost;
		rule->outside = types[i].outside;
		return true;
	}
	for (int k = 0; k < FINDING_KIND_COUNT; k++)
		if (strcmp(finding_kind_word(k), word) == 0)
			rule->kinds = 1u << k;
	return rule->kinds != 0;
}

static bool refuse_line(const char *path, unsigned number, const char *found,
                        struct error *error)
{
	return error_set(
	        error, place_line(path, number).text,
	        "types are race, race_top, deadlock, mutex, thread, signal, called_from_lib "
	        "and the kinds of findings, such as atomic-set-violation",
	        "expected TYPE:PATTERN, found '%s'", found);
}

static bool read_line(struct suppressions *s, const char *path, unsigned number, char *line,
                      struct error *error)
{
	struct rule rule = { .kinds = 0 };
	g_autofree char *base = NULL;

	g_strstrip(line);
	if (*line == '\0' || *line == '#')
		return true;
	char *colon = strchr(line, ':');
	if (colon == NULL || colon[1] == '\0')
		return refuse_line(path, number, line, error);
	g_autofree char *word = g_strndup(line, (gsize)(colon - line));
	if (!take_type(word, &rule))
		return refuse_line(path, number, line, error);
	rule.pattern = compile(colon + 1);
	if (rule.pattern == NULL)
		return refuse_line(path, number, line, error);
	base = g_path_get_basename(path);
	rule.line = g_strdup_printf("%s (%s:%u)", line, base, number);
	g_array_append_val(s->rules, rule);
	return true;
}

static bool read_lines(struct suppressions *s, const char *path, char *text,
                       struct error *error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	bool good = true;

	for (unsigned i = 0; good && lines[i] != NULL; i++)
		good = read_line(s, path, i + 1, lines[i], error);
	return good;
}

/* Suppresses the findings that a notes file marks benign or duplicate. */
static bool read_marks(struct suppressions *s, const char *path, const char *text,
                       struct error *error)
{
	json_error_t trouble;
	json_t *root = json_loads(text, 0, &trouble), *item;
	size_t i;

	if (root == NULL || json_object_get(root, "heddle-notes") == NULL) {
		json_decref(root);
		return error_set(
		        error, place_line(path, root ? 0 : (unsigned)MAX(trouble.line, 0)).text,
		        "a suppression file has lines TYPE:PATTERN; marks are in TRACE.notes",
		        "expected suppressions or notes of heddle, found %s",
		        root ? "other JSON" : trouble.text);
	}
	g_autofree char *base = g_path_get_basename(path);
	json_array_foreach(json_object_get(root, "findings"), i, item)
	{
		const char *mark = json_word(item, "mark"), *note = json_word(item, "note");

		if (strcmp(mark, "benign") != 0 && strcmp(mark, "duplicate") != 0)
			continue;
		g_hash_table_replace(s->marks, g_strdup(json_word(item, "finding")),
		                     g_strdup_printf("marked %s%s%s (%s)", mark,
		                                     *note ? ": " : "", note, base));
	}
	json_decref(root);
	return true;
}

static bool read_file(struct suppressions *s, const char *path, struct error *error)
{
	size_t length;
	g_autofree char *text = input_text(path, "suppression file", &length, error);
	bool good = false;

	if (text == NULL)
		return false;
	if (strlen(text) != length)
		error_set(error, place_line(path, 0).text,
		          "a suppression file has lines TYPE:PATTERN",
		          "expected text, found a zero byte");
	else if (text[strspn(text, " \t\r\n")] == '{')
		good = read_marks(s, path, text, error);
	else
		good = read_lines(s, path, text, error);
	return good;
}

static void clear_rule(gpointer data)
{
	struct rule *rule = data;

	g_regex_unref(rule->pattern);
	g_free(rule->line);
}

static struct suppressions *suppressions_new(void)
{
	struct suppressions *s = g_new0(struct suppressions, 1);

	s->rules = g_array_new(FALSE, FALSE, sizeof(struct rule));
	g_array_set_clear_func(s->rules, clear_rule);
	s->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return s;
}

struct suppressions *suppressions_open(const GPtrArray *paths, struct error *error)
{
	struct suppressions *s = suppressions_new();
	bool good = true;

	for (guint i = 0; good && i < paths->len; i++)
		good = read_file(s, paths->pdata[i], error);
	if (!good)
		g_clear_pointer(&s, suppressions_free);
	return s;
}

void suppressions_free(struct suppressions *s)
{
	if (s == NULL)
		return;
	g_array_free(s->rules, TRUE);
	g_hash_table_destroy(s->marks);
	g_free(s);
}

void suppressions_add_recorded(struct suppressions **s, const struct trace *t)
{
	const char *text = trace_note(t, SUPPRESSIONS_NOTE);
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	struct error ignored;

	if (text != NULL && *s == NULL)
		*s = suppressions_new();
	for (unsigned i = 0; lines[i] != NULL; i++)
		read_line(*s, trace_name(t), i + 1, lines[i], &ignored);
}

char *suppressions_text(const GPtrArray *paths, struct error *error)
{
	struct suppressions *s = suppressions_open(paths, error);
	GString *all = g_string_new(NULL);
	bool good = s != NULL;

	if (good && g_hash_table_size(s->marks) > 0)
		good = error_set(error, "--suppressions",
		                 "give the notes to the command that reports",
		                 "marks of the explorer belong to a trace that is there");
	for (guint i = 0; good && i < paths->len; i++) {
		size_t length;
		g_autofree char *text =
		        input_text(paths->pdata[i], "suppression file", &length, error);

		good = text != NULL;
		g_string_append_printf(all, "%s\n", good ? text : "");
	}
	suppressions_free(s);
	return g_string_free(all, !good);
}

/* -- matching ------------------------------------------------------------------------------ */

/* A text of a finding to which patterns apply. */
struct subject {
	const char *text;
	bool innermost, outside; /* of the innermost frame; a name of code without source */
};

static void add_subject(GArray *subjects, const char *text, bool innermost, bool outside)
{
	struct subject subject = { text, innermost, outside };

	if (text != NULL && *text != '\0')
		g_array_append_val(subjects, subject);
}

static const char *match(const struct suppressions *s, enum finding_kind kind,
                         const GArray *subjects)
{
	for (guint i = 0; i < s->rules->len; i++) {
		const struct rule *rule = &g_array_index(s->rules, struct rule, i);

		if (!(rule->kinds & 1u << kind))
			continue;
		for (guint k = 0; k < subjects->len; k++) {
			const struct subject *x = &g_array_index(subjects, struct subject, k);

			if ((!rule->innermost || x->innermost) &&
			    (!rule->outside || x->outside) &&
			    g_regex_match(rule->pattern, x->text, 0, NULL))
				return rule->line;
		}
	}
	return NULL;
}

static void add_frames(const struct trace *t, uint32_t event, GArray *subjects)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));

	for (guint i = 0; i < frames->len; i++) {
		const struct frame *f = &g_array_index(frames, struct frame, i);
		const struct location *l = &t->locations[f->location];

		add_subject(subjects, trace_string(t, f->function), i == 0, false);
		add_subject(subjects, trace_string(t, l->file), i == 0, false);
		if (l->file == 0)
			add_subject(subjects, trace_string(t, l->name), i == 0, true);
	}
}

/* By the frames of these events (NONE: none). */
static const char *match_events(const struct suppressions *s, const struct trace *t,
                                enum finding_kind kind, const uint32_t *events, guint count)
{
	g_autoptr(GArray) subjects = g_array_new(FALSE, FALSE, sizeof(struct subject));
	for (guint i = 0; i < count; i++)
		if (events[i] != NONE)
			add_frames(t, events[i], subjects);
	return match(s, kind, subjects);
}

/* By a variable: all of a finding's have to match. */
static const char *match_variable(const struct suppressions *s, enum finding_kind kind,
                                  const char *name)
{
	g_autoptr(GArray) subjects = g_array_new(FALSE, FALSE, sizeof(struct subject));
	add_subject(subjects, name, true, false);
	return match(s, kind, subjects);
}

const char *suppressions_find(const struct suppressions *s, const struct trace *t,
                              const struct finding *f)
{
	if (s == NULL)
		return NULL;
	g_autofree char *key = f->first != NONE && f->second != NONE ? finding_key(t, f) : NULL;
	const char *found = key ? g_hash_table_lookup(s->marks, key) : NULL;
	if (found != NULL)
		return found;
	g_autoptr(GArray) pair = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (f->requests == NULL && f->units == NULL) {
		g_array_append_val(pair, f->first);
		g_array_append_val(pair, f->second);
	}
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		g_array_append_val(pair, g_array_index(f->requests, uint32_t, i));
	for (guint i = 0; f->units && i < f->edges->len; i++)
		g_array_append_vals(pair, g_array_index(f->edges, struct cycle_edge, i).events,
		                    2);
	found = match_events(s, t, f->kind, (uint32_t *)(void *)pair->data, pair->len);
	/* each of the pairs that it stands for */
	for (guint i = 0; found != NULL && f->exact != NULL && i < f->exact->len; i++)
		if (match_events(s, t, f->kind, finding_exact(f, i)->events, 2) == NULL)
			found = NULL;
	for (guint i = f->variables && found == NULL ? f->variables->len : 0; i-- > 0;) {
		g_autofree char *name =
		        variable_name(t, g_array_index(f->variables, uint32_t, i));
		found = match_variable(s, f->kind, name);
		if (found == NULL)
			break;
	}
	return found;
}

const char *suppressions_find_filed(const struct suppressions *s, enum finding_kind kind,
                                    const json_t *fields)
{
	const json_t *site, *stack, *frame;
	size_t i, k;

	if (s == NULL)
		return NULL;
	g_autoptr(GArray) subjects = g_array_new(FALSE, FALSE, sizeof(struct subject));
	json_array_foreach(json_object_get(fields, "sites"), i, site)
	{
		add_subject(subjects, json_word(site, "function"), true, false);
		add_subject(subjects, json_word(site, "file"), true, false);
		add_subject(subjects, json_word(site, "name"), true, true);
	}
	json_array_foreach(json_object_get(fields, "stacks"), i, stack)
	        json_array_foreach(stack, k, frame)
	                add_subject(subjects, json_string_value(frame), k == 0, false);
	const char *found = match(s, kind, subjects);
	const json_t *variables = json_object_get(fields, "variables");
	for (size_t n = found ? 0 : json_array_size(variables); n-- > 0;) {
		found = match_variable(s, kind,
		                       json_string_value(json_array_get(variables, n)));
		if (found == NULL)
			break;
	}
	return found;
}
