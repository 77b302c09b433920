/*
 * trace.h - a trace in memory: the array of events and the tables they refer to.
 *
 * Read-only once open, for any number of threads. All arrays belong to the trace (mapped or
 * allocated) and live until trace_close. Traces are made with builder.h, and indexed by
 * index.h.
 */
#ifndef HEDDLE_TRACE_H
#define HEDDLE_TRACE_H

#include "engine/base/condition.h"
#include "engine/trace/event.h"

/* A value is a number of 32 bits, equal ones of equal values: an index of trace.values (0 is
 * V_NONE, "unknown"), or VALUE_INTEGER and a small integer itself (trace_value). */
enum value_kind {
	V_NONE,
	V_NIL,
	V_FALSE,
	V_TRUE,
	V_INT,    /* .integer; text integers and recorded memory (zero extended) */
	V_STRING, /* "..." in the text; .string is the unescaped contents */
	V_TOKEN,  /* an uninterpreted constant; .string */
	V_PAIR,   /* .first > .second: an RMW's old and new value (indexes of values) */
	V_LIST,   /* .first is an index of trace.value_lists, .count its length */
};

struct value {
	uint32_t kind; /* enum value_kind */
	uint32_t count;
	union {
		int64_t integer;
		uint32_t string; /* index of trace.strings */
		struct {
			uint32_t first, second;
		};
	};
};
_Static_assert(sizeof(struct value) == 16, "written to files as it is");
/* An element of trace.values. Only trace_value reads it: most integers have none. */
struct interned_value {
	struct value value;
};

/* Integers from 0 on, below VALUE_SMALL_END, are numbers by themselves; NONE is none of these.
 * Files before version 10 have all integers in the table. */
#define VALUE_INTEGER   UINT32_C(0x80000000)
#define VALUE_SMALL_END (NONE & ~VALUE_INTEGER)
static inline struct value interned_or_small(const struct interned_value *table, uint32_t value)
{
	if (value & VALUE_INTEGER)
		return (struct value){ .kind = V_INT, .integer = value & ~VALUE_INTEGER };
	return table[value].value;
}

/* A variable is the unit of memory: a range of bytes that every access of the trace covers
 * completely or not at all. Accesses of mixed size or offset cover several variables with
 * consecutive indices (struct wide). */
struct variable {
	uint32_t spelling; /* string, or NAME_BY_RULE | index of trace.name_rules: ask
	                    * trace_variable_name */
	uint32_t block;    /* block it lies in, or NONE */
	uint64_t address;  /* recordings: its first byte; text: offset in its named base */
	uint32_t size;     /* bytes; 0: unknown */
	uint32_t base; /* variables of a base are one address range; string id of the base in
	                * text traces, number of the region in recordings */
};

/* The name of a recorded variable in a heap block, or in a larger array of static data, is
 * spelt from its place when it is asked for: recordings have millions of variables, most of
 * them elements of a few arrays. With OFFSET its distance in the block, and P the block's name
 * without a '*' before it, the name is
 *     P "[" OFFSET / each "]" path (OFFSET % each - base) / step rest
 * without the brackets where `each` is 0, and without the second number where `step` is 0.
 * In static data, where `block` is NONE, it is, by the lowest 32 bits of the address,
 *     path (address - base) / step rest */
#define NAME_BY_RULE UINT32_C(0x80000000)
struct name_rule {
	uint32_t path, rest; /* strings: "->items[", "].next" */
	uint32_t each, base, step;
	uint32_t starred; /* 1: a '*' precedes the whole name */
};

/* A range of variables covered by accesses with EVENT_WIDE. */
struct wide {
	uint32_t first, count;
};

struct thread {
	uint32_t name;
	uint32_t parent;   /* thread that forked it, or NONE */
	uint32_t fork;     /* fork event, or NONE */
	uint32_t stack;    /* block of its stack (directive `stack`), or NONE */
	uint32_t recorded; /* recordings: the runtime's number, 0 the main thread; else NONE */
};

/* A lock, condition, barrier or semaphore. */
struct object {
	uint32_t name;
	int32_t count;    /* a semaphore's initial count (directive `semaphore`) */
	uint64_t address; /* recordings */
	uint32_t block;   /* enclosing block, or NONE: each life has its own objects */
	uint32_t unused;  /* 0 */
};

/* One life of a heap block. */
struct block {
	uint32_t name;
	uint32_t alloc; /* event, or NONE: existed before (a stack) */
	uint32_t free;  /* event, or NONE */
	uint32_t type;  /* string: "struct job" from the debug information; 0 unknown */
	uint64_t size;
	uint64_t address; /* recordings */
};

