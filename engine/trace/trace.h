/*
 * trace.h - a trace in memory: the array of events and the tables that they point into.
 *
 * A trace is read-only once it is open; any number of threads may read it.  All arrays
 * belong to the trace (they are either mapped from a binary file or allocated) and live
 * until trace_close.  Makers of traces use builder.h, analyses add index.h.
 */
#ifndef HEDDLE_TRACE_H
#define HEDDLE_TRACE_H

#include "engine/base/condition.h"
#include "engine/trace/event.h"

/*
 * Interned values: equal values have equal indexes, so that "the same value" is an
 * integer comparison.  Index 0 is V_NONE, "not known".
 */
enum value_kind {
	V_NONE,
	V_NIL,
	V_FALSE,
	V_TRUE,
	V_INT,    /* .integer; text integers and recorded memory (zero extended) */
	V_STRING, /* "..." in the text; .string is its content, escapes resolved */
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

/*
 * A variable is the analyses' unit of memory: a run of bytes that every access of the
 * trace covers whole or not at all.  An access usually is one variable; accesses of mixed
 * size or place cover several, which have consecutive indexes (see struct wide).
 */
struct variable {
	uint32_t name;    /* string: as the text has it, or from the debug information */
	uint32_t block;   /* block it lies in, or NONE */
	uint64_t address; /* recordings: its first byte; text: offset in its named base */
	uint32_t size;    /* bytes; 0 where the text gives none */
	uint32_t base;    /* variables of one base are one run of addresses; string id of the
	                   * base's name in text traces, ordinal of the region in recordings */
};

struct wide { /* a run of variables covered by accesses with EVENT_WIDE */
	uint32_t first, count;
};

struct thread {
	uint32_t name;
	uint32_t parent; /* thread that forked it, or NONE */
	uint32_t fork;   /* fork event, or NONE */
	uint32_t stack;  /* block of its stack (directive `stack`), or NONE */
};

struct object { /* a lock, condition, barrier or semaphore */
	uint32_t name;
	int32_t count;    /* a semaphore's initial count (directive `semaphore`) */
	uint64_t address; /* recordings */
	uint32_t block;   /* life of the block it lies in, or NONE: in two lives, two objects */
	uint32_t unused;  /* 0 */
};

struct block { /* one life of an allocated block */
	uint32_t name;
	uint32_t alloc; /* event, or NONE: it was there before (a thread's stack) */
	uint32_t free;  /* event, or NONE */
	uint32_t type;  /* string: "struct job" from the debug information; 0 unknown */
	uint64_t size;
	uint64_t address; /* recordings */
};

struct instance { /* an object of a specification */
	uint32_t name;
	uint32_t type; /* string: the specification's name (directive `object`); 0: none said */
};

/* The arguments (ACT, CALL) and results (ACT, RET) of an event; see trace_invocation. */
struct invocation_part {
	uint32_t method;             /* string */
	uint16_t arguments, results; /* how many of each */
	uint32_t values;             /* index of trace.value_lists: arguments, then results */
};

struct location {
	uint32_t name;         /* string: the text's token, or "FILE:LINE" */
	uint32_t file;         /* string; 0 unless it names a source position */
	uint32_t line, column; /* 0 unknown */
	uint32_t function;     /* string; 0 unknown */
	uint32_t site;    /* what `--pairs sites` counts: locations of one FILE:LINE (or one
	                   * opaque name) have one site: index of trace.sites */
	uint64_t address; /* recordings: the code address in its module */
	uint32_t module;  /* recordings: index of trace.modules, else NONE */
	uint32_t inlined; /* the location of the call site this was inlined into, or NONE */
};

struct context {           /* a call stack, interned: a node of the calling-context tree */
	uint32_t parent;   /* index of trace.contexts; 0 is the root (empty stack) */
	uint32_t function; /* string */
	uint32_t call;     /* location of the call, 0 unknown */
};

struct module {                  /* recordings: a mapped executable or library */
	uint32_t path, build_id; /* strings */
	uint64_t base;           /* address it was loaded at (its load bias) */
};

struct atomic_set { /* directive `atomic-set` */
	uint32_t name;
	uint32_t members; /* index of trace.values: V_LIST of tokens */
};

struct note { /* directive kept as it is, and facts of the recording: key, value */
	uint32_t key, value; /* strings */
};

/* A recording's message of this name, "once5" and this behind it, is sent where a once-function
 * begins that ends with the sending of "once5"; nobody receives it. */
#define MESSAGE_BEGINS ".begins"

/* The tables in one place: member, element type.  Makes struct trace, the binary format's
 * sections and their checks. */
#define TRACE_TABLES(TABLE) \
	TABLE(events, struct event) \
	TABLE(stacks, uint32_t) /* column: context of each event; empty where there is none */ \
	TABLE(values, struct value) \
	TABLE(value_lists, uint32_t) \
	TABLE(variables, struct variable) \
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
	TABLE(string_offsets, uint32_t) /* of string i in string_bytes; one more at the end */ \
	TABLE(string_bytes, char)       /* NUL after each; string 0 is "" */

struct trace {
#define TABLE(member, type) \
	const type *member; \
	uint64_t member##_count;
	TRACE_TABLES(TABLE)
#undef TABLE
	char *path; /* as it was opened; owned */
	char *name; /* its last component, with \xHH for what cannot be printed; owned */
	const char *digest;  /* SHA-256 of a stream, which cannot be read again; or NULL */
	bool complete;       /* false: a truncated file, loaded up to the last whole event */
	bool filtered;       /* TREE has left events out: observations are not exact */
	bool values_exact;   /* has values, and they are those of the accesses */
	bool locks_taken;    /* --lenient took locks from their holders, whose critical
	                      * sections have no release: nothing is claimed complete */
	bool order_exact;    /* controlled recordings and text: true; free mode: false */
	GPtrArray *warnings; /* char *, owned: what the loader let pass, with counts */
	struct trace_index *index; /* index.h; built on demand */
	struct trace *recorded;    /* of a reading by chains (chains.h): the trace; else NULL */
	struct trace_storage *storage; /* the mapping or the allocations; private */
};

struct trace_options {
	bool lenient; /* turn refusals that have a safe reading into warnings */
	/* Where events may lie while the trace is made, when they are too many for memory;
	 * NULL: nowhere. */
	const char *folder;
};

/*
 * Open a trace of any format, told by its content.  NULL and `error` when it cannot be
 * read; the caller owns the result and ends it with trace_close.
 */
struct trace *trace_open(const char *path, const struct trace_options *options,
                         const struct progress *progress, struct error *error);
/* The same from memory (a text trace); `name` stands for the path in messages. */
struct trace *trace_from_text(const char *name, const char *text, size_t length,
                              const struct trace_options *options, struct error *error);
void trace_close(struct trace *trace); /* NULL is allowed */
/*
 * A second reading of a trace, with an index of its own: all its tables are borrowed until
 * the reader puts its own in their place (which it frees).  `t` must outlive it.
 */
struct trace *trace_reading(const struct trace *t);

/* The trace itself, of a reading by chains. */
static inline const struct trace *trace_recorded(const struct trace *t)
{
	return t->recorded != NULL ? t->recorded : t;
}

static inline const char *trace_string(const struct trace *t, uint32_t string)
{
	return t->string_bytes + t->string_offsets[string];
}
/* A value of `variable` for conditions; recorded bytes are read as a signed integer. */
struct condition_value trace_condition_value(const struct trace *t, uint32_t variable,
                                             const struct value *value);
/* The last component of the path, escaped as it may be printed. */
const char *trace_name(const struct trace *trace);

/* The variables that an access covers, as a run of indexes of trace.variables. */
static inline struct wide event_variables(const struct trace *t, const struct event *e)
{
	if (G_UNLIKELY(e->flags & EVENT_WIDE))
		return t->wides[e->target];
	return (struct wide){ .first = e->target, .count = 1 };
}
/*
 * The block whose memory an operation on a lock, condition, ... uses: what is freed may not be
 * used so, either.  NONE where the object lies in none, and for a thread that was woken or is
 * released by a barrier: it may come out of it after the end of the object.
 */
static inline uint32_t event_block_used(const struct trace *t, const struct event *e)
{
	if (op_table[e->op].operand != OPERAND_OBJECT || op_tells((enum op)e->op) ||
	    e->op == OP_WAKE || e->op == OP_DEPART)
		return NONE;
	return t->objects[e->target].block;
}
/* Do two accesses touch a common byte? */
static inline bool events_overlap(const struct trace *t, const struct event *a,
                                  const struct event *b)
{
	struct wide x = event_variables(t, a), y = event_variables(t, b);
	return x.first < y.first + y.count && y.first < x.first + x.count;
}
/*
 * "Conflicting" of semantics.md for the question "is this a data race": a common byte,
 * different threads, one writes, not both atomic.
 */
bool events_race_conflict(const struct trace *t, uint32_t a, uint32_t b);
/* The same for the question "may these two be reordered": atomics conflict as others do. */
bool events_conflict(const struct trace *t, uint32_t a, uint32_t b);

/* The specifications that the program was recorded with (char *, owned): files as they lay
 * there then. */
GPtrArray *trace_recorded_specs(const struct trace *t);

/* Names for people; control bytes escaped.  Append to `out`. */
void trace_append_variable(const struct trace *t, const struct event *e, GString *out);
void trace_append_value(const struct trace *t, uint32_t value, GString *out);
/* The content of a string value as the text format writes it, in quotes. */
void trace_append_string(const char *text, GString *out);
/* "w(acct.balance)=5": the event as the text format has it, without thread and location. */
void trace_append_operation(const struct trace *t, uint32_t event, GString *out);
/* The whole line: "T1|w(x)=5|bank.c:31". */
void trace_append_line(const struct trace *t, uint32_t event, GString *out);
/* The operand's name alone, "x", "m", "T2"; "" where there is none. */
void trace_append_operand(const struct trace *t, uint32_t event, GString *out);
const char *trace_thread_name(const struct trace *t, uint32_t thread);
const char *trace_location_name(const struct trace *t, uint32_t event);
const char *trace_site_name(const struct trace *t, uint32_t event);

#endif
