/*
 * init.c - the runtime's beginning and end, what a process does as a whole (exit, loading of
 * libraries), and messages.  Other processes: processes.c; signals: handlers.c.
 *
 * Without HEDDLE_RECORD in the environment the runtime never opens a gate: every hook
 * returns at once and every interposed function is the real one.
 */
#include <assert.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <regex.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "ranges.h"
#include "sched_private.h"

INTERPOSED(_exit, exit, _Exit, abort, sched_getaffinity, pthread_getaffinity_np,
           sched_setaffinity, pthread_setaffinity_np, get_nprocs, sysconf, dlopen, dlclose);

struct runtime rt;
extern char **environ;

void rt_say(const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof(text) - 1, format, list);
	va_end(list);
	if (n < 0)
		return;
	if (n > (int)sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	syscall(SYS_write, 2, "heddle: ", 8);
	syscall(SYS_write, 2, text, n);
}

void *rt_next(const char *name)
{
	struct thread *t = me;
	uint32_t gate = t->gate;
	if (t != &nobody)
		t->gate |= GATE_INSIDE;
	void *p = dlsym(RTLD_NEXT, name);
	if (t != &nobody)
		t->gate = (t->gate & ~GATE_INSIDE) | (gate & GATE_INSIDE);
	return p;
}

_Noreturn void rt_die(int signal_number)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int (*real)(int, const struct sigaction *, struct sigaction *) = (int (*)(
	        int, const struct sigaction *, struct sigaction *))rt_next("sigaction");
	real(signal_number, &usual, NULL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
	for (;;) {
		/* To this thread: it has arrived when the call returns. */
		syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal_number);
		syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	}
}

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
		log_flush(); /* should the parent be gone */
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

/* The environment as the user gave it, for the program and what it starts. */
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
}

static cpu_set_t original_affinity;

void rt_pin(void)
{
	if (syscall(SYS_sched_getaffinity, 0, sizeof(original_affinity), &original_affinity) <
	    0)
		return;
	rt.affinity = &original_affinity;
	unsigned cpu = 0;
	syscall(SYS_getcpu, &cpu, NULL, NULL);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	syscall(SYS_sched_setaffinity, 0, sizeof(one), &one);
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

static void find_forwarded(void);

extern void *__libc_stack_end; /* the loader's: where the program's stack began */

__attribute__((constructor(101))) static void begin(int argc, char **argv)
{
	find_forwarded();
	strings_init();
	int fd = config_descriptor();
	if (fd < 0)
		return;
	if (rt.config.flags & LOG_SERVE)
		serve(fd);
	rt.controlled = rt.config.flags & LOG_CONTROLLED;
	rt.values = rt.config.flags & LOG_VALUES;
	rt.replay = rt.config.flags & LOG_REPLAY;
	rt.missing = rt.config.flags & LOG_MISSING;
	if (rt.controlled && rt.config.flags & LOG_KEEP_INPUTS)
		rt.inputs = INPUTS_KEPT;
	rt.random = (rt.config.seed + 1) * 0x9e3779b97f4a7c15ull;
	if (rt.replay && !replay_load(fd, sizeof(rt.config)))
		_exit(125);
	syscall(SYS_close, fd);
	restore_environment();
	if (!log_open())
		_exit(125);
	rt.header->stack_begin = (uintptr_t)__libc_stack_end;
	rt.header->arguments = argc > 0 ? (uintptr_t)argv[0] : 0;
	for (int i = 0; i < 4; i++)
		next_random();
	sched_init();
	clocks_init();
	struct thread *t = thread_new(NULL);
	if (!t)
		_exit(125);
	rt.on = true;
	t->gate = GATE_INSIDE;
	me = t;
	log_thread(t);
	log_modules();
	glib_take_over();
	streams_init();
	thread_begin(t);
	log_thread(t); /* again, with its stack */
	missing_take_over();
	processes_init();
	if (rt.controlled)
		rt_pin();
	t->gate = 0;
}

/* The program is about to end, by this thread: in an exploration others may go first, and on
 * replay those whose steps the witness still has. */
static void end_point(void)
{
	bool explored = rt.config.flags & LOG_EXPLORE;
	struct thread *t =
	        rt.on && rt.controlled && (explored || rt.replay) ? recording() : NULL;
	if (!t || !rt.header || rt.header->status != LOG_RUNNING)
		return;
	if (explored) {
		char text[32] = "";
		sched_append_number(text, sizeof(text), t->id, 10);
		log_note("ends", text);
	}
	sched_point(t);
}

__attribute__((destructor(101))) static void end(void)
{
	end_point();
	rt_finish(LOG_EXITED);
}

/* ---- the end ---- */

/* _exit and abort come past no destructor. */
void interposed__exit(int status)
{
	struct thread *t = me;
	if (t != &nobody && t->pending && rt.on)
		log_fill(t);
	end_point();
	rt_finish(LOG_EXITED);
	for (;;)
		syscall(SYS_exit_group, status);
}
/* What atexit has registered runs inside. */
void interposed_exit(int status)
{
	struct thread *t = recording();
	if (t)
		frame_enter(t, LOG_CALL_exit, CALLER(), false);
	REAL(exit)(status);
	__builtin_unreachable();
}
void interposed__Exit(int status)
{
	_exit(status);
}
void interposed_abort(void)
{
	end_point();
	REAL(abort)();
	__builtin_unreachable();
}
/* The assertion in the log: a recording does not have what the program prints. */
static void note_assertion(const char *assertion, const char *file, unsigned line)
{
	enum { PLACE = 200, WHOLE = 700 };
	char text[WHOLE], digits[10];
	size_t length = 0, count = 0, from = 0, end = 0;

	for (; file && file[end] != 0; end++)
		if (file[end] == '/')
			from = end + 1;
	for (; from < end && length < PLACE; from++)
		text[length++] = file[from];
	text[length++] = ':';
	do
		digits[count++] = (char)('0' + line % 10);
	while ((line /= 10) != 0);
	while (count > 0)
		text[length++] = digits[--count];
	text[length++] = ' ';
	for (; assertion && *assertion && length < WHOLE - 1; assertion++)
		text[length++] = *assertion;
	text[length] = 0;
	if (recording())
		log_note("assertion", text);
}
EXPORT void __assert_fail(const char *assertion, const char *file, unsigned line,
                          const char *function)
{
	end_point();
	note_assertion(assertion, file, line);
	REAL(__assert_fail)(assertion, file, line, function);
	__builtin_unreachable();
}

/* ---- processors: the program must not notice that it is pinned ---- */

int interposed_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	if (rt.on && rt.affinity) {
		memset(set, 0, size);
		memmove(set, rt.affinity,
		        size < sizeof(*rt.affinity) ? size : sizeof(*rt.affinity));
		return 0;
	}
	return REAL(sched_getaffinity)(pid, size, set);
}
int interposed_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	if (rt.on && rt.affinity)
		return sched_getaffinity(0, size, set);
	return REAL(pthread_getaffinity_np)(thread, size, set);
}
int interposed_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return rt.on && rt.affinity ? 0 : REAL(sched_setaffinity)(pid, size, set);
}
int interposed_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	return rt.on && rt.affinity ? 0 : REAL(pthread_setaffinity_np)(thread, size, set);
}
static int processors(void)
{
	return rt.on && rt.affinity ? CPU_COUNT(rt.affinity) : 0;
}
int interposed_get_nprocs(void)
{
	int n = processors();
	return n ? n : REAL(get_nprocs)();
}
long interposed_sysconf(int name)
{
	int n = name == _SC_NPROCESSORS_ONLN ? processors() : 0;
	return n ? n : REAL(sysconf)(name);
}

