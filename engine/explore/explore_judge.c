/* explore_judge.c - how a run ended. */
#include "engine/explore/explore_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORY_ROOM = 400 };

/* The last line that the program printed: of a failed assertion, the assertion. */
static char *last_line(const char *path)
{
	char *text = NULL;
	gsize length = 0;
	if (path == NULL || !g_file_get_contents(path, &text, &length, NULL))
		return g_strdup("");
	while (length > 0 && g_ascii_isspace(text[length - 1]))
		length--;
	gsize from = length;
	while (from > 0 && text[from - 1] != '\n')
		from--;
	GString *line = g_string_new(NULL);
	append_escaped(line, text + from, MIN(length - from, STORY_ROOM));
	g_free(text);
	return g_string_free(line, FALSE);
}

/* Do the waits form a cycle of locks?  (Who waits for a condition has perhaps missed it.) */
static bool is_cycle(const struct record_facts *facts)
{
	enum { MOST = 256 };
	unsigned waits[MOST], holders[MOST], count = 0;
	for (guint i = 0; i < facts->blocked->len && count < MOST; i++) {
		char kind[32], holder[32];
		uint64_t address, pc;
		unsigned thread;
		if (sscanf(facts->blocked->pdata[i], "%u %31s %" SCNx64 " %31s %" SCNx64,
		           &thread, kind, &address, holder, &pc) != 5 ||
		    strcmp(holder, "-") == 0)
			continue;
		waits[count] = thread;
		holders[count++] = (unsigned)strtoul(holder, NULL, 10);
	}
	for (unsigned i = 0; i < count; i++) {
		unsigned at = holders[i];
		for (unsigned steps = 0; steps <= count; steps++) {
			if (at == waits[i])
				return true;
			unsigned next = 0;
			while (next < count && waits[next] != at)
				next++;
			if (next == count)
				break;
			at = holders[next];
		}
	}
	return false;
}

void explore_judge(struct exploration *x, const struct plan_run *run, struct explore_run *r)
{
	const struct record_result *result = &run->result;
	r->status = result->signal ? result->signal : result->status;
	if (run->diverged) {
		r->end = EXPLORE_DIVERGED;
		r->story = g_strdup(run->cause ? run->cause : "");
	} else if (run->facts.status == LOG_CUT) {
		r->end = EXPLORE_CUT;
		r->story = g_strdup("it took too many steps");
	} else if (result->timed_out) {
		r->end = EXPLORE_CUT;
		r->story = g_strdup("it took too long");
	} else if (run->facts.status == LOG_DEADLOCK) {
		GString *story = g_string_new(NULL);
		record_explain_deadlock(run->trace, &run->facts, story);
		if (story->len)
			g_string_truncate(story, story->len - 1);
		r->end = is_cycle(&run->facts) ? EXPLORE_DEADLOCK : EXPLORE_BLOCKED;
		r->story = g_string_free(story, FALSE);
	} else {
		r->end = result->signal        ? EXPLORE_SIGNAL
		         : result->status != 0 ? EXPLORE_STATUS
		                               : EXPLORE_FINE;
		r->story = last_line(r->end == EXPLORE_FINE ? NULL : x->output);
	}
}

/* Whatever it led to, the use itself is the error; what came of it is told. */
void explore_note_use(struct explore_run *r)
{
	GString *story = g_string_new(r->flip);
	if (r->end == EXPLORE_SIGNAL)
		g_string_append_printf(story, "\nthe program ends by signal %d (%s)", r->status,
		                       strsignal(r->status));
	if (*r->story)
		g_string_append_printf(story, "\n%s", r->story);
	r->end = EXPLORE_USE_AFTER_FREE;
	g_free(r->story);
	r->story = g_string_free(story, FALSE);
}
