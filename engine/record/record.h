/*
 * record.h - running a program under the recording runtime, and making a trace of its log.
 * The runtime itself (runtime/) is another library, loaded into the program; the two share
 * layout.h alone.
 */
#ifndef HEDDLE_RECORD_H
#define HEDDLE_RECORD_H

#include <sys/types.h>

#include "engine/record/layout.h"
#include "engine/trace/builder/builder.h"

struct debug_store;
struct record_server;

/* A module of the recorded program, in which code and data addresses are looked up. */
struct record_module {
	char *path, *build_id;    /* owned */
	uint64_t bias, low, high; /* load bias, lowest and end of its mapped addresses */
	uint32_t index;           /* in trace.modules */
};

/* A thread of a deadlock, and the object it waits for. */
struct record_wait {
	uint32_t thread, holder; /* the runtime's numbers; holder NONE: unknown */
	enum log_wait reason;
	uint64_t message;    /* the number of a channel, or of a once-function's last message;
	                      * or 0 */
	uint64_t object, pc; /* address; of the call */
};

/* The step of the plan that a replay could not follow. */
struct record_divergence {
	enum log_divergence why;
	uint32_t thread; /* the runtime's number */
	uint64_t step, pc;
};

/* Note of a trace: suppressions that `record` was given, as the text of their file. */
#define SUPPRESSIONS_NOTE "suppressions"

/* State in which a thread began `event`, an atomic access of the trace: between two events of
 * a thread with equal states, and no write to memory in between, the steps are without
 * effect. */
struct record_state {
	uint64_t state;
	uint32_t event;
};

/* Facts of the log beside its events. Threads are the runtime's numbers. */
/* The initialisation of an object by a call, which is no event of the trace. */
struct record_init {
	uint32_t object;         /* of the trace; NONE: not used afterwards */
	uint32_t previous;       /* in use there before, in the same life of its memory, and not
	                          * destroyed; NONE: none, or not known */
	uint32_t thread, before; /* of the trace; how many of its events came before */
	uint64_t pc;             /* of the call; 0: not known */
};

/* A lock that std::lock takes (runtime/sync/take_all.c), or that is tried otherwise. */
struct record_taken {
	uint64_t address;
	bool by_all;
};

struct record_facts {
	char **argv; /* filled in by the caller: the command, noted in the trace; or NULL */
	bool forked; /* filled in by the caller: a child by fork, which goes on
	              * with its parent's log */
	const char *start_at;      /* filled in by the caller: --start-at, or NULL */
	const char *how;           /* filled in by the caller: options of the run
	                            * (session.h), or NULL */
	const char *suppressions;  /* filled in by the caller: text of --suppressions, or
	                            * NULL */
	const char *surroundings;  /* filled in by the caller: see surroundings.h, or NULL */
	const GPtrArray *specs;    /* filled in by the caller: char *, files whose bind lines
	                            * were recorded */
	struct debug_store *debug; /* filled in by the caller: keeps modules' debug
	                            * information, or NULL */
	/* filled in by the caller: receives the events (formats.h), or NULL: the trace does */
	struct trace_writer *writer;
	uint32_t status;  /* enum log_status */
	uint32_t outcome; /* status of the program, even after its recording had ended */
	uint32_t flags;   /* enum log_flag */
	uint32_t stolen;  /* number of times that the watchdog had to intervene: the run is
	                   * not reproducible */
	uint32_t error;   /* errno of LOG_FULL */
	uint64_t unread;  /* chunks of the log that could not be read, or not to their end */
	uint64_t replayed;
	uint32_t holder;       /* controlled mode: the number of the thread that ran last */
	uint64_t instrumented; /* function entries: 0 without the compilers' hooks */
	uint32_t happened;     /* bit set of enum log_happened */
	uint32_t misuses;      /* bit set of enum log_misuse */
	uint64_t events;       /* in the trace, or of which none was made */
	GArray *blocked;       /* struct record_wait: a deadlock, see record_explain_deadlock */
	GArray *turns; /* struct log_turn: controlled mode: the turns of the threads, at most
	                * LOG_TURNS + 1 */
	GArray *stopped[2]; /* struct log_stopped: replay, the stacks at the pair; or NULL */
	GArray *states;     /* struct record_state: exploration beyond sequential consistency */
	GArray *sums;  /* uint32_t: exploration, updates that add a number or take one away */
	GArray *ended; /* uint32_t: exploration, threads that came to an end */
	/* uint32_t: exploration, threads that stood before the end of the program (exit,
	 * abort), where others could still go on */
	GArray *ends;
	/* uint64_t: exploration, addresses of functions that are not instrumented and were
	 * called while several threads existed */
	GArray *missing;
	/* char *: exploration, operations whose outcome may depend on the order beyond what is
	 * modelled */
	GPtrArray *unordered;
	GArray *taken; /* struct record_taken: exploration, each lock once or twice */
	GArray *inits; /* struct record_init: exploration, in order; or NULL */
	bool diverged; /* replay */
	struct record_divergence divergence;
	char *input;     /* replay: the different input that a thread asked for, or NULL */
	GArray *modules; /* struct record_module */
};
/* Note with the options of `heddle record` that make another run take the same schedule:
 * "--mode controlled --strategy pct --depth 3 --seed 7". */
