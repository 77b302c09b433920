/*
 * commands.c - runs and completes the explorer's commands.
 *
 * words.def is the only table; commands_*.c have the functions. A command works on the session
 * and answers with a message, a text or another view, independent of keys and drawing.
 */
#include "engine/base/compare.h"
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/folders.h"
#include "tui/explorer/settings.h"

#include <string.h>

enum completes {
	C_NOTHING,
	C_NAMES,
	C_VARIABLES,
	C_PLACES,
	C_FILES,
	C_VIEWS,
	C_ORDERS,
	C_THREADS,
	C_WORDS,
	C_INFO,
	C_TRIAGE,
	C_GROUPS,
	C_REQUESTS,
	C_SETTINGS,
	C_BREAKPOINTS
};

static const struct word {
	const char *name, *others, *arguments, *help;
	enum completes completes;
	word_function *run; /* or NULL: the run_by function, with `how` */
	word_by_function *run_by;
	int how;
} words[] = {
#define WORD(function, name, others, arguments, completes, help) \
	{ name, others, arguments, help, completes, word_##function, NULL, 0 },
#define WORD_BY(function, how, name, others, arguments, completes, help) \
	{ name, others, arguments, help, completes, NULL, by_##function, how },
#include "tui/explorer/commands/words.def"
#include "tui/explorer/messages.h"
#undef WORD
#undef WORD_BY
};

/* -- helpers ------------------------------------------------------------------------ */

static bool is_among(const char *list, const char *name)
{
	gsize length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return length > 0;
	return false;
}

/* Exact names first, then an unambiguous prefix. */
static const struct word *find_word(const char *name, struct error *error)
{
	const struct word *found = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i].name, name) == 0 || is_among(words[i].others, name))
			return &words[i];
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		if (!g_str_has_prefix(words[i].name, name))
			continue;
		if (found) {
			refuse(error, NO_ONE_COMMAND, name, found->name, words[i].name);
			return NULL;
		}
		found = &words[i];
	}
	if (found == NULL)
		refuse(error, NO_COMMAND, name);
	return found;
}

bool word_help(struct app *app, const char *arguments, struct error *error)
{
	GString *out = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		const struct word *w = &words[i];
		if (*arguments && strcmp(w->name, arguments) != 0 &&
		    !is_among(w->others, arguments))
			continue;
		g_string_append_printf(out, "%s %s\t%s%s%s%s\n", w->name, w->arguments, w->help,
		                       *w->others ? " (also: " : "", w->others,
		                       *w->others ? ")" : "");
	}
	if (out->len == 0) {
		g_string_free(out, TRUE);
		return refuse(error, NO_COMMAND, arguments);
	}
	app_show_text(app, "commands", out);
	return true;
}

/* -- running and completing ------------------------------------------------------------ */

void commands_run(struct app *app, const char *line)
{
	g_autofree char *copy = g_strstrip(g_strdup(line));
	char *arguments = copy + strcspn(copy, " \t");
	struct error error = { 0 };
	const char *slash = memchr(copy, '/', (gsize)(arguments - copy));
	g_autofree char *format = slash ? g_strdup(slash) : NULL; /* gdb's "p/x total" */
	if (format) {
		copy[slash - copy] = '\0';
		arguments = format;
	} else if (*arguments) {
		*arguments++ = '\0';
	}
	g_strstrip(arguments);
	const struct word *word = NULL;
	if (*copy == '\0')
		return;
	if (g_ascii_isdigit(*copy)) { /* a number is a goto */
		if (!word_go_event(app, copy, &error))
			app_complain(app, &error);
	} else if ((word = find_word(copy, &error)) == NULL ||
	           !(word->run ? word->run(app, arguments, &error)
	                       : word->run_by(app, word->how, arguments, &error))) {
		app_complain(app, &error);
	}
}

static void offer(GPtrArray *out, const char *name, const char *text)
{
	enum { OFFERED = 2000 };
	if (!*name || !g_str_has_prefix(name, text) || out->len >= OFFERED)
		return;
	for (guint i = 0; i < out->len; i++)
		if (strcmp(out->pdata[i], name) == 0)
			return;
	g_ptr_array_add(out, g_strdup(name));
}

