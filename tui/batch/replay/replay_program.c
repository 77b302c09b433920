/* replay_program.c - see replay_program.h. */
#include <stdio.h>
#include <string.h>

#include "engine/record/record.h"
#include "engine/record/surroundings.h"
#include "tui/batch/print/print.h"
#include "tui/batch/replay/replay_program.h"

/* Is the program another one, or another build, than the trace's first module? */
static bool is_other_build(const struct trace *t, const char *program)
{
	g_autofree char *id = record_build_id(program);
	const char *recorded = t->modules_count ? trace_string(t, t->modules[0].build_id) : "";
	return id && *recorded && strcmp(id, recorded) != 0;
}

bool replay_compare_program(const struct trace *t, const char *program)
{
	bool other = is_other_build(t, program);
	if (other)
		fprintf(stderr,
		        "heddle: %s is another program, or another build, than was recorded "
		        "(%s, by its build id)\n",
		        program, printable(trace_string(t, t->modules[0].path)));
	const char *recorded = trace_note(t, SURROUNDINGS_NOTE);
	if (!recorded)
		return other;
	surroundings_inherit(recorded);
	g_autofree char *now = surroundings_of(0);
	g_autoptr(GPtrArray) list = surroundings_compare(recorded, now);
	for (guint i = 0; i < list->len; i++)
		fprintf(stderr, "heddle: %s\n", printable(list->pdata[i]));
	return other;
}
