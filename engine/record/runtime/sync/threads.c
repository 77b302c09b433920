/*
 * threads.c - birth, end and joining of threads (POSIX and C11).
 *
 * A thread's end is seen by the destructor of a key that re-arms itself to the last round,
 * so that destructors of the program's own keys still count as the thread's events.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "engine/record/runtime/core/one_thread.h"
#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/core/contexts.h"
#include "engine/record/runtime/libc/ranges.h"
#include "sync_private.h"

INTERPOSED(pthread_create, pthread_join, pthread_tryjoin_np, pthread_timedjoin_np,
           pthread_clockjoin_np, pthread_detach, pthread_cancel, pthread_setname_np,
           thrd_create, thrd_join, thrd_detach);

static pthread_key_t end_key;
static bool have_key;

/* The kernel's list of the robust mutexes that the calling thread holds; NULL: none. */
static const struct robust_list_head *held_robust(void)
{
	const struct robust_list_head *head = NULL;
	size_t size;
	if (rt.one_thread)
		head = contexts_robust_list();
	else if (raw_syscall(SYS_get_robust_list, 0, (long)&head, (long)&size, 0, 0, 0) != 0)
		return NULL;
	return head != NULL && head->list.next != &head->list ? head : NULL;
}

/* Next entry of the list. An entry's lowest bit says that its mutex inherits priorities. */
static const struct robust_list *robust_next(const struct robust_list *l)
{
	return (const struct robust_list *)((uintptr_t)l->next & ~(uintptr_t)1);
}

/* Releases the robust mutexes that the thread holds at its end. The kernel does it when the
 * thread is gone (the next thread waits for that), and threads that wait for them get them. */
static void leave_robust(struct thread *t, const struct robust_list_head *head)
{
	const size_t at = offsetof(pthread_mutex_t, __data.__list.__next);
	bool logged = rt.on && !(t->gate & GATE_OFF);
	if (rt.one_thread) /* the kernel marks them */
		one_thread_refuse();
	order_matters(ROBUST_LEFT);
	/* a place for the releases: the thread's function */
	uintptr_t start = (uintptr_t)t->life.start, pc = start ? start + 1 : 0;
	const struct robust_list *l = robust_next(&head->list);
	for (; l != &head->list; l = robust_next(l)) {
		const pthread_mutex_t *m = (const void *)((uintptr_t)l - at);
		bool recursive = (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE;
		unsigned count = recursive ? m->__data.__count : 1;
		for (unsigned i = 0; logged && i < count; i++) {
			plan_point(t);
			log_sync(t, LOG_REL, pc, m);
		}
		if (rt.controlled)
			sched_wake(m, FOR_MUTEX, UINT_MAX);
	}
}

static void finish_thread(struct thread *t)
{
	const struct robust_list_head *robust = held_robust();
	/* Cancelled inside a blocking call, it ends without having come back from it. */
	if (t->openmp.parked)
		sched_leave_park(t);
	else if (t->gate & (GATE_STOLEN | GATE_OUTSIDE))
		sched_rejoin(t);
	log_value(t);
	held_run_at_end(t);
	missing_end_thread(t);
	t->depth = t->low = 0;
	t->todo |= TODO_FRAMES;
	if (t->emitted && !(t->gate & GATE_OFF)) {
		if (t->stream->last != t->id)
			log_switch(t);
		log_frames(t);
	}
	if (robust)
		leave_robust(t, robust);
	t->gate |= GATE_OFF;
	if (!rt.controlled && rt.on)
		log_stream_end(&t->own);
	if (t->epoch)
		raw_syscall(SYS_madvise, (long)t->seen, sizeof(t->seen), MADV_DONTNEED, 0, 0,
		            0);
	if (t->covered)
		raw_syscall(SYS_madvise, (long)t->covered, COVERED_SIZE, MADV_DONTNEED, 0, 0,
		            0);
	if (rt.on)
		sched_end(t);
	me = &nobody;
}

static void at_end(void *value)
{
	struct thread *t = value;
	if (++t->life.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end_key, t);
		return;
	}
	finish_thread(t);
}

/* The C library's function allocates memory: calling it for another thread saves that one a
 * heap of its own, which it may never need. */