#define OFFER_TABLE(table, name_of) \
	for (uint64_t i = 0; i < t->table##_count; i++) \
		offer(out, name_of, text);

static void offer_places(const struct trace *t, const char *text, GPtrArray *out)
{
	for (uint64_t i = 1; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		offer(out, trace_string(t, l->function), text);
		if (l->file && l->line) {
			g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
			g_autofree char *place = g_strdup_printf("%s:%u", base, l->line);
			offer(out, place, text);
		} else {
			offer(out, trace_string(t, l->name), text);
		}
	}
}

static void offer_files(const char *text, GPtrArray *out)
{
	const char *slash = strrchr(text, '/');
	g_autofree char *folder = slash ? g_strndup(text, slash - text + 1) : g_strdup("");
	g_autoptr(GDir) dir = g_dir_open(*folder ? folder : ".", 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_strconcat(folder, name, NULL);
		offer(out, path, text);
	}
}

static void offer_arguments(const struct app *app, enum completes what, const char *text,
                            GPtrArray *out)
{
	const struct trace *t = app_trace(app);
	static const char *const triages[] = { "real", "benign", "duplicate", "fixed", "none" };
	if (what == C_NAMES || what == C_VARIABLES)
		OFFER_TABLE(variables, trace_variable_name(t, i))
	if (what == C_NAMES)
		OFFER_TABLE(objects, trace_string(t, t->objects[i].name))
	if (what == C_NAMES || what == C_PLACES)
		offer_places(t, text, out);
	if (what == C_THREADS)
		OFFER_TABLE(threads, trace_string(t, t->threads[i].name))
	if (what == C_FILES)
		offer_files(text, out);
	for (size_t i = 0; what == C_VIEWS && view_name(i); i++)
		offer(out, view_name(i), text);
	for (int k = 0; what == C_ORDERS && k < ORDER_KIND_COUNT; k++)
		offer(out, order_kind_word((enum order_kind)k), text);
	for (size_t i = 0; what == C_WORDS && i < G_N_ELEMENTS(words); i++)
		offer(out, words[i].name, text);
	for (size_t i = 0; what == C_INFO && info_name(i); i++)
		offer(out, info_name(i), text);
	for (size_t i = 0; what == C_TRIAGE && i < G_N_ELEMENTS(triages); i++)
		offer(out, triages[i], text);
	for (int by = 0; what == C_GROUPS && by < GROUPINGS; by++)
		offer(out, grouping_words[by], text);
	for (int r = 1; what == C_REQUESTS && r < REQUEST_COUNT; r++)
		offer(out, request_table[r].word, text);
	const GPtrArray *stops = app->session->breakpoints;
	for (guint i = 0; what == C_BREAKPOINTS && i < stops->len; i++) {
		g_autofree char *number = g_strdup_printf(
		        "%u", ((const struct breakpoint *)stops->pdata[i])->number);
		offer(out, number, text);
	}
	for (int i = 0; what == C_SETTINGS && i < SETTING_COUNT; i++)
		offer(out, settings_table[i].word, text);
	g_ptr_array_sort(out, compare_texts);
}

/* -- conditions: what stands before the word says what it can be ----------------------------- */

/* The integers that the variable has in the run: of its first accesses. */
static void offer_values(const struct app *app, const char *name, const char *text,
                         GPtrArray *out)
{
	enum { LOOKED_AT = 5000 };
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	uint32_t variable = session_find_short(s, name);
	if (variable == NONE || !session_has(s, INDEX_VARIABLES))
		return;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = 0; i < MIN(list.count, LOOKED_AT); i++) {
		const struct event *e = &t->events[list.items[i]];
		uint32_t aux = e->flags & EVENT_WIDE ? 0 : e->aux;
		uint32_t parts[2] = { aux, 0 };
		if (aux && trace_value(t, aux).kind == V_PAIR) {
			parts[0] = trace_value(t, aux).first;
			parts[1] = trace_value(t, aux).second;
		}
		for (int k = 0; k < 2; k++) {
			if (parts[k] == 0 || trace_value(t, parts[k]).kind != V_INT)
				continue;
			g_autofree char *number = g_strdup_printf(
			        "%" G_GINT64_FORMAT, (gint64)trace_value(t, parts[k]).integer);
			offer(out, number, text);
		}
	}
}

