/*
 * init.c - the runtime's beginning in the process, and the state in which a recording is left.
 * The program's ends: exits.c; other processes: processes.c.
 *
 * Without HEDDLE_RECORD in the environment no gate opens: every hook returns at once and every
 * interposed function calls the original.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/stub/join.h"
#include "one_thread.h"
#include "rt.h"

struct runtime rt;
extern char **environ;

void rt_finish(enum log_status status)
{
	if (rt.header && rt.header->outcome == LOG_RUNNING && !rt_other_process()) {
		rt.header->outcome = status;
		rt.header->steps = sched_steps();
	}
	if (rt.header && rt.header->status == LOG_RUNNING && !rt_other_process()) {
		rt.header->repeated += rt.repeated;
		for (uint32_t i = 0; i < MAX_THREADS && i < rt.thread_count; i++)
			if (rt.threads[i])
				rt.header->repeated += rt.threads[i]->repeated;
		log_flush(); /* in case the parent is dead */
		rt.header->status = status;
	}
}

/* ---- start ---- */

static void remove_variable(const char *name)
{
	size_t n = strlen(name);
	char **to = environ;
	for (char **from = environ; *from; from++)
		if (strncmp(*from, name, n) != 0 || (*from)[n] != '=')
			*to++ = *from;
	*to = NULL;
}

/* Restore the user's environment, for the program and its children. */
static void restore_environment(void)
{
	static char preload[2200], library_path[2200];
	remove_variable(LOG_ENVIRONMENT);
	for (char **e = environ; *e; e++) {
		if (strncmp(*e, "LD_PRELOAD=", 11) == 0 && rt.config.had_preload) {
			snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", rt.config.preload);
			*e = preload;
		}
		if (strncmp(*e, "LD_LIBRARY_PATH=", 16) == 0 && rt.config.had_library_path) {
			snprintf(library_path, sizeof(library_path), "LD_LIBRARY_PATH=%s",
			         rt.config.library_path);
			*e = library_path;
		}
	}
	if (!rt.config.had_preload)
		remove_variable("LD_PRELOAD");
	if (!rt.config.had_library_path)
		remove_variable("LD_LIBRARY_PATH");
	remove_variable("GLIBC_TUNABLES");
	const char *now = getenv("LD_BIND_NOW");
	if (now && strcmp(now, LOG_BIND_NOW) == 0)
		remove_variable("LD_BIND_NOW");
}

static int config_descriptor(void)
{
	const char *text = getenv(LOG_ENVIRONMENT);
	if (!text)
		return -1;
	int fd = 0;
	while (*text >= '0' && *text <= '9')
		fd = fd * 10 + (*text++ - '0');
	if (*text || syscall(SYS_pread64, fd, &rt.config, sizeof(rt.config), 0) !=
	                     (long)sizeof(rt.config))
		return -1;
	return rt.config.version == LOG_VERSION ? fd : -1;
}

static void begin_random(void)
{
	rt.random = (rt.config.seed + 1) * HASH_FACTOR;
	for (int i = 0; i < 4; i++)
		next_random();
}

bool begin_again(int room)
{
	struct log_config *c = &rt.config;
	rewind_touch(c, LOG_CONFIG_OWN);
	if (syscall(SYS_pread64, room, c, LOG_CONFIG_OWN, LOG_ROOM_CONFIG) !=
	    (long)LOG_CONFIG_OWN)
		return false;
	long turns = (long)(c->turn_count * sizeof(c->turns[0]));
	rewind_touch(c->turns, (size_t)turns);
	if (turns && syscall(SYS_pread64, room, c->turns, turns,
	                     LOG_ROOM_CONFIG + offsetof(struct log_config, turns)) != turns)
		return false;
	rt.replay = c->flags & LOG_REPLAY;
	if (rt.replay && !replay_load(room, LOG_ROOM_CONFIG + sizeof(*c)))
		return false;
	log_begin_again();
	begin_random();
	memory_init();
	rt.thread_count = c->thread_count > 1 ? c->thread_count : 1;
	rt.several = false;
	rt.unjoined = 0;
	me->life.tid = (pid_t)syscall(SYS_gettid);
	thread_note_number(me);
	sched_begin_again();
	return true;
}

extern void *__libc_stack_end; /* the loader's: the beginning of the program's stack */

__attribute__((constructor(101))) static void begin(int argc, char **argv)
{
	forwards_init();
	strings_init();
	int fd = config_descriptor();
	if (fd < 0) {
		join_program(argv, environ);
		return;
	}
	if (rt.config.flags & LOG_SERVE)
		serve(fd);
	rt.controlled = rt.config.flags & LOG_CONTROLLED;
	rt.values = rt.config.flags & LOG_VALUES;
	rt.filter = rt.config.flags & LOG_FILTER;
	rt.filter_wcp = rt.config.flags & LOG_FILTER_WCP;
	rt.filter_commute = rt.config.flags & LOG_FILTER_COMMUTE;
	rt.filter_variables = rt.config.flags & LOG_FILTER_VARIABLES;
	rt.shadow = rt.filter_variables && rt.config.flags & LOG_SHADOW && shadow_begin();
	rt.sections = rt.shadow && rt.config.flags & LOG_SECTIONS;
	rt.sample = rt.config.flags & LOG_SAMPLE;
	rt.replay = rt.config.flags & LOG_REPLAY;
	rt.missing = rt.config.flags & LOG_MISSING;
	if (rt.controlled)
		rt.inputs = rt.config.flags & LOG_KEEP_INPUTS ? INPUTS_KEPT : INPUTS_ORDERED;
	if (rt.replay && !replay_load(fd, sizeof(rt.config)))
		_exit(125);
	syscall(SYS_close, fd);
	restore_environment();
	forked_init(environ);
	if (!log_open())
		_exit(125);
	rt.header->stack_begin = (uintptr_t)__libc_stack_end;
	rt.header->arguments = argc > 0 ? (uintptr_t)argv[0] : 0;
	clock_init();
	begin_random();
	memory_init();
	sched_init();
	clocks_init();
	struct thread *t = thread_new(NULL);
	if (!t)
		_exit(125);
	rt.on = true;
	t->gate = GATE_INSIDE;
	me = t;
	log_thread(t, t);
	log_modules();
	glib_take_over();
	streams_init();
	thread_begin(t);
	log_thread(t, t); /* again, with its stack */
	missing_take_over();
	processes_init();
	exits_init();
	faults_init();
	if (rt.controlled)
		rt_pin();
	if (rt.sample)
		sample_hooks();
	t->gate = 0;
}

/* The last constructor of this library, and so before the first of the program's. */
__attribute__((constructor)) static void begun(void)
{
	serve_early();
}

/* The stub of `heddle cc` looks for this name. */
EXPORT extern const char heddle_runtime[];
const char heddle_runtime[] = "heddle record";