/* ---- libraries that come later ---- */

void *interposed_dlopen(const char *file, int mode)
{
	struct thread *t = recording();
	if (!t)
		return REAL(dlopen)(file, mode);
	void *library = REAL(dlopen)(file, mode); /* its constructors are the program's */
	if (library && !me->gate) {
		t->gate |= GATE_INSIDE;
		log_modules();
		glib_take_over();
		missing_take_over();
		t->gate &= ~GATE_INSIDE;
	}
	return library;
}
int interposed_dlclose(void *library)
{
	int result = REAL(dlclose)(library);
	range_unloaded(); /* something else may come to lie there */
	return result;
}

/*
 * Functions that the C library has in several versions and libtsan exports without one: a
 * program linked to libtsan has an unversioned reference, which the loader would bind to
 * the oldest.  Each passes on to the newest.
 */
#define FORWARD(name) \
	static void *next_##name __attribute__((used)); \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name \
	        ":\n\tjmp *next_" #name "(%rip)\n.size " #name ", .-" #name \
	        "\n.popsection\n");
/* clang-format off: a list */
#define FORWARDED(F) \
	F(clock_getcpuclockid) \
	F(clock_getres) \
	F(clock_settime) \
	F(fmemopen) \
	F(glob) \
	F(glob64) \
	F(pthread_attr_getaffinity_np) \
	F(pthread_attr_getguardsize) \
	F(pthread_attr_getstack) \
	F(pthread_attr_getstacksize) \
	F(pthread_barrierattr_getpshared) \
	F(pthread_condattr_getclock) \
	F(pthread_condattr_getpshared) \
	F(pthread_getcpuclockid) \
	F(pthread_getname_np) \
	F(pthread_mutexattr_getprioceiling) \
	F(pthread_mutexattr_getprotocol) \
	F(pthread_mutexattr_getpshared) \
	F(pthread_mutexattr_getrobust) \
	F(pthread_mutexattr_gettype) \
	F(pthread_rwlockattr_getkind_np) \
	F(pthread_rwlockattr_getpshared) \
	F(pthread_sigmask) \
	F(realpath) \
	F(regexec) \
	F(sem_unlink)
/* clang-format on */
FORWARDED(FORWARD)

/* By the first constructor, before anybody else's may call one of them. */
static void find_forwarded(void)
{
#define FIND(name) next_##name = dlsym(RTLD_NEXT, #name);
	FORWARDED(FIND)
}

/* The stub of `heddle cc` looks for this name. */
EXPORT extern const char heddle_runtime[];
const char heddle_runtime[] = "heddle record";