#define RECORDED_HOW_NOTE    "recording-options"
/* Note of the trace of a child by fork, which begins with its parent's events. */
#define RECORDED_FORKED_NOTE "recording-forked"
void record_facts_release(struct record_facts *facts);
/* Whose accesses the recording lacks, though the program's own code made them; by bits of enum
 * log_happened. NULL: nobody's. Owned by the caller. */
char *record_lacking(uint32_t happened);

struct debuginfo;
/* Text saying that reads are left out, and which option keeps them; NULL when none are. Owned
 * by the caller. */
char *record_reads_text(const struct debuginfo *module, const char *name);
/* record_reads_text for the first such module in which the trace has events. */
char *record_left_out_reads(const struct record_facts *facts, const struct trace *trace);
/* Does the program or library have code with the compiler's hooks? */
bool record_file_instrumented(const char *path);
/* The place of the module's first atomic instruction that no hook reports, FILE:LINE
 * (FUNCTION); NULL: none. Owned by the caller. */
char *record_atomic_place(const struct debuginfo *module);
/* The warning about such a place. Owned by the caller. */
char *record_atomic_text(const char *place);
/* record_atomic_text for the first such module in which the trace has events; NULL: none. */
char *record_atomic_instructions(const struct record_facts *facts, const struct trace *trace);
/* The same of an access without a hook (debuginfo_unhooked), in functions that ran while there
 * were several threads. `asked`: a set of integers for g_int64_hash, owned; what it has is not
 * asked again. */
char *record_unhooked(const struct record_facts *facts, const struct trace *trace,
                      GHashTable *asked);
/* The same of fences of inline assembly (mfence), which matter beyond sequential consistency.
 */
char *record_fence_instructions(const struct record_facts *facts, const struct trace *trace);

/* Does the file begin like a recording log? */
bool record_is_log(const char *path);

/*
 * Make a trace of a recording log, up to the last whole record. `name` names it in messages.
 * `facts` (may be NULL) is filled in and released by the caller.
 */
struct trace *record_import(const char *path, const char *name, struct record_facts *facts,
                            const struct progress *progress, struct error *error);

/* record_import for a log that lies in memory as it would in a file (`path`: where that would
 * be). */
struct trace *record_import_memory(const void *log, uint64_t size, const char *path,
                                   const char *name, struct record_facts *facts,
                                   struct error *error);

/* The file's name of the library (or program) that has the code at `pc`. */
const char *record_library(const struct record_facts *facts, uint64_t pc);
/* Append the name that the trace gives a thread: "main", "T3". */
void record_append_thread(uint32_t number, GString *out);
/* The user's place of a wait of the recording: "keys.c:11". */
void record_append_wait_place(const struct trace *t, const struct record_facts *facts,
                              const struct record_wait *w, GString *out);
/* Lines like "T1 waits for mutex m (held by T2)", appended to `out`. */
void record_explain_deadlock(const struct trace *t, const struct record_facts *facts,
                             GString *out);

/* Append an absolute code address in terms of its module's debug information: "file:line" or
 * "module+0xoffset"; and its function. */
void record_describe(const struct record_facts *facts, uint64_t pc, GString *place,
                     GString *function);

/* ---- running: launch.c, log_file.c, run.c, server.c ---- */

/* Default of --max-size, in bytes: some 400 million events. */
#define RECORD_MAX_BYTES    (4ull << 30)
/* The bound for a run of an exploration, which compares its events with each other: a run
 * that spins until its time is up would otherwise fill the memory. */
#define RECORD_MAX_EXPLORED (16ull << 20)

struct record_options {
	char **argv;              /* NULL-terminated; argv[0] is looked up in PATH */
	struct log_config config; /* log, mode, strategy, seed, limits; the rest is filled in */
	const char *preload;      /* a library to be loaded before the runtime, or NULL */
	bool bind_now;            /* all symbols are looked up at its start, which moves its
	                           * stack */
	const void *plan;         /* replay: the plan, in the file after the config; or NULL */
	size_t plan_bytes;
	const char *stdout_path;      /* shake: file for its output, or NULL */
	const char *stderr_path;      /* shake: file for standard error alone; NULL: as
	                               * stdout_path */
	struct record_server *server; /* server that forks it, or NULL; with the same argv,
	                               * preload and environment */
	unsigned timeout_ms;          /* kill it after; 0: never */
	struct joined *joined; /* a process that waits to be recorded (joined.h), in place of a
	                        * new one; with its argv; or NULL */
	/* Called when it has been started, and its log exists, with the memory for its
	 * chunks; or NULL. */
	void (*running)(void *context, int buffer);
	void (*stopped)(void *context, pid_t pid); /* replay: called while both threads stand
	                                            * before the pair */
	void *context;
};

