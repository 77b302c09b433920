/*
 * import_private.h - shared by the importer: import.c (file and order of records),
 * import_records.c, import_events.c, import_shorts.c, import_objects.c, import_calls.c,
 * facts.c.
 */
#ifndef HEDDLE_IMPORT_PRIVATE_H
#define HEDDLE_IMPORT_PRIVATE_H

#include "engine/base/column.h"
#include "engine/trace/weak.h"
#include "engine/record/import/decode.h"
#include "engine/record/names/name.h"
#include "engine/record/import/rebase.h"
#include "engine/record/record.h"

struct block_life {
	uint64_t low, high;
	uint64_t shift; /* offset to the trace's address, see rebase.h; mostly 0 */
	uint32_t region, block;
	bool heap, dead, stack;
};

/* A thread. */
struct lane {
	uint32_t thread; /* in the builder */
	bool known;
	uint64_t stack_high, stack_shift;
	uint64_t pointer;        /* the thread's, as in the log; 0: unknown */
	uint64_t stack_at;       /* the address of its stack's block in the trace */
	struct column functions; /* uint32_t strings: the call stack */
	uint64_t ordinal;
	uint64_t repeat;   /* index of its last repeat + 1, or 0 (builder_repeat) */
	GArray *missing;   /* uint32_t strings: open missing calls, or NULL */
	bool stuck;        /* its last event is a want: it never left its functions */
	uint64_t waits_at; /* address of the last condition or barrier it arrived at, and its
	                    * object (NONE: none yet) */
	uint32_t waits_for;
	/* -- beyond sequential consistency: import_weak.c */
	GArray *stores; /* struct weak_store, ascending; or NULL */
	struct {
		bool said;
		enum weak_kind kind;
		uint32_t thread; /* LOG_ALL_THREADS: the initial value */
		uint64_t ordinal;
	} weak;         /* of its next access */
	uint64_t state; /* the same; 0: not known */
	/* Right to use the lines that sites keep: a number that no other thread has had, and
	 * this thread only while the number of lives was `lives` (renew_right). */
	uint32_t right, lives;
	/* -- free mode */
	GArray *chunks; /* uint64_t offsets */
	unsigned chunk;
	struct log_reader *reader; /* owned, or NULL */
	uint64_t *expanded;        /* owned: LOG_CHUNK bytes for a compressed chunk */
	struct log_record record;
	uint64_t ticket; /* ticket of its next records; 0 before the first */
	bool running;    /* it was forked */
};

enum { CACHE = 4096 };

/* The last record of a slot of the log's sites. */
struct import_site {
	/* For accesses: the site's key (0: none), and the event's head without thread. */
	uint64_t key, head;
	/* Places in a row at multiples of the size, the first (that of site.near[0]) at address
	 * `low`, 1 << step bytes apart: for the thread that has this right. Of an ENTER, which
	 * has no places, its context. */
	union {
		uint64_t low;
		struct call_memo memo;
	};
	uint64_t noted; /* bits of those that builder_noted has */
	uint32_t right;
	uint8_t step, places; /* places: 0: none */
	uint64_t where;       /* region and size of these places */
	struct block_life *life;
	struct access_site site; /* of accesses of one size */
	uint64_t pc;
	uint32_t location;
	/* For an ENTER: the string of the function with this pc. */
	uint32_t function;
	uint64_t function_pc;
};
_Static_assert(sizeof(struct import_site) == 128,
               "a power of two, as one is looked up for each access");

/* A line of places that a thread has accessed, for other sites that come to it: as struct
 * import_site has it. */
struct import_line {
	uint64_t low, noted;
	struct block_life *life;
	struct near_line near;
	uint32_t right;
	uint8_t places;
};
enum { LINES_KEPT = 2048 };