static void find_stack(struct thread *t)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;
	if (pthread_getattr_np(t->life.handle, &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		t->life.stack_low = (uintptr_t)low;
		t->life.stack_high = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attributes);
}

/* In an exploration a thread's stack is known from its creation on: whether the thread has had
 * a turn before the program ends would tell runs apart otherwise, as its handle points there.
 */
static bool is_told_at_creation(void)
{
	return rt.controlled && rt.config.flags & LOG_EXPLORE;
}

/*
 * Misuse of threads. The mark of a handle (sync_mark) is one more than the number of a thread
 * that was joined or detached, and HANDLE_DETACHED; the next thread with that handle replaces
 * it.
 */
enum { HANDLE_DETACHED = 0x8000 };

static void mark_handle(pthread_t handle, const struct thread *gone)
{
	const unsigned mark = gone ? gone->id + 1 : 0;
	if (mark < (MARK_DESTROYED & ~HANDLE_DETACHED))
		sync_set_mark((const void *)handle,
		              gone && gone->life.detached ? mark | HANDLE_DETACHED : mark);
}

static void misused_thread(struct thread *t, enum log_misuse how, uintptr_t pc, uint32_t id)
{
	if (how == MISUSE_JOIN_ENDED || how == MISUSE_DETACH_ENDED) /* no event of the thread */
		order_matters("a join or detachment of a thread that was joined or detached");
	misused(t, how, pc, (const void *)(uintptr_t)(LOG_THREAD_OBJECTS + id));
}

/* Before a call that needs a thread that can be joined, or, with `detached`, was detached and
 * may still run. `target`: NULL where thread_of_handle has none. */
static void check_handle(struct thread *t, const struct thread *target, pthread_t handle,
                         bool detached, enum log_misuse how, uintptr_t pc)
{
	const unsigned mark = sync_mark((const void *)handle);
	if (target ? target->life.detached && !detached
	           : mark != 0 && !(detached && mark & HANDLE_DETACHED))
		misused_thread(t, how, pc, target ? target->id : (mark & ~HANDLE_DETACHED) - 1);
}

void thread_note_number(const struct thread *t)
{
	char text[48];
	if (!(rt.config.flags & LOG_EXPLORE))
		return;
	snprintf(text, sizeof text, "%u %ld", t->id, (long)t->life.tid);
	log_note(LOG_NUMBER_NOTE, text);
}

/* The calling thread, with the token, becomes `t`. */
void thread_begin(struct thread *t)
{
	t->gate |= GATE_INSIDE;
	me = t;
	if (t->life.tid == 0)
		t->life.tid = syscall(SYS_gettid);
	clock_thread(t);
	t->life.handle = pthread_self();
	mark_handle(t->life.handle, t->life.detached ? t : NULL);
	if (t->life.stack_high == 0)
		find_stack(t);
	if (t->id == 0) { /* the main thread's grows, up to a limit of the system */
		uintptr_t here = (uintptr_t)__builtin_frame_address(0);
		if (t->life.stack_high - t->life.stack_low > 64 << 20 ||
		    here < t->life.stack_low)
			t->life.stack_low = t->life.stack_high - (8 << 20);
	}
	reach_stack(t->life.stack_low, t->life.stack_high);
	if (!have_key)
		have_key = pthread_key_create(&end_key, at_end) == 0;
	if (have_key)
		pthread_setspecific(end_key, t);
	if (t->id && !is_told_at_creation())
		log_thread(t, t);
	thread_note_number(t);
	t->gate &= ~GATE_INSIDE;
}

/* Is it one of libgomp's threads, which waits there for a parallel region: openmp.h? */
static bool of_openmp(void *(*start)(void *))
{
	uintptr_t at = (uintptr_t)start;
	return at >= rt.gomp_low && at < rt.gomp_high;
}

/* Calls the thread's function, with equal bytes below its frame. Those that the runtime has
 * left there, while the thread waited for its first turn, depend on the machine, and some of
 * them show through frames that are not filled: in a thread's state (memory/state.c) they would
 * make equal runs differ. (Nothing is saved here, and the call is the last step, so that the
 * bytes begin where the function's frame does.) */
