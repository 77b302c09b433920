/*
 * session.h - an editor's session, shared by the adapter's files.
 *
 * The editor's ids: a thread's is the recording's (T1 is 2) and stays the same however often
 * the program is run again; a frame and a set of variables are numbered from 1 with each stop,
 * and the numbers of earlier stops are never used again.
 */
#ifndef HEDDLE_DAP_SESSION_H
#define HEDDLE_DAP_SESSION_H

#include "tui/dap/dap.h"
#include "tui/dap/target.h"

struct dap_thread {
	unsigned id;   /* the editor's */
	char gdb[16];  /* gdb's own number, as text */
	char name[64]; /* "T1" */
};

struct dap_frame {
	char thread[16]; /* gdb's number */
	unsigned level;
	char *file; /* path, or NULL */
};

enum scope { SCOPE_LOCALS, SCOPE_GLOBALS, SCOPE_OBJECT };

/* A set of variables that the editor may ask for. */
struct variables {
	enum scope scope;
	unsigned frame;       /* index */
	char *object;         /* SCOPE_OBJECT: gdb's variable object */
	GHashTable *children; /* name, as the editor shows it, to gdb's variable object */
};

struct data_point {
	char *name, *type; /* of the variable to be shown and watched */
	guint64 address, size;
};

struct watch {
	int number; /* gdb's */
	guint data; /* index of its data_point */
};

struct dap_session {
	const struct dap_start *start;
	struct wire wire;
	struct target target;
	bool launched, configured, entry; /* entry: stop at main */
	bool over;                        /* the editor has left */
	unsigned line_base;               /* number of a file's first line: 0 or 1 */
	/* The run. */
	bool running;
	bool shown;       /* the editor shows it as stopped */
	bool paused;      /* the editor asked for it */
	bool interrupted; /* stopped by the adapter, to set breakpoints; then it continues */
	char *going;      /* the command that runs, or NULL */
	uint64_t going_token;
	GQueue *waiting; /* json_t *: requests that wait for a stop */
	/* Of the present stop. */
	GArray *threads;                     /* struct dap_thread */
	GPtrArray *frames;                   /* struct dap_frame * */
	GPtrArray *sets;                     /* struct variables * */
	unsigned frames_before, sets_before; /* numbers used for earlier stops */
	GPtrArray *objects;                  /* char *: gdb's variable objects, to be deleted */
	/* Breakpoints. */
	GHashTable *sources; /* path to GArray of int: gdb's numbers */
	GArray *functions;   /* int */
	GArray *watches;     /* struct watch */
	GHashTable *pending; /* gdb's numbers of breakpoints without code so far */
	GPtrArray *data;     /* struct data_point *; a dataId is an index */
	GHashTable *files;   /* paths that frames have named */
};

/* ---- requests: `args` is an object; the answer's body is filled in; false and `why` ---- */

typedef bool request(struct dap_session *s, const json_t *args, json_t *body, GString *why);
request set_breakpoints, set_function_breakpoints, data_breakpoint_info, set_data_breakpoints,
        set_exception_breakpoints;
request go_continue, go_next, step_in, step_out, step_back, reverse_continue, pause_run;
request list_threads, list_frames, list_scopes, list_variables, set_variable, evaluate,
        read_source;

/* ---- messages (talk.c) ---- */

/* NULL and `why` when the member is no text. */
const char *text_of(const json_t *object, const char *name);
const char *needed_text(const json_t *args, const char *name, GString *why);
/* Owned by the caller; `why` is emptied first. */
json_t *ask_quoted(struct dap_session *s, GString *why, const char *command,
                   const char *argument);

/* An event for the editor; `body` is released. */
void send_event(struct dap_session *s, const char *name, json_t *body);
void send_output(void *session, const char *category, const char *text, size_t length);

/* ---- threads (threads.c) ---- */

/* Read the threads that exist now; notify the editor of those that began and ended. */
void renew_threads(struct dap_session *s);
const struct dap_thread *find_thread(const struct dap_session *s, json_int_t id);
/* The editor's id of a thread by gdb's number; 0: unknown. */
unsigned thread_id(const struct dap_session *s, const char *gdb);

/* ---- the run (run.c) ---- */

/* Lets the program continue by gdb's command. */
bool go_on(struct dap_session *s, const char *command, GString *why);
/* Handles executions, notifications and late errors of gdb's. */
void take_record(struct dap_session *s, const struct mi_record *r);
void tell_stop(struct dap_session *s, const char *reason, const char *description,
               const json_t *record);

/* ---- breakpoints (points.c) ---- */

/* A breakpoint without code may have got some. */
void breakpoint_modified(struct dap_session *s, const json_t *body);
/* "acct.balance": the name of the memory that gdb's watchpoint `number` watches; or NULL. */
const char *watched_name(const struct dap_session *s, const char *number);

/* ---- variables (look.c) ---- */

/* Frames and variables of the last stop are no longer valid. */
void forget_stop(struct dap_session *s);
/* Deletes gdb's variable objects, while the program is stopped. */
void drop_objects(struct dap_session *s);
/* Append " --thread T --frame L" of the editor's frame id, which may be missing. */
bool name_frame(struct dap_session *s, const json_t *id, GString *command, GString *why);
/* name_frame for a set of variables. */
void name_set_frame(const struct dap_session *s, const json_t *set, GString *command);
/* gdb's variable object of a variable that the editor names by its set; NULL and `why`. */
const char *find_object(const struct dap_session *s, const json_t *set, const char *name,
                        GString *why);
/* "acct.balance": the expression of gdb's variable object, owned by the caller; NULL: it has
 * none. */
char *path_expression(struct dap_session *s, const char *object, GString *why);
/* The level of the first frame to show: above it are the recorder's, above the user's own
 * code. */
unsigned first_level(struct dap_session *s, const char *gdb_thread);

#endif