struct record_result {
	bool started;
	bool timed_out;
	bool unseen;     /* of a joined process: how it ended is not known (killed, mostly) */
	bool cleared;    /* of a joined process: it started a program that cannot be recorded */
	bool unwanted;   /* of a joined process: log_header.unwanted */
	bool became;     /* of a joined process: it became another program, which is recorded */
	int status;      /* as the program's: exit status, or 128 + signal */
	int signal;      /* or 0 */
	int interrupted; /* a signal that this process got meanwhile (and passed to the
	                  * program), or 0 */
	int late;        /* such signals that came between its end and our notice of it */
	int64_t ended_us; /* when it ended, of the monotonic clock; 0: not yet */
	bool instrumented, aslr_off;
	int log_error; /* errno when the end of the log could not be written, or 0 */
};

/* A signal that comes while a recorded program runs is passed to it, and is stored in `*flag`,
 * too, whatever becomes of the run's result: a command that ends when it is interrupted may
 * make many runs, and not look at each result. NULL: in `interrupted` above alone. */
void record_note_signals(volatile int *flag);

/* Adds the ending of the run as a note to its trace (ending.h). */
void record_note_ending(struct trace *t, const struct record_facts *facts,
                        const struct record_result *result);

/* The path of the runtime, beside the binary. NULL and `error` when it does not exist. */
char *record_runtime_path(struct error *error);
/* The folder of the files that `heddle cc` links with; NULL and `error`. */
char *record_stub_folder(struct error *error);

/*
 * May this program be recorded?  False and `error` for a missing, unreadable, foreign,
 * 32-bit, static or setuid one.  *path (owned) is the file, *instrumented whether it was
 * built with thread instrumentation.
 */
bool record_check_program(const char *program, char **path, bool *instrumented,
                          bool *needs_clang_name, struct error *error);

/* The build id of the program's file (looked up in PATH), in hex and owned by the caller;
 * NULL when it has none or cannot be read. */
char *record_build_id(const char *program);

/*
 * The program as it was loaded, for many runs: each is forked from it, which costs a fraction
 * of a start.  `output` (or NULL) is the file for its output should a run fail to start.  NULL
 * and `error`.  Where a program cannot be forked (a library of it starts threads while it is
 * loaded) or the server was ended from outside, record_run starts it anew each time.
 */
struct record_server *record_server_new(char **argv, const char *preload, const char *output,
                                        bool explores, struct error *error);
void record_server_free(struct record_server *server); /* NULL is allowed */
/* Reads the program's memory as it was before any of its own code ran. False where unknown:
 * the server has ended, or nothing is mapped there yet. */
bool record_server_read(const struct record_server *server, uint64_t address, void *bytes,
                        size_t size);
/* For record_facts.debug; NULL for NULL. */
struct debug_store *record_server_debug(const struct record_server *server);
/*
 * Can runs be forked at the beginning of main? Tried once, with the first options. Then a run
 * costs less: _begin (false: it has to be started anew) does not wait for it; _end does, and
 * returns the trace of its log; or _cancel, which may also be called when none runs. One run
 * at a time; its output goes to the file of the server's first options, and is overwritten by
 * the next. `timeout_ms`: from `end` on; 0: none.
 */
bool record_server_settles(struct record_server *server, const struct record_options *o);
bool record_server_begin(struct record_server *server, struct record_options *o);
enum record_end {
	RECORD_ENDED,
	RECORD_NOT_BEGUN, /* the recorder was never loaded into the program */
	RECORD_REFUSED,
};
enum record_end record_server_end(struct record_server *server, unsigned timeout_ms,
                                  struct record_result *result);
/* From now on runs that need kernel threads have them. Threads of runs are contexts of one
 * kernel thread until a run is refused because it needs kernel threads; it then begins again
 * with kernel threads. If earlier runs had none (outgrown), all begin again, as they may
 * differ in addresses. */
void record_server_use_kernel_threads(struct record_server *server);
bool record_server_has_kernel_threads(const struct record_server *server);
bool record_server_outgrown(const struct record_server *server);
struct trace *record_server_trace(struct record_server *server, struct record_facts *facts,
                                  struct error *error);
/* The header of the last run's log, until the next begins. */
const struct log_header *record_server_header(const struct record_server *server);
/* Did the last run print anything? */
bool record_server_printed(const struct record_server *server);
void record_server_cancel(struct record_server *server);

/* Start it for a debugger (config.hold), which then controls it: the caller owns the pid, and
 * the memory of the log's chunks. False and `error` when it could not be started. */
bool record_start(struct record_options *options, pid_t *pid, int *buffer, struct error *error);

/* Run it to its end. False and `error` when it could not be started. */
bool record_run(struct record_options *options, struct record_result *result,
                struct error *error);

#endif