static __attribute__((noinline)) void *start_above_clear(void *(*start)(void *), void *argument)
{
	uint64_t bytes = rt.config.fill ? log_fill_byte(rt.config.fill, 0) : 0;
	volatile uint64_t *stack;
	__asm__("mov %%rsp, %0" : "=r"(stack));
	for (unsigned i = 1; i <= LOG_STACK_FILLED / sizeof bytes; i++)
		*(stack - i) = bytes * 0x0101010101010101;
	return start(argument);
}

void *thread_main(void *argument)
{
	struct thread *t = argument;
	if (t->life.tid == 0)
		t->life.tid = syscall(SYS_gettid);
	clock_thread(t);
	t->gate |= GATE_INSIDE;
	me = t; /* a signal that comes before it has the token is kept */
	if (t->life.masked)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &t->life.mask, NULL, sizeof(uint64_t));
	sched_start(t);
	thread_begin(t);
	t->life.started = true;
	t->memory.stack = (uintptr_t)__builtin_frame_address(0);
	missing_begin_thread(t, (const void *)t->life.start, t->life.argument);
	if (rt.controlled && of_openmp(t->life.start))
		sched_park(t, rt.threads[t->life.parent]); /* which waits for that */
	if (unlikely(rt.clocked))
		clock_tick(t, (uintptr_t)t->life.start);
	if (!t->life.c11)
		return start_above_clear(t->life.start, t->life.argument);
	return (void *)(intptr_t)(int)(intptr_t)start_above_clear(t->life.start,
	                                                          t->life.argument);
}

/*
 * Blocks signals for a new thread until it is known (thread_main), and returns the creator's
 * mask, with which it then begins: a handler that ran earlier, at once, would wait for
 * threads that wait for this one. Not if the attributes have a mask of their own.
 */
static uint64_t hold_signals(struct thread *child, const pthread_attr_t *attributes)
{
	const uint64_t all = ~(3ull << 31); /* but for the C library's */
	sigset_t own;
	child->life.masked = rt.controlled && !rt.one_thread &&
	                     (!attributes || pthread_attr_getsigmask_np(attributes, &own) ==
	                                             PTHREAD_ATTR_NO_SIGMASK_NP);
	if (child->life.masked)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &child->life.mask, sizeof(all));
	return child->life.mask;
}

void thread_wrote_handle(struct thread *t, const void *handle, uintptr_t pc)
{
	uintptr_t low = t->life.stack_low;
	if ((uintptr_t)handle - low >= t->life.stack_high - low)
		WRITES_AT(handle, sizeof(pthread_t), pc);
}

/* Notes numbers of a thread, decimal: LOG_ALIKE. */
static void note_numbers(const char *key, const uint64_t *numbers, unsigned count)
{
	char text[3 * 21];
	unsigned at = sizeof text;
	if (!(rt.config.flags & LOG_ALIKE) || !rt.on)
		return;
	text[--at] = 0;
	while (count-- > 0) {
		uint64_t n = numbers[count];
		do
			text[--at] = (char)('0' + n % 10);
		while ((n /= 10) > 0);
		if (count > 0)
			text[--at] = ' ';
	}
	log_note(key, text + at);
}