struct import {
	struct builder *b;
	const char *base;
	uint64_t size;
	bool lent; /* the log's memory is the caller's */
	const struct log_header *header;
	uint64_t damaged;  /* chunks that could not be expanded */
	uint64_t unread;   /* chunks with words that are no record: what follows is lost */
	bool lacks_chunks; /* between those that there are (--last) */
	/* controlled mode: the present records, their thread, the number of chunks read */
	struct log_reader *reader; /* owned, or NULL */
	uint32_t thread;
	uint64_t chunks_read;
	uint64_t words_read; /* of the next chunk, which had not been filled */
	struct record_facts *facts;
	struct running *running; /* owned: analyses while it runs; or NULL */
	GArray *lanes;           /* struct lane */
	GTree *lives;            /* low -> struct block_life */
	GPtrArray *all_lives;    /* owned */
	uint32_t rights; /* the last one that a lane got, here or in an earlier import */
	struct block_life *cache[CACHE];
	GHashTable *locations; /* pc -> location + 1 */
	/* uint64_t: of each location a pc, or 0; of each object its address in the log; of each
	 * region its shift, where there is a rebase */
	GArray *pcs, *object_addresses, *shifts;
	GHashTable *functions; /* pc -> string + 1 */
	GHashTable *once;      /* set: the messages of once-functions that have begun */
	GByteArray *inputs;    /* for replay: struct log_input, see inputs.h */
	GString *unseen_calls; /* TRACE_UNSEEN_CALLS_NOTE */
	uint64_t clocks, repeated, futexes; /* answers, repetitions, waits for a futex */
	GHashTable *objects;                /* set of struct site: import_objects.c */
	/* import_calls.c: set of struct specified; a type, or one with a small number ->
	 * count of its objects; the present record and its values */
	GHashTable *instances, *instance_counts;
	char invocation[4096];
	GArray *values; /* uint32_t */
	bool frames;    /* the trace has where frames begin: of controlled runs */
	bool unnamed;   /* no trace is made: no debug information is read for names */
	struct names *names;
	struct missing_code *missing; /* import_missing.c; NULL: none so far */
	struct rebase *rebase;        /* owned; NULL: addresses unchanged */
	char *folder;                 /* of the log: space for data that exceeds memory */
	uint32_t flat;                /* region of all other addresses, or NONE */
	uint64_t blocks;
	struct {
		uint32_t thread; /* in the builder; NONE: not noted */
		uint64_t address;
		uint32_t location; /* or NONE */
	} crash;
	uint64_t refused;
	struct error first_refusal;
	/* last: for a further import only the slots of sites that were used are cleared, and
	 * the lines have rights that no thread of it gets */
	struct import_site sites[LOG_SITES];
	struct import_line lines[LINES_KEPT];
};

/* import.c */
/* Begins an import into `facts`, and ends it with the rest of the log at `path`. Frees it. */
struct import *import_new(struct record_facts *facts);
struct trace *import_finish(struct import *im, const char *path, const char *name,
                            const struct progress *progress, struct error *error);
/* Ends an import without a trace. */
void import_free(struct import *im);
/* Prepares it for records; its header is in memory. */
void import_init(struct import *im, const char *path, const char *name);
/* Controlled mode: the rest of the next chunk, which im->reader is at; and a record of a chunk
 * that is not whole. */
void import_chunk(struct import *im);
void import_next(struct import *im, const struct log_record *r);

/* import_events.c */
extern const uint8_t import_op[LOG_TAG_COUNT]; /* enum op, by enum log_tag */
/* A damaged log may have an invalid order. */
static inline unsigned import_order(enum op op, unsigned flags)
{
	unsigned order = flags & LOG_ORDER_MASK;
	return order > ORDER_SEQ_CST || (op == OP_FENCE && order == ORDER_PLAIN) ? ORDER_SEQ_CST
	                                                                         : order;
}
/* An element of im->pcs, object_addresses or shifts; 0 at first. */
static inline uint64_t *import_number(GArray *numbers, uint32_t i)
{
	if (i >= numbers->len)
		g_array_set_size(numbers, i + 1);
	return &g_array_index(numbers, uint64_t, i);
}
/* State of a thread; invalidates earlier pointers. */
struct lane *import_lane_new(struct import *im, uint32_t id);
static inline struct lane *import_lane(struct import *im, uint32_t id)
{
	struct lane *lane = NULL;
	if (G_LIKELY(id < im->lanes->len))
		lane = &g_array_index(im->lanes, struct lane, id);
	return G_LIKELY(lane && lane->known) ? lane : import_lane_new(im, id);
}
/* The block, stack or module at an address (also a freed block), or NULL. */
struct block_life *import_life(struct import *im, uint64_t address);
/* Of those that live the one that begins at the address or nearest below it; NULL: none. */
struct block_life *import_life_below(struct import *im, uint64_t address);
/* access_where of an access in the life, or in NULL. */
uint64_t import_where(struct import *im, const struct block_life *life, uint64_t size);
/* The region of all other addresses. */
uint32_t import_flat_region(struct import *im);
/* The trace's address, or value, which may be an address. */
uint64_t import_address(struct import *im, uint64_t address);
uint64_t import_value(struct import *im, uint64_t value);
/* The log's address of the trace's, which lies in the region. */
uint64_t import_original(const struct import *im, uint64_t address, uint32_t region);
uint32_t import_location(struct import *im, uint64_t pc);
/* Add an event; false when it is rejected as malformed. */
bool import_event(struct import *im, struct lane *lane, struct event e);
/* The builder has refused the thread's event with that number. */
void import_refused(struct import *im, struct lane *lane, uint64_t ordinal,
                    const struct error *error);