/* Offer completions for the end of the condition: after a comparison the values of the
 * compared variable, else names. */
static void offer_condition(const struct app *app, const char *condition, const char *text,
                            GPtrArray *out)
{
	static const char *const comparisons[] = { "==", "!=", "<", "<=", ">", ">=", NULL };
	g_auto(GStrv) tokens = g_strsplit(condition, " ", -1);
	const char *last = "", *compared = "";
	for (char **token = tokens; *token; token++) {
		if (**token == '\0')
			continue;
		compared = last;
		last = *token;
	}
	if (g_strv_contains(comparisons, last) && strcmp(compared, "thread") == 0) {
		offer_arguments(app, C_THREADS, text, out);
	} else if (g_strv_contains(comparisons, last)) {
		offer_values(app, compared, text, out);
	} else {
		offer(out, "thread", text);
		offer(out, "event", text);
		offer_arguments(app, C_VARIABLES, text, out);
	}
}

/* The start of the condition in a line up to the word being completed; NULL: the word is not
 * in one. */
static const char *condition_in(const struct word *word, const char *before)
{
	const char *at = strstr(before, " if ");
	const char *arguments = before + strcspn(before, " ");
	if (strcmp(word->name, "reach") == 0)
		return strstr(before, " at ") ? NULL : arguments;
	if (strcmp(word->name, "print") == 0)
		return arguments;
	if (strcmp(word->name, "condition") == 0) /* after the number */
		return *arguments ? strchr(arguments + strspn(arguments, " "), ' ') : NULL;
	return word->completes == C_PLACES || word->completes == C_VARIABLES
	               ? (at ? at + 4 : NULL)
	               : NULL;
}

/* Offers completions by place: "if" after a breakpoint's place; a setting's values after its
 * name; the place after reach's condition. False: none of these. */
static bool offer_by_place(const struct app *app, const struct word *word, const char *before,
                           const char *text, GPtrArray *out)
{
	const char *condition = condition_in(word, before);
	g_autofree char *stripped = g_strstrip(g_strdup(before));
	g_auto(GStrv) tokens = g_strsplit(stripped, " ", -1);
	guint count = g_strv_length(tokens);
	enum setting setting = word->completes == C_SETTINGS && count == 2
	                               ? settings_find(tokens[1])
	                               : SETTING_COUNT;
	bool known = true;
	if (condition) {
		offer_condition(app, condition, text, out);
	} else if (strcmp(word->name, "reach") == 0 ||
	           (word->completes == C_INFO && count == 2 &&
	            strcmp(tokens[1], "line") == 0)) {
		offer_arguments(app, C_PLACES, text, out);
	} else if (setting != SETTING_COUNT) {
		g_auto(GStrv) values = g_strsplit(settings_table[setting].values, "|", -1);
		for (char **value = values; *value; value++)
			offer(out, *value, text);
	} else if (count == 2 && strstr(word->arguments, "if COND")) {
		offer(out, "if", text);
	} else {
		known = false;
	}
	return known;
}

GPtrArray *commands_complete(const struct app *app, const char *line, int start,
                             const char *text)
{
	GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
	struct error ignored;
	while (start > 0 && *line == ' ') {
		line++;
		start--;
	}
	if (start == 0) {
		offer_arguments(app, C_WORDS, text, out);
		return out;
	}
	g_autofree char *name = g_strndup(line, strcspn(line, " "));
	const struct word *word = find_word(name, &ignored);
	g_autofree char *before = g_strndup(line, (gsize)start);
	if (word && !offer_by_place(app, word, before, text, out))
		offer_arguments(app, word->completes, text, out);
	g_ptr_array_sort(out, compare_texts);
	return out;
}

void commands_print_table(GString *out)
{
	g_string_append(out, "| command | other names | does |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		g_auto(GStrv) parts = g_strsplit(words[i].arguments, "|", -1);
		g_autofree char *arguments = g_strjoinv("\\|", parts);
		g_string_append_printf(out, "| `%s%s%s` | %s | %s |\n", words[i].name,
		                       *arguments ? " " : "", arguments, words[i].others,
		                       words[i].help);
	}
}