/* An object of a specification. */
struct instance {
	uint32_t name;
	uint32_t type;    /* string: the specification's name (directive `object`); 0: none */
	uint64_t address; /* recordings: its address, or number if below 65536; else 0 */
};

/* The arguments (ACT, CALL) and results (ACT, RET) of an event; see trace_invocation. */
struct invocation_part {
	uint32_t method;             /* string */
	uint16_t arguments, results; /* numbers of each */
	uint32_t values;             /* index of trace.value_lists: arguments, then results */
};

struct location {
	uint32_t name;         /* string: the text's token, or "FILE:LINE" */
	uint32_t file;         /* string; 0 unless it names a source position */
	uint32_t line, column; /* 0 unknown */
	uint32_t function;     /* string; 0 unknown */
	uint32_t site;    /* identity for `--pairs sites`: locations with one FILE:LINE (or one
	                   * opaque name) share a site: index of trace.sites */
	uint64_t address; /* recordings: the code address in its module */
	uint32_t module;  /* recordings: index of trace.modules; else NONE */
	uint32_t inlined; /* location of the call site it was inlined into, or NONE */
};

/* A call stack, interned: a node of the calling-context tree. */
struct context {
	uint32_t parent;   /* index of trace.contexts; 0 is the root (empty stack) */
	uint32_t function; /* string */
	uint32_t call;     /* location of the call, 0 unknown */
};

/* Recordings: a mapped executable or library. */
struct module {
	uint32_t path, build_id; /* strings */
	uint64_t base;           /* load bias */
};

/* Directive `atomic-set`. */
struct atomic_set {
	uint32_t name;
	uint32_t members; /* index of trace.values: V_LIST of tokens */
};

/* A verbatim directive or a fact of the recording: key, value. */
struct note {
	uint32_t key, value; /* strings */
};

/*
 * Recordings: facts that a replay needs beside the events, in the order of each thread. `index`
 * counts the thread's events as the runtime counted them.
 */
/* The answer to a query of a clock, or the result of a wait. */
struct recorded_clock {
	uint32_t thread, clock;
	int64_t seconds, nanoseconds;
};
/* An event was repeated before another thread continued. */
struct recorded_repeat {
	uint32_t thread, unused; /* 0 */
	uint64_t index, count;
};
/* An event was not well-formed, and is not in the trace. */
struct recorded_drop {
	uint32_t thread, unused; /* 0 */
	uint64_t index;
};

/*
 * Memory beyond sequential consistency (weak.h): an atomic read that does not see the last
 * store before it in the trace, or a store that is not put at the end of the modification
 * order. `event` reads `store`, or stands right after `store` among those that were there;
 * NONE: the initial value. Ascending by event, then kind.
 */
enum weak_kind { WEAK_READS, WEAK_AFTER };
struct weak_source {
	uint32_t event, store;
	uint32_t kind, unused; /* enum weak_kind; 0 */
};

/* A message with this suffix, e.g. "once5.begins", is sent in a recording at the begin of a
 * once-function whose end sends "once5"; it is never received. */
#define MESSAGE_BEGINS ".begins"

/* The tables: member, element type. Generates struct trace, the binary format's sections and
 * their checks. A trace that a trace_writer has taken the events of has none (formats.h). */
#define TRACE_TABLES(TABLE) \
	TABLE(events, struct event) \
	TABLE(stacks, uint32_t) /* column: context of each event; may be empty */ \
	TRACE_LISTS(TABLE)
/* All but the columns with an entry for each event. */
#define TRACE_LISTS(TABLE) \
	TABLE(values, struct interned_value) \
	TABLE(value_lists, uint32_t) \
	TABLE(variables, struct variable) \
	TABLE(name_rules, struct name_rule) \
	TABLE(wides, struct wide) \
	TABLE(threads, struct thread) \
	TABLE(objects, struct object) \
	TABLE(messages, uint32_t) /* strings; see MESSAGE_BEGINS */ \
	TABLE(blocks, struct block) \
	TABLE(instances, struct instance) \
	TABLE(invocations, struct invocation_part) \
	TABLE(locations, struct location) \
	TABLE(sites, uint32_t) /* strings */ \
	TABLE(contexts, struct context) \
	TABLE(modules, struct module) \
	TABLE(atomic_sets, struct atomic_set) \
	TABLE(notes, struct note) \
	TABLE(clocks, struct recorded_clock) \
	TABLE(repeats, struct recorded_repeat) \
	TABLE(drops, struct recorded_drop) \
	TABLE(weak, struct weak_source) \
	TABLE(string_offsets, uint32_t) /* of string i in string_bytes; one more at the end */ \
	TABLE(string_bytes, char)       /* NUL after each; string 0 is "" */

