/*
 * libc.h - the C library's functions that do not synchronise: the heap, strings, streams,
 * clocks, random bytes, and the operations whose outcome depends on the order of the threads.
 *
 * One enters by the program's call.  A function that reads or writes memory for its caller says
 * so with ranges.h (READS, WRITES) as accesses of the caller; a clock, and random bytes, answer
 * from virtual time and the seed, so that one seed is one run; an operation that exploration
 * tries in no other order calls order_matters (orders.c; files: order_files.c).
 *
 * Guarantees: nothing here waits without the scheduler, and an event of the heap is
 * no scheduling point, for libraries allocate with their own locks held.
 */
#ifndef HEDDLE_RUNTIME_LIBC_H
#define HEDDLE_RUNTIME_LIBC_H

#include "engine/record/runtime/core/base.h"

struct thread_libc {
	uint64_t questions; /* clocks asked */
	uint64_t random;    /* state of its random bytes */
};

/* ---- strings.c, memory.c, random.c ---- */
void strings_init(void);
bool memory_shared(const void *p); /* in a mapping that other processes may have, too */
/* The same, where there may be such a process: the program made one, or the mapping is of a
 * file. */
bool memory_outside(const void *p);
void random_device_read(int fd, void *p, ssize_t n); /* of a random device: from the seed */

/* getrandom by its number: true when `*result` is the answer, made from the seed. */
bool random_syscall(long number, const long a[6], long *result);

/* ---- clocks: blocking.c ---- */
void clocks_init(void);
/* A clock, a sleep or a yield by the number of its system call, in controlled mode: true when
 * `*result` is what syscall() returns (-1 with errno for a failure). `pc` is the program's. */
bool clock_syscall(long number, const long a[6], uintptr_t pc, long *result);
/* Virtual nanoseconds of an absolute time of a clock. */
uint64_t deadline_of(clockid_t clock, const struct timespec *at);

/* ---- orders.c ---- */
/* Note an operation whose result may depend on an order that exploration does not vary;
 * `operation` is a constant.  No note while the program has had one thread only. */
void order_matters(const char *operation);
/* The same for an operation with an effect that comes later, when there may be threads: a
 * timer. */
void order_matters_later(const char *operation);
/* Note an operation that reads or writes memory of the program's which no event shows: an
 * analysis of the recording misses these accesses, and an exploration their other orders. */
void accesses_unseen(const char *operation);
void accesses_unseen_later(const char *operation);
#define ROBUST_LEFT "a thread's end with a robust mutex in its hands"
/* The same for the contents of a descriptor's file; `at_offset`: at a place that the call
 * gives. */
void order_of_descriptor(int fd, bool writes, bool at_offset);
/* Functions with state of their own that are not interposed here, by name. */
enum order_kind {
	ORDER_NEVER,
	ORDER_ALWAYS,
	ORDER_OBJECT,   /* the object is its first argument */
	ORDER_LOOKS,    /* it looks up a file by its name, the first argument */
	ORDER_LOOKS_IN, /* the same, the second */
	ORDER_MEMORY,   /* it reads or writes memory of the caller's, unseen by hooks */
	ORDER_LATER,    /* threads of the C library's own do it, beside the caller */
	ORDER_WRITES,   /* it writes to the descriptor that is this argument, */
	ORDER_STATUS,   /* or asks about the first one, */
	ORDER_USES,     /* or uses that otherwise, */
	ORDER_CHANNEL,  /* so that what is in its pipe or socket is no longer known: `operation`
	                 */
	ORDER_STREAM, /* it moves the stream, or folder, that is this argument, or asks for its
	               * place */
	ORDER_SETS,   /* it sets a state of the process, `operation`, */
	ORDER_GETS,   /* or asks for it, */
	ORDER_SWAPS,  /* or both */
};
struct ordered {
	const char *pattern;
	enum order_kind kind;
	const char *operation; /* its name in reports; NULL: the function's */
	unsigned arguments;    /* those that lead to memory that it uses unseen, a bit each; of
	                        * ORDER_WRITES and ORDER_STREAM the number of one */
};
/* NULL: none of them, or none that matters in this run. `own`: the runtime stands before the
 * function. */
const struct ordered *order_named(const char *name, bool own);
/* Such a function is called: it is reported if other threads run and the object may be
 * theirs. */
void order_call(const struct thread *t, const struct ordered *f, const char *name,
                const uint64_t *arguments);

/* ---- order_files.c ---- */
struct stat;
/* A file is created, emptied, or looked up. */
void order_of_name(const char *path, bool makes);
void order_of_content(const struct stat *s, int fd, bool writes, bool at_offset);
void order_of_stream(const void *stream, bool may_read);
void order_of_stream_end(const void *stream);
void order_of_use(int fd, bool closed);
void order_of_close(int fd);
/* A pipe or socket is closed or shut down, or written to. */
void order_of_channel(const struct stat *s, bool ends);
/* Whether calls on it wait is set, or makes a difference. */
void order_of_mode(int fd, bool sets);
void order_of_members(int set, bool changes); /* of an epoll instance */
/* A state of the process, by a constant, is set or asked for; `operation`: as it is named. */
void order_of_state(const char *state, bool sets, const char *operation);

#endif
