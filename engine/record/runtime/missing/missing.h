/*
 * missing.h - calls into code that is not instrumented ("missing code"): their beginning and
 * end in the trace, and the memory that each may reach (RDIT's barrier pairs).
 *
 * missing_module is called for each module as it is loaded, missing_take_over when all of them
 * are known: then the import tables of instrumented modules lead to small functions of ours,
 * which record a call and its return as a region.  The rest of the runtime only reports how the
 * call stack moves (missing_callback, missing_settle, missing_jump) and, for reach.c, the
 * memory there is (reach_data, reach_mapped, reach_stack, block_begins).
 *
 * Guarantees: nothing here changes what the program's calls do, and without such
 * modules (rt.missing, rt.reaching false) nothing here costs more than a test.  The lists that
 * reach_scan returns are the thread's, until its next call.
 */
#ifndef HEDDLE_RUNTIME_MISSING_H
#define HEDDLE_RUNTIME_MISSING_H

#include <ucontext.h>

#include "engine/record/runtime/core/base.h"
#include "engine/record/runtime/log/log.h"

struct region; /* a missing call: regions.c */
struct reach;  /* reach.c */
struct thread_missing {
	struct region *regions; /* open missing calls, or NULL */
	unsigned region_count;
	struct reach *reach; /* or NULL */
};

/* ---- regions.c, trampolines.c, modules.c, imports.c ---- */
/* The return address of a missing call: its frame counts as the caller. */
extern const char missing_return[] __attribute__((visibility("hidden")));
uintptr_t missing_caller(void);
ALWAYS_INLINE uintptr_t real_caller(uintptr_t pc)
{
	return unlikely(pc == (uintptr_t)missing_return) ? missing_caller() : pc;
}
/* A module that has been loaded. */
void missing_module(const struct dl_phdr_info *info, const char *path, uintptr_t low,
                    uintptr_t high);
void missing_take_over(void); /* called when all of them are known */
/* Called by log_frames: the frame to be written was called back by a missing call; frames
 * that were written have been left. */
void missing_callback(struct thread *t);
void missing_settle(struct thread *t);
void missing_left(struct thread *t); /* the same at once, called by the hook */
/* A thread whose first function is not instrumented begins, and ends. */
void missing_begin_thread(struct thread *t, const void *start, const void *argument);
void missing_end_thread(struct thread *t);
/* A jump or a caught exception ends the calls of uninstrumented code from frames below `sp`. */
void missing_jump(struct thread *t, uintptr_t sp);

/* ---- blocks.c ---- */
bool blocks_init(void); /* false: no memory */
void block_begins(const void *p);
void block_ends(const void *p);
/* The last block that begins at an address or before it, or 0; the address may lie behind it.
 */
uintptr_t block_before(uintptr_t address);
/* Free mode: the end of the block that begins there, a multiple of 16 and at most 8 bytes
 * behind what can be used; 0: it has just been freed. */
uintptr_t block_end(uintptr_t block);

/* ---- reach.c ---- */
void reach_init(void); /* blocks allocated from now on are known */
void reach_mapped(const void *p, size_t size);
void reach_data(uintptr_t low, uintptr_t high); /* writable, of a module of the program */
void reach_stack(uintptr_t low, uintptr_t high);
/* A fault's handler: true when the fault was reach.c's, which then continues. */
bool reach_fault(ucontext_t *context);
/* Where the frame's return address lies on the stack, below `limit`; 0: not found. */
uintptr_t frame_return(const struct frame *f, uintptr_t limit);
/* The number of memory ranges that the arguments reach whose bits are in `mask` (layout.h,
 * LOG_ARGUMENTS). *list is the thread's, until the next call; *cut: the list is not
 * complete. */
unsigned reach_scan(struct thread *t, const uint64_t *arguments, unsigned mask,
                    const struct log_reached **list, bool *cut);

#endif