struct trace {
#define TABLE(member, type) \
	const type *member; \
	uint64_t member##_count;
	TRACE_TABLES(TABLE)
#undef TABLE
	char *path;          /* as opened; owned */
	char *name;          /* base name, escaped; owned */
	const char *digest;  /* SHA-256 of a stream, which cannot be read twice; or NULL */
	bool complete;       /* false: truncated, loaded up to the last complete event */
	bool filtered;       /* TREE removed events: reads-from is inexact */
	bool values_exact;   /* it has the accesses' values */
	bool locks_taken;    /* locks changed holders without a release (--lenient, unlocked
	                      * by another thread): no claims of completeness */
	bool order_exact;    /* controlled recordings and text: true; free mode: false */
	uint64_t operations; /* a bit for each operation of an event; 0: not known */
	GPtrArray *warnings; /* char *, owned: accepted defects, with counts */
	struct trace_index *index;     /* index.h; built on demand */
	struct trace *recorded;        /* trace of a chain view (chains.h); else NULL */
	struct spelt_names *spelt;     /* spelt.c; a view borrows its trace's */
	struct own_sites *own_sites;   /* own_site.c; the same */
	struct trace_storage *storage; /* private */
};

/* Sees the events of a binary trace that is checked while it is opened, each block after its
 * check, when the tables are there and the index is not. Not of a trace that was checked
 * before, nor of one that is not opened in passes (reel.h). A trace that is then refused is
 * closed: what the watcher keeps is freed without it. */
struct trace_watch {
	void *context;
	void (*begin)(void *context, struct trace *t);
	/* `marks`, `marked`: of these events those that may make a difference to the
	 * must-order: each of the others is a plain access by the thread of the event before
	 * it, to no block or to one that the thread has used. */
	void (*block)(void *context, uint64_t first, uint64_t count, const uint16_t *marks,
	              uint32_t marked);
};
struct trace_options {
	bool lenient; /* turn refusals with a safe reading into warnings */
	/* Folder for events during construction, when they exceed memory; NULL: none. */
	const char *folder;
	/* Where the events go in place of the trace (formats.h), borrowed; NULL: into the
	 * trace. */
	struct trace_writer *writer;
	const struct trace_watch *watch; /* of a binary trace; or NULL */
};

/* Open a trace of any format, recognised by content. NULL and `error` on failure; owned by the
 * caller, trace_close. */
struct trace *trace_open(const char *path, const struct trace_options *options,
                         const struct progress *progress, struct error *error);
/* Opens a trace from text in memory; `name` replaces the path in messages. */
struct trace *trace_from_text(const char *name, const char *text, size_t length,
                              const struct trace_options *options, struct error *error);
void trace_close(struct trace *trace); /* NULL is allowed */
/* A view of a trace with its own index: its tables are borrowed until replaced (then owned).
 * `t` must outlive it. */
struct trace *trace_reading(const struct trace *t);
/* By block: is it the stack of a thread? Owned by the caller. */
bool *trace_stacks(const struct trace *t);
/* The view of its first `count` events: the trace of a run that ends there. */
struct trace *trace_beginning(const struct trace *t, uint64_t count);

/* The underlying trace of a chain view. */
static inline const struct trace *trace_recorded(const struct trace *t)
{
	return t->recorded != NULL ? t->recorded : t;
}

static inline const char *trace_string(const struct trace *t, uint32_t string)
{
	return t->string_bytes + t->string_offsets[string];
}
/* The name of a variable; valid as long as the trace. */
const char *trace_variable_name(const struct trace *t, uint32_t variable);
/* The variable and the heap block that begin at an address of a recording at an event (NONE: at
 * its end); each NONE where none does. Blocks may have had the address one after the other:
 * the one that is allocated then; else, for a pointer that dangles, the variable of the last
 * one. */
struct object_at {
	uint32_t variable, block;
};
struct object_at trace_object_at(const struct trace *t, uint64_t address, uint32_t event);
/* A number that variables share if and only if they share their name's string. */
static inline uint32_t trace_variable_code(const struct trace *t, uint32_t variable)
{
	uint32_t spelling = t->variables[variable].spelling;
	return spelling & NAME_BY_RULE ? NAME_BY_RULE | variable : spelling;
}
static inline struct value trace_value(const struct trace *t, uint32_t value)
{
	return interned_or_small(t->values, value);
}
/* A value of `variable` for conditions; recorded bytes are a signed integer. */
struct condition_value trace_condition_value(const struct trace *t, uint32_t variable,
                                             uint32_t value);