static int create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                  void *argument, bool c11, uintptr_t called)
{
	struct thread *t = recording();
	const uintptr_t pc = cxx_caller(called);
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
	        REAL(pthread_create);
	if (!t) {
		int status = real(handle, attributes, start, argument);
		if (status == 0 && handle)
			mark_handle(*handle, NULL);
		if (status == 0)
			child_created_thread();
		return status;
	}
	if (rt.one_thread && of_openmp(start))
		one_thread_refuse();
	sched_point(t);
	struct thread *child = thread_new(t);
	if (!child)
		return EAGAIN;
	child->life.start = start;
	child->life.argument = argument;
	child->life.c11 = c11;
	int detach = PTHREAD_CREATE_JOINABLE;
	if (attributes)
		pthread_attr_getdetachstate(attributes, &detach);
	child->life.detached = detach == PTHREAD_CREATE_DETACHED;
	if (!rt.controlled) /* its first event must come after ours */
		log_event(t, LOG_FORK, 0, pc, child->id, 0, 1);
	pthread_t made;
	uint64_t mask = hold_signals(child, attributes);
	bool held = child->life.masked;
	int result = rt.one_thread ? INSIDE(t, contexts_create(child, attributes))
	                           : INSIDE(t, real(&made, attributes, thread_main, child));
	if (held)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	if (result) {
		thread_forget(child);
		t->life.children--;
		return result;
	}
	if (!rt.one_thread)
		child->life.handle = made;
	if (handle) {
		*handle = child->life.handle;
		thread_wrote_handle(t, handle, pc);
	}
	if (rt.controlled) { /* it waits for its first turn */
		if (child->life.stack_high == 0)
			INSIDE(t, (find_stack(child), 0));
		log_event(t, LOG_FORK, 0, pc, child->id, 0, 1);
		if (is_told_at_creation())
			log_thread(t, child);
		note_numbers(LOG_START_NOTE,
		             (uint64_t[]){ child->id, (uintptr_t)start, (uintptr_t)argument },
		             3);
		if (of_openmp(start))
			sched_force(t, child, false); /* until it is parked */
		else
			sched_point_after(t); /* the child may run first */
	}
	return 0;
}

int interposed_pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument)
{
	return create(handle, attributes, start, argument, false, CALLER());
}

struct thread *thread_of_handle(pthread_t handle)
{
	for (uint32_t i = rt.thread_count < MAX_THREADS ? rt.thread_count : MAX_THREADS;
	     i-- > 0;) {
		struct thread *t = rt.threads[i];
		if (t && t->life.handle == handle && !t->life.joined)
			return t;
	}
	return NULL;
}

/* 0, or ETIMEDOUT, EBUSY, EINVAL; after that the real join cannot block for long. */
static int await_end(struct thread *t, struct thread *target, bool try_only,
                     const struct timespec *at, uint64_t deadline, uintptr_t pc)
{
	uint32_t id = target->id;
	bool timed = at != NULL;
	sched_point(t);
	if (!rt.controlled)
		return 0;
	t->sched.pc = pc;
	while (target->id == id && target->sched.state != STATE_DONE) {
		if (try_only)
			return EBUSY;
		if (timed && !valid_time(at)) {
			misused_thread(t, MISUSE_INVALID_TIME, pc, id);
			return EINVAL;
		}
		if (!sched_block(t, FOR_THREAD, target, timed, deadline))
			return ETIMEDOUT;
		if (sched_cancelled(&t->sched))
			pthread_testcancel();
	}
	if (target->id == id && !target->life.joined)
		return 0;
	misused_thread(t, MISUSE_JOIN_ENDED, pc, id); /* another thread waited for it, too */
	return EINVAL;
}

/* The outcome of a join that the C library made in free mode. */
static void check_outcome(struct thread *t, uint32_t id, int status, const struct timespec *at,
                          uintptr_t pc)
{
	if (status == EINVAL && at && !valid_time(at))
		misused_thread(t, MISUSE_INVALID_TIME, pc, id);
	else if (status == EINVAL || status == ESRCH)
		misused_thread(t, MISUSE_JOIN_ENDED, pc, id);
}

static int join(pthread_t handle, void **result, bool try_only, const struct timespec *deadline,
                clockid_t clock, uintptr_t pc)
{
	struct thread *t = recording();
	struct thread *target = t ? thread_of_handle(handle) : NULL;
	if (try_only || deadline)
		order_matters("a join that does not wait for as long as it takes");
	if (t && target == t)
		misused_thread(t, MISUSE_JOIN_SELF, pc, t->id);
	else if (t)
		check_handle(t, target, handle, false, MISUSE_JOIN_ENDED, pc);
	if (t && target && target != t && !target->life.detached) {
		const uint32_t id = target->id;
		int status = await_end(t, target, try_only, deadline,
		                       deadline ? deadline_of(clock, deadline) : 0, pc);
		if (status)
			return status;
		if (rt.controlled) {
			status = INSIDE(t, REAL(pthread_join)(handle, result));
			if (status == 0 && result)
				note_numbers(LOG_RESULT_NOTE,
				             (uint64_t[]){ target->id, (uintptr_t)*result }, 2);
		} else if (try_only)
			status = REAL(pthread_tryjoin_np)(handle, result);
		else if (deadline)
			status = REAL(pthread_clockjoin_np)(handle, result, clock, deadline);
		else
			status = REAL(pthread_join)(handle, result);
		if (status == 0) {
			target->life.joined = true;
			mark_handle(handle, target);
			__atomic_fetch_sub(&rt.unjoined, 1, __ATOMIC_RELAXED);
			log_event(t, LOG_JOIN, 0, pc, target->id, 0, 1);
			thread_retire(target);
		} else {
			check_outcome(t, id, status, deadline, pc);
		}
		return status;
	}
	if (try_only)
		return REAL(pthread_tryjoin_np)(handle, result);
	if (deadline)
		return REAL(pthread_clockjoin_np)(handle, result, clock, deadline);
	if (t)
		sched_leave(t);
	int status = REAL(pthread_join)(handle, result);
	if (t)
		sched_rejoin(t);
	return status;
}

