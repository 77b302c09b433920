/*
 * replay_gdb.c - see replay_gdb.h. A short Python script, which gets the pair by the
 * environment, selects thread and frame; a gdb without Python works without.
 */
#include "tui/batch/replay/replay_gdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Selects gdb's thread at a side's line by its innermost frame in the file; hides frames of the
 * runtime. */
static const char finder[] =
        "import gdb, os\n"
        "def ours(pc):\n"
        "    return 'libheddle-record' in (gdb.solib_name(pc) or '')\n"
        "class Quiet:\n"
        "    def __init__(self):\n"
        "        self.name, self.priority, self.enabled = 'heddle', 100, True\n"
        "        gdb.frame_filters[self.name] = self\n"
        "    def filter(self, frames):\n"
        "        return (d for d in frames if not ours(d.inferior_frame().pc()))\n"
        "Quiet()\n"
        "def stands_at(frame, path, line):\n"
        "    sal = frame.find_sal()\n"
        "    return (sal.symtab is not None and sal.line == line and\n"
        "            os.path.basename(sal.symtab.filename) == os.path.basename(path))\n"
        "def find(path, line, taken):\n" /* two sides may be at one line */
        "    for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):\n"
        "        if thread.num in taken:\n"
        "            continue\n"
        "        thread.switch()\n"
        "        frame = gdb.newest_frame()\n"
        "        while frame is not None and ours(frame.pc()):\n"
        "            frame = frame.older()\n"
        "        while frame is not None:\n"
        "            if stands_at(frame, path, line):\n"
        "                return thread, frame\n"
        "            frame = frame.older() if frame.type() == gdb.INLINE_FRAME else None\n"
        "    return None\n"
        "print()\n"
        "here, taken = None, set()\n"
        "for side in os.environ['HEDDLE_PAIR'].split('\\n'):\n"
        "    name, what, path, line = side.split('\\t')\n"
        "    found = find(path, int(line), taken) if line != '0' else None\n"
        "    taken.update([found[0].num] if found else [])\n"
        "    number = 'thread %d' % found[0].num if found else 'a thread that gdb has not "
        "found'\n"
        "    print('heddle: %s is %s, before %s at %s:%s' % (name, number, what, path, line))\n"
        "    here = here or found\n"
        "if here:\n"
        "    here[0].switch()\n"
        "    here[1].select()\n"
        "    gdb.execute('frame')\n"
        "print('heddle: the others wait; quit, and the program goes on')\n";

/* "T1 TAB write acct.balance: 150 TAB bank.c TAB 23": a line for each side. */
static char *describe_pair(const struct gdb_stop *stop)
{
	const struct trace *t = stop->trace;
	GString *out = g_string_new(NULL);
	for (int i = 0; i < 2; i++) {
		uint32_t event = stop->pair[i];
		if (event == NONE)
			continue;
		const struct event *e = &t->events[event];
		const struct location *l = &t->locations[e->location];
		const char *thread = trace_thread_name(t, e->thread);
		g_autofree char *file =
		        l->file ? g_path_get_basename(trace_string(t, l->file)) : g_strdup("?");
		g_string_append(out, out->len ? "\n" : "");
		append_escaped(out, thread, strlen(thread));
		g_string_append_c(out, '\t');
		trace_append_words(t, event, out);
		g_string_append_c(out, '\t');
		append_escaped(out, file, strlen(file));
		g_string_append_printf(out, "\t%u", l->line);
	}
	return g_string_free(out, FALSE);
}

static void become_gdb(const struct gdb_stop *stop, const char *pid)
{
	char *pair = describe_pair(stop);
	setenv("HEDDLE_PAIR", pair, 1);
	setenv("HEDDLE_GDB", finder, 1);
	execlp("gdb", "gdb", "-q", "-p", pid, "-ex",
	       "python import os; exec(os.environ['HEDDLE_GDB'])", (char *)NULL);
	fprintf(stderr, "heddle: cannot run gdb: install it (apt install gdb)\n");
	_exit(127);
}

void gdb_at_pair(void *context, pid_t pid)
{
	char number[32];
	snprintf(number, sizeof(number), "%d", (int)pid);
	fprintf(stderr,
	        "heddle: process %s stands before the pair; it goes on when gdb quits\n",
	        number);
	pid_t child = fork();
	if (child == 0)
		become_gdb(context, number);
	int status;
	while (child > 0 && waitpid(child, &status, 0) < 0)
		;
}