/* Leave this number of functions of the thread. */
/* `flags`: of each LEAVE. */
void import_leave(struct import *im, struct lane *lane, uint64_t frames, uint8_t flags);
/* Records of thread `id` or of `lane`, by their kind. */
void import_access(struct import *im, struct lane *lane, const struct log_record *r);
void import_enter(struct import *im, struct lane *lane, const struct log_record *r);
/* A record ENTER or LEAVE between accesses that are added at once (struct access_room): adds
 * its events, of which the first has this number, at most `room`, and returns how many. 0: it
 * adds none, and import_record has to: nothing is done. */
uint32_t import_calls(struct import *im, struct lane *lane, const struct log_record *r,
                      uint32_t number, uint32_t room);
void import_alloc(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w);
void import_given(struct import *im, const uint64_t *w);
void import_free_block(struct import *im, struct lane *lane, uint64_t pc, const uint64_t *w);
/* Tells the names where the thread's variables are, once its lane has its pointer. */
void import_thread_pointer(struct import *im, uint32_t id);
/* `w`: of LOG_THREAD, from the low end of its stack on; of LOG_MODULE, its words. */
void import_thread(struct import *im, uint32_t id, const uint64_t *w);
void import_module(struct import *im, const uint64_t *w, const char *text, uint64_t length);
void import_crash(struct import *im, const struct log_record *r);
/* import_shorts.c: the next records, as long as they are short ones of accesses whose sites
 * were met before; most are. */
void import_shorts(struct import *im, struct lane *lane, struct log_reader *reader);

/* import_records.c: one record of thread `id`. */
void import_record(struct import *im, uint32_t id, const struct log_record *r);

/* import_objects.c */
GHashTable *import_objects_new(void);
/* The object of an operation at an address; `tag` and `flags` are its record's. */
uint32_t import_object(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                       uint64_t address);
/* Adds a misuse; `how`: enum log_misuse, invalid in a damaged log. */
void import_misuse(struct import *im, struct lane *lane, unsigned how, uint64_t pc,
                   uint64_t address);
/* The name of a message outside of channels: of a once-function, a signal, a timer, a close.
 * Owned by the caller. */
char *import_message_name(struct import *im, uint64_t number);
/* The channel, or the once-function, that a thread waits for. */
uint32_t import_awaited(struct import *im, bool channel, uint64_t number);
/* Begins another object at the address; `pc`: of a call that is misuse of one that was not
 * destroyed, which is added; 0: none. */
void import_object_init(struct import *im, struct lane *lane, uint64_t pc, uint64_t address);
void import_semaphore(struct import *im, struct lane *lane, unsigned flags, uint64_t pc,
                      uint64_t address, uint64_t count);

/* import_calls.c */
GHashTable *import_instances_new(void);
void import_invocation(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                       uint64_t pc, const uint64_t *w);

/* import_missing.c */
void import_miss(struct import *im, struct lane *lane, unsigned flags, uint64_t pc,
                 const uint64_t *w);
void import_back(struct import *im, struct lane *lane, uint64_t pc);
void import_missing_end(struct import *im); /* note summary; frees */

/* import_weak.c: a record FLUSH, READS, AFTER or STATE of thread `id`; its next access, which
 * is `event` or, where that is NONE, was refused. */
void import_weak(struct import *im, uint32_t id, const struct log_record *r);
void import_weak_state(struct import *im, struct lane *lane, uint32_t event);
void import_weak_access(struct import *im, uint32_t id, uint32_t event, bool writes);

/* facts.c */
const struct record_module *record_module_of(const GArray *modules, uint64_t address);
const char *record_last_component(const char *path);
/* The C library's lines are not shown, and reading its debug information takes longer than most
 * imports. */
bool record_is_c_library(const struct record_module *m);
/* "libfoo.so+0x12". */
void record_append_offset(const struct record_module *m, uint64_t address, GString *out);

#endif
