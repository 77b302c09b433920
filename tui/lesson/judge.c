/*
 * judge.c - tests a student's program. The absence of races proves little, since the locks, the
 * work or the end of the program may be gone: so its output is checked under many schedules,
 * and exploration searches for a failing one.
 */
#include "tui/lesson/lesson.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *word(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* The memory model under which the lesson records and judges fixes; "sc" by default. Owned by
 * the caller. */
static char *memory_of(const struct lesson *l)
{
	static const char option[] = "--memory ";
	const char *at = l->record ? strstr(l->record, option) : NULL;
	if (at == NULL)
		return g_strdup("sc");
	at += strlen(option);
	return g_strndup(at, strcspn(at, " "));
}

/* The JSON printed by `heddle COMMAND ... -- ./PROGRAM` in the folder, under the lesson's
 * memory model; NULL: not started, or did not end. */
static json_t *ask(const struct workshop *w, const char *const *command)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *program = lesson_program(w->lesson),
	                *run = g_strconcat("./", program, NULL);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autofree char *out = NULL;
	json_t *answer = NULL;
	const char *const before[] = { "timeout", "-k", "5", "90", self ? self : "heddle" };
	g_autofree char *memory = memory_of(w->lesson);
	const char *const after[] = { "--memory", memory, "--format", "json", "--", run, NULL };
	for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
		g_ptr_array_add(argv, (char *)before[i]);
	for (; *command; command++)
		g_ptr_array_add(argv, (char *)*command);
	for (size_t i = 0; i < G_N_ELEMENTS(after); i++)
		g_ptr_array_add(argv, (char *)after[i]);
	if (g_spawn_sync(w->folder, (char **)argv->pdata, NULL,
	                 G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out,
	                 NULL, NULL, NULL))
		answer = json_loads(out, JSON_DISABLE_EOF_CHECK, NULL);
	return answer;
}

static bool prints_right(const struct lesson *l, const char *line)
{
	return l->prints == NULL || g_regex_match_simple(l->prints, line, 0, 0);
}

/* The last line of the program's output, without heddle's messages. */
static char *last_line(const GString *said)
{
	g_auto(GStrv) lines = g_strsplit(said->str, "\n", -1);
	const char *last = "";
	for (char **line = lines; *line; line++)
		if (**line && !g_str_has_prefix(*line, "heddle:"))
			last = *line;
	return g_strdup(last);
}

static bool refuse_line(const struct lesson *l, const char *line, GString *why)
{
	if (*line == '\0')
		g_string_append(why, "the program prints nothing");
	else
		g_string_append_printf(why, "the program prints '%s'", line);
	g_string_append_printf(why, ", and a right one prints what matches '%s'", l->prints);
	return false;
}

static bool judge_recording(const struct workshop *w, const GString *said, GString *why)
{
	g_autofree char *line = last_line(said);
	bool right = true;
	if (w->status != 0) {
		g_string_append_printf(
		        why, "the program ended with status %d%s", w->status,
		        w->status == 134 ? ": it aborted, or no thread could go on" : "");
		if (*line != '\0')
			g_string_append_printf(why, "; it printed '%s'", line);
		right = false;
	} else if (!prints_right(w->lesson, line)) {
		right = refuse_line(w->lesson, line, why);
	}
	return right;
}

/* The options that reproduce the outcome: "--strategy random --seed 7". */
static char *schedule_of(const struct workshop *w, const json_t *outcome)
{
	GString *out = g_string_new(NULL);
	g_autofree char *memory = memory_of(w->lesson);
	if (strcmp(memory, "sc") != 0)
		g_string_append_printf(out, "--memory %s ", memory);
	g_string_append_printf(out, "--strategy %s", word(outcome, "strategy"));
	static const char *const numbers[] = { "depth", "steps", "seed" };
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		const json_t *number = json_object_get(outcome, numbers[i]);
		if (number)
			g_string_append_printf(out, " --%s %" JSON_INTEGER_FORMAT, numbers[i],
			                       json_integer_value(number));
	}
	return g_string_free(out, FALSE);
}

/* Shows this trace of the folder, if it exists. */
static void show_run(struct workshop *w, const char *name)
{
	g_free(w->shown);
	w->shown = *name ? g_build_filename(w->folder, name, NULL) : NULL;
	if (w->shown && access(w->shown, R_OK) != 0)
		g_clear_pointer(&w->shown, g_free);
}

/* Records the failing schedule again, to show it. */
static void record_schedule(struct workshop *w, const char *options)
{
	static const char name[] = "counterexample.hdl";
	g_autofree char *program = lesson_program(w->lesson);
	g_autofree char *command =
	        g_strdup_printf("heddle record -q %s -o %s -- ./%s", options, name, program);
	g_autoptr(GString) said = g_string_new(NULL);
	workshop_run(w, command, said);
	show_run(w, name);
}

static bool judge_schedules(struct workshop *w, GString *why)
{
	static const char *const command[] = { "shake", "-q", "-n", "60", NULL };
	json_t *answer = ask(w, command), *outcome;
	bool right = answer != NULL;
	size_t i;
	if (!right)
		g_string_append(why, "under some schedules the program does not end");
	json_array_foreach(json_object_get(answer, "outcomes"), i, outcome)
	{
		bool ended = strcmp(word(outcome, "end"), "exit status 0") == 0;
		if (!right || (ended && prints_right(w->lesson, word(outcome, "line"))))
			continue;
		g_string_append(why, "under another schedule ");
		if (ended)
			refuse_line(w->lesson, word(outcome, "line"), why);
		else
			g_string_append_printf(why, "it ends so: %s", word(outcome, "end"));
		g_autofree char *schedule = schedule_of(w, outcome);
		g_string_append_printf(why, " (heddle record %s)", schedule);
		record_schedule(w, schedule);
		right = false;
	}
	json_decref(answer);
	return right;
}

static void append_locations(const json_t *finding, GString *why)
{
	size_t i;
	json_t *place;
	json_array_foreach(json_object_get(finding, "locations"), i, place)
	        g_string_append_printf(why, "%s%s", i ? ", " : " at ",
	                               json_string_value(place) ? json_string_value(place)
	                                                        : "?");
}

/* A program too large to explore passes. */
static bool judge_exploration(struct workshop *w, GString *why)
{
	static const char *const command[] = { "explore",        "-q", "--budget", "5", "-o",
		                               "counterexample", NULL };
	json_auto_t *answer = ask(w, command);
	const json_t *error = json_array_get(json_object_get(answer, "errors"), 0),
	             *race = json_array_get(json_object_get(answer, "races"), 0);
	if (error) {
		g_auto(GStrv) story = g_strsplit(word(error, "story"), "\n", -1);
		g_string_append_printf(why, "a schedule still ends in an error: %s",
		                       word(error, "kind"));
		append_locations(error, why);
		for (char **line = story; *line && **line; line++)
			g_string_append_printf(why, "; %s", *line);
		show_run(w, word(error, "trace"));
	} else if (race) {
		g_string_append_printf(why, "there is a data race on %s",
		                       word(race, "variable"));
		append_locations(race, why);
		g_autofree char *name =
		        g_strdup_printf("counterexample.run%" JSON_INTEGER_FORMAT ".hdl",
		                        json_integer_value(json_object_get(race, "run")));
		show_run(w, name);
	}
	return error == NULL && race == NULL;
}

bool workshop_judge(struct workshop *w, const GString *said, GString *why)
{
	return judge_recording(w, said, why) && judge_schedules(w, why) &&
	       judge_exploration(w, why);
}
