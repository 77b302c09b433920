/*
 * log.h - the recording log: the program's events, as records in chunks (layout.h).
 *
 * A thread writes into its stream: one for all threads in controlled mode, where only the
 * holder of the token writes, one a thread in free mode; so no record needs a lock.  A chunk
 * lies in memory that is shared with the parent, which finds it there when the program dies; a
 * full chunk is written to the file by log_more.
 *
 * How one enters: log_event for an event of synchronisation, log_access (access.h has its fast
 * path) for an access, frame_enter and frame_leave around a call that the trace shall name.
 * Each brings the log up to date first: the value of the last write (log_fill), whose turn it
 * is (log_switch), the call stack (log_frames).  The inline half is emit.h.
 *
 * Guarantees: a record's first word is stored last, so that a reader of a chunk that
 * is cut off anywhere sees whole records and then a zero.  Nothing here schedules, and nothing
 * touches the program's memory but to read values.  After the recording is full the same
 * calls write to a scratch area.
 */
#ifndef HEDDLE_RUNTIME_LOG_H
#define HEDDLE_RUNTIME_LOG_H

#include "engine/record/runtime/core/base.h"

enum { MAX_FRAMES = 1 << 16 };
enum { SEEN_BITS = 13 }; /* size of a thread's table of accesses that have been written */
/* The same of words of memory, with --filter variables; and its size in bytes. */
enum { COVERED_BITS = 18, COVERED_SIZE = 8 << COVERED_BITS };

struct stream { /* target of records: one for all threads in controlled mode, else one each */
	uint64_t *next, *end;
	void *chunk;
	uint64_t *half; /* short records in pairs: `next`, when the word before it has room
	                 * for a second record */
	uint32_t thread;
	uint32_t last;           /* controlled: the thread of the last record */
	struct log_sites *sites; /* last records of sites, as the reader will know them;
	                          * layout.h */
	uint16_t *hints;         /* for ENTER's sites: see frame_begin */
};

struct frame {
	uintptr_t call, function, sp;
	/* Free mode without --filter: a hash of its call and its callers'. With a shadow its
	 * number there, or 0, and that of the frame that was here before << 32. */
	uint64_t context;
};

/* ---- the file and its chunks ---- */
bool log_open(void);
/* From now on header and chunk (the only one) are in the room (layout.h), where copies of
 * this process continue them. Returns the number of bytes filled in the chunk, or a negative
 * number. */
long log_settle(int room);
/* In such a copy: the header is that of rt.config's run. */
void log_begin_again(void);
/* A forked child's log (core/forked.c), in controlled mode: copies the filled part of the
 * chunk, of which it returns the bytes; puts memory of another log in its place, with that
 * part; and the file of that log. */
size_t log_copy_chunk(void *to);
bool log_take_chunk(int buffer, const void *filled, size_t bytes);
void log_file_become(int fd);
/* The log's descriptor, -1: the program has closed it. */
int log_file_kept(void);
void log_close(void);
void log_flush(void);
void log_stream_end(struct stream *s);
void log_more(struct stream *s, unsigned words); /* makes room */
/* True while the token's holder makes room in the log, in controlled mode. It may sleep for a
 * slow disk or a reader that is behind; that is no wait of the program, and no other thread
 * may write to the log meanwhile. */
extern volatile bool log_makes_room;

/* ---- the call stack ---- */
void log_frames(struct thread *t);
/* The function of a call and where its frame begins (log_frame_word). */
uint64_t frame_word(const struct thread *t, const struct frame *f);
/* Gives the thread's i-th call, if it is the runtime's own, the place that it is made for. */
void frame_settle(struct thread *t, uint32_t i);
/* Writes the calls of a thread if none has been written and all its events are left out:
 * without an event the trace would lose the order of its creation before its end. */
void log_shown(struct thread *t);
/* --sample, outside of it: the log has no frames of t, so that synchronisation there costs no
 * more than itself.  TODO_FRAMES stays. */
void log_no_frames(struct thread *t);
void log_switch(struct thread *t);
/*
 * A frame for a call of the C library (enum log_call), so that the trace shows where its
 * thread may block; `now`: even if nothing happens inside.  The thread holds the token.
 */
void frame_enter(struct thread *t, enum log_call call, uintptr_t pc, bool now);
void frame_leave(struct thread *t);

/* ---- records ---- */
/* An event with one or two words (`words`) after the first. */
void log_event(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, uint64_t a,
               uint64_t b, unsigned words);
/* Makes room for the record, and returns it, or NULL when it is too long. */
uint64_t *log_blob(struct thread *t, enum log_tag tag, uint64_t pc, const uint64_t *words,
                   unsigned count, const void *bytes, uint64_t length);
void log_invocation(struct thread *t, enum log_tag tag, unsigned flags, uint64_t pc,
                    const void *self, const char *text, size_t length);
void log_note(const char *key, const char *value);
/* A fact beside the events, with `count` words; lost when the caller is not recorded. */
void log_fact(enum log_tag tag, unsigned flags, uint64_t pc, const uint64_t *words,
              unsigned count);
/* The facts of `of`, by `t`. */
void log_thread(struct thread *t, const struct thread *of);
/* An object has been initialised: the object that was at its address is another one. */
void log_init(struct thread *t, const volatile void *object, uintptr_t pc);
void log_modules(void);
void log_clock(struct thread *t, clockid_t clock, const struct timespec *time);

/* ---- accesses: access.c; the hot part is in access.h ---- */
void log_fill(struct thread *t); /* fills in the value of the last write, which has been
                                  * executed */
void log_access(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, const void *p,
                unsigned code, bool known, uint64_t value);
/* The record alone of an access that has been compared (shadow.h), or need not be. */
void log_uncompared(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                    const void *p, unsigned code, bool known, uint64_t value);
void log_range(struct thread *t, enum log_tag tag, uintptr_t pc, const void *p, size_t size);
void log_rmw(struct thread *t, unsigned flags, uintptr_t pc, const void *p, unsigned code,
             uint64_t old, uint64_t new_value);
/* core/copies.c; TODO_COPY: records the write of the thread's copy, whose read has not come. */
void copy_unread(struct thread *t);

#endif