/* The base name, escaped for display. */
const char *trace_name(const struct trace *trace);

/* The variables of an access, as a range of trace.variables. */
static inline struct wide event_variables(const struct trace *t, const struct event *e)
{
	if (G_UNLIKELY(e->flags & EVENT_WIDE))
		return t->wides[e->target];
	return (struct wide){ .first = e->target, .count = 1 };
}
/* The block that an operation on a lock, condition, ... uses, for use after free. NONE if it is
 * in no block, and for threads woken or released by a barrier, which may come after the
 * object's end of life. */
static inline uint32_t event_block_used(const struct trace *t, const struct event *e)
{
	if (op_table[e->op].operand != OPERAND_OBJECT || op_tells((enum op)e->op) ||
	    e->op == OP_WAKE || e->op == OP_DEPART)
		return NONE;
	return t->objects[e->target].block;
}
/* Do two accesses share a byte? */
static inline bool events_overlap(const struct trace *t, const struct event *a,
                                  const struct event *b)
{
	struct wide x = event_variables(t, a), y = event_variables(t, b);
	return x.first < y.first + y.count && y.first < x.first + x.count;
}
/* Events by their indices, in an order. Borrowed. */
struct event_list {
	const uint32_t *items;
	uint64_t count;
};
/* Of an array of uint32_t. */
static inline struct event_list event_list_of(const GArray *events)
{
	return (struct event_list){ (const uint32_t *)(const void *)events->data, events->len };
}

/* "Conflicting" for data races (semantics.md): a common byte, different threads, one writes,
 * not both atomic. */
bool events_race_conflict(const struct trace *t, uint32_t a, uint32_t b);
/* The same for reorderings: atomics conflict, too. */
bool events_conflict(const struct trace *t, uint32_t a, uint32_t b);

/* Is there an event of one of these operations (a bit for each), effective or not? Looks at all
 * events where the trace does not know. */
bool trace_has(const struct trace *t, uint64_t operations);
#define OPERATION(op)     (UINT64_C(1) << (op))
/* Tries of locks and semaphores that failed. */
#define OPERATIONS_FAILED (OPERATION(OP_TRYFAIL) | OPERATION(OP_TAKETRYFAIL))

/* The value of the first note with this key, or NULL. */
const char *trace_note(const struct trace *t, const char *key);
/* N of `record --sample N`: one window of accesses in N was recorded; 0: all were. */
uint64_t trace_sampled(const struct trace *t);
/* Specifications used for recording (char *, owned): paths at that time. */
GPtrArray *trace_recorded_specs(const struct trace *t);

/* Names for display, escaped. Append to `out`. */
void trace_append_variable(const struct trace *t, const struct event *e, GString *out);
void trace_append_value(const struct trace *t, uint32_t value, GString *out);
/* A string value's contents as in the text format, quoted. */
void trace_append_string(const char *text, GString *out);
/* "w(acct.balance)=-5": the event as in the text format, without thread and location, and with
 * its value as people write it (shown.h). */
void trace_append_operation(const struct trace *t, uint32_t event, GString *out);
/* "write acct.balance: -5", "lock m": the event in words, with its value as people write it.
 * A call has its arguments and results: "q.put(1), which returns 2". */
void trace_append_words(const struct trace *t, uint32_t event, GString *out);
/* The same as a noun, to stand after "T1's": "write x: 5", "end", "waking on c". */
void trace_append_deed(const struct trace *t, uint32_t event, GString *out);
/* "event 7, T1's write x: 5 at bank.c:31", at the user's place. */
void trace_append_event(const struct trace *t, uint32_t event, GString *out);
/* The whole line: "T1|w(x)=5|bank.c:31". */
void trace_append_line(const struct trace *t, uint32_t event, GString *out);
/* The verb of a sentence, with a blank behind it: "lock ", "woken on ". That a wait ended at
 * its time limit is known where the index has INDEX_MATCH. */
const char *trace_verb(const struct trace *t, uint32_t event);
/* The operand's name, "x", "m", "T2"; "" if none. Of a call of the C
 * library its name for people (own_code_library_call). */
void trace_append_operand(const struct trace *t, uint32_t event, GString *out);
const char *trace_thread_name(const struct trace *t, uint32_t thread);
const char *trace_location_name(const struct trace *t, uint32_t event);
const char *trace_site_name(const struct trace *t, uint32_t event);

#endif