/* Records that a join that ended well has written what the thread returned. */
static int returned(int status, void **result, uintptr_t pc)
{
	if (status == 0 && result)
		WRITES_AT(result, sizeof *result, pc);
	return status;
}

int interposed_pthread_join(pthread_t handle, void **result)
{
	uintptr_t pc = cxx_caller(CALLER());
	return returned(join(handle, result, false, NULL, 0, pc), result, pc);
}
int interposed_pthread_tryjoin_np(pthread_t handle, void **result)
{
	return returned(join(handle, result, true, NULL, 0, CALLER()), result, CALLER());
}
int interposed_pthread_timedjoin_np(pthread_t handle, void **result,
                                    const struct timespec *deadline)
{
	return returned(join(handle, result, false, deadline, CLOCK_REALTIME, CALLER()), result,
	                CALLER());
}
int interposed_pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock,
                                    const struct timespec *deadline)
{
	return returned(join(handle, result, false, deadline, clock, CALLER()), result,
	                CALLER());
}

static int detach(pthread_t handle, uintptr_t pc)
{
	struct thread *t = recording();
	struct thread *target = t ? thread_of_handle(handle) : NULL;
	if (t)
		check_handle(t, target, handle, false, MISUSE_DETACH_ENDED, pc);
	int status = REAL(pthread_detach)(handle);
	if (target && status == 0) {
		target->life.detached = true;
		mark_handle(handle, target);
		target->life.joined = true; /* its handle may be reused */
		thread_retire(target);
	}
	return status;
}

int interposed_pthread_detach(pthread_t handle)
{
	return detach(handle, cxx_caller(CALLER()));
}

int interposed_pthread_cancel(pthread_t handle)
{
	struct thread *t = recording();
	struct thread *target = t ? thread_of_handle(handle) : NULL;
	if (t && rt.one_thread)
		one_thread_refuse();
	if (t) {
		check_handle(t, target, handle, true, MISUSE_CANCEL_ENDED, CALLER());
		order_matters("pthread_cancel");
	}
	int status = REAL(pthread_cancel)(handle);
	if (target && status == 0) {
		sched_cancel(target);
		if (rt.controlled && target->sched.cancel_at_once)
			endless_interrupt(target);
	}
	return status;
}

int interposed_pthread_setname_np(pthread_t handle, const char *name)
{
	return REAL(pthread_setname_np)(handle, name);
}

/* ---- C11 ---- */

int interposed_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	int status = create((pthread_t *)thread, NULL, (void *(*)(void *))(void *)start,
	                    argument, true, CALLER());
	return status == 0 ? thrd_success : status == ENOMEM ? thrd_nomem : thrd_error;
}
int interposed_thrd_join(thrd_t thread, int *result)
{
	void *value;
	int status = join((pthread_t)thread, result ? &value : NULL, false, NULL, 0, CALLER());
	if (status)
		return thrd_error;
	if (result) {
		*result = (int)(intptr_t)value;
		WRITES(result, sizeof *result);
	}
	return thrd_success;
}
int interposed_thrd_detach(thrd_t thread)
{
	return detach((pthread_t)thread, CALLER()) ? thrd_error : thrd_success;
}
