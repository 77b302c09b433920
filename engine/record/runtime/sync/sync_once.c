/*
 * sync_once.c - once-functions: pthread_once, call_once, GLib's, and the guards of C++
 * statics.  The thread that ran one sends a message to those that come later.
 */
#include <limits.h>
#include <threads.h>

#include "sync_private.h"

INTERPOSED(pthread_once, call_once);

/* -- once, and the guards of C++ statics: a message from the thread that ran it to later callers -- */

enum { ONCE_SLOTS = 1 << 14 };
struct once {
	const void *key;
	bool running, done;
	uint64_t message; /* message of its last end; 0: none yet */
	uint64_t next;    /* message of the end of the present run */
	uint32_t runner;  /* while `running`: its thread */
};
static struct once onces[ONCE_SLOTS];

static struct once *once_of(const void *key)
{
	unsigned i = ((uintptr_t)key >> 2) * 2654435761u % ONCE_SLOTS;
	for (unsigned k = 0; k < ONCE_SLOTS; k++, i = (i + 1) % ONCE_SLOTS) {
		const void *none = NULL;
		if (onces[i].key == key ||
		    __atomic_compare_exchange_n(&onces[i].key, &none, key, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == key)
			return &onces[i];
	}
	return NULL;
}

uint64_t once_message(const void *key)
{
	const struct once *o = once_of(key);
	return o ? o->next : 0;
}

uint32_t once_runner(const void *key)
{
	const struct once *o = once_of(key);
	return o && o->running ? o->runner : LOG_ALL_THREADS;
}

/* Its memory has been reused for another one. */
static void once_anew(struct once *o)
{
	o->done = false;
	o->message = 0;
}

/* True when the caller has to run it; else it has been run, and the message is received. */
static bool once_enter(struct thread *t, struct once *o, uintptr_t pc)
{
	while (o->running) {
		t->sched.pc = pc;
		if (rt.controlled) {
			sched_block(t, FOR_ONCE, o->key, false, 0);
		} else {
			struct timespec pause = { 0, 100000 };
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		}
	}
	if (o->message) { /* a thread that tried in vain comes before the next try, too */
		plan_point(t);
		memory_tell(t, (uintptr_t)o->key);
		log_event(t, LOG_RCV, 0, pc, o->message, 0, 1);
	}
	if (o->done)
		return false;
	o->running = true;
	o->runner = t->id;
	plan_point(t);
	o->next = message_new(t);
	memory_tell(t, (uintptr_t)o->key);
	log_event(t, LOG_SND, LOG_BEGINS, pc, o->next, 0, 1);
	return true;
}

static void once_leave(struct thread *t, struct once *o, bool done, uintptr_t pc)
{
	plan_point(t);
	o->message = o->next ? o->next : message_new(t);
	o->next = 0;
	memory_tell(t, (uintptr_t)o->key);
	log_event(t, LOG_SND, done ? 0 : LOG_TRY, pc, o->message, 0, 1);
	o->done = done;
	o->running = false;
	if (rt.controlled)
		sched_wake(o->key, FOR_ONCE, UINT_MAX);
}

/* What the control of pthread_once holds, as in the C library. */
enum { CONTROL_NEW, CONTROL_RUNS, CONTROL_DONE };

/* The call of the thread that runs the routine writes the control. In an exploration that is no
 * event: each call would be on either side of each write, which tells nothing beside the
 * messages (what the program itself reads there: sync_bytes.h). */
static void write_control(struct thread *t, pthread_once_t *control, int value, uintptr_t pc)
{
	if (!futexes_are_steps()) {
		plan_point(t);
		log_access(t, LOG_AWRITE, 3, pc, control, 2, true, (uint64_t)value);
	}
	__atomic_store_n(control, value, __ATOMIC_RELEASE);
}

/* A routine of C++ that throws, and one whose thread is cancelled, leave without having
 * completed. The program's unwinder removes the frames of the first; a program without one has
 * no exceptions, and the runtime brings none. Of the second the C library comes back to
 * `buffer`, as it does for pthread_cleanup_push in C. */
__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");
extern int __sigsetjmp(struct __jmp_buf_tag *state, int signals);
extern void __pthread_register_cancel(__pthread_unwind_buf_t *buffer);
extern void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer);
extern _Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buffer);
struct once_run {
	struct thread *thread;
	struct once *once;
	pthread_once_t *control;
	bool done, cancelled, over;
	uintptr_t pc;
	__pthread_unwind_buf_t buffer;
};
static void once_end(struct once_run *r)
{
	if (r->over)
		return;
	r->over = true;
	if (!r->cancelled)
		__pthread_unregister_cancel(&r->buffer);
	write_control(r->thread, r->control, r->done ? CONTROL_DONE : CONTROL_NEW, r->pc);
	once_leave(r->thread, r->once, r->done, r->pc);
}

/* In an exploration a call reads its control, of a value that is not known: so a plain write
 * over it (an assignment, memset) is on either side of the call, and is a data race. In a
 * recording it does not: a prediction, in which each read sees what it saw, could then not have
 * the call come sooner. */
static void look_at(struct thread *t, const pthread_once_t *control, uintptr_t pc)
{
	if (!futexes_are_steps())
		return;
	plan_point(t);
	log_access(t, LOG_AREAD, 1, pc, control, 2, false, 0);
}

static int run_once(pthread_once_t *control, void (*routine)(void), uintptr_t pc)
{
	struct thread *t = recording();
	struct once *o = t ? once_of(control) : NULL;
	/* CONTROL_DONE: done before we looked */
	if (!o || (*control == CONTROL_DONE && !o->done && !o->running))
		return REAL(pthread_once)(control, routine);
	look_at(t, control, pc);
	sched_point(t);
	if (o->done && *control == CONTROL_NEW)
		once_anew(o);
	if (!rt.controlled) { /* the real one excludes others while it runs */
		bool first = *control != CONTROL_DONE;
		int status = REAL(pthread_once)(control, routine);
		if (first && !o->done) {
			log_access(t, LOG_AWRITE, 3, pc, control, 2, true, CONTROL_DONE);
			once_leave(t, o, true, pc);
		} else if (o->done) {
			log_event(t, LOG_RCV, 0, pc, o->message, 0, 1);
		}
		return status;
	}
	if (!once_enter(t, o, pc))
		return 0;
	write_control(t, control, CONTROL_RUNS, pc);
	__attribute__((cleanup(once_end))) struct once_run run = {
		.thread = t, .once = o, .control = control, .pc = pc
	};
	if (__sigsetjmp((struct __jmp_buf_tag *)(void *)run.buffer.__cancel_jmp_buf, 0)) {
		run.cancelled = true;
		once_end(&run);
		__pthread_unwind_next(&run.buffer);
	}
	__pthread_register_cancel(&run.buffer);
	routine();
	run.done = true;
	return 0;
}

int interposed_pthread_once(pthread_once_t *control, void (*routine)(void))
{
	return run_once(control, routine, CALLER());
}
void interposed_call_once(once_flag *control, void (*routine)(void))
{
	run_once((pthread_once_t *)control, routine, CALLER());
}

/* GLib's once-initialisation: a word that is no longer 0, tested inline. */
EXPORT int g_once_init_enter(uintptr_t *word);
int g_once_init_enter(uintptr_t *word)
{
	static int (*real)(uintptr_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(word) : NULL;
	if (!o) {
		if (!real)
			real = (int (*)(uintptr_t *))rt_next("g_once_init_enter");
		return real(word);
	}
	if (__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
		if (o->done) {
			plan_point(t);
			memory_tell(t, (uintptr_t)o->key);
			log_event(t, LOG_RCV, 0, CALLER(), o->message, 0, 1);
		}
		return 0;
	}
	once_anew(o); /* a word that is 0 again is another one */
	sched_point(t);
	return once_enter(t, o, CALLER());
}
EXPORT void g_once_init_leave(uintptr_t *word, uintptr_t value);
void g_once_init_leave(uintptr_t *word, uintptr_t value)
{
	static void (*real)(uintptr_t *, uintptr_t);
	struct thread *t = recording();
	struct once *o = t ? once_of(word) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uintptr_t *, uintptr_t))rt_next("g_once_init_leave");
		real(word, value);
		return;
	}
	plan_point(t);
	log_access(t, LOG_AWRITE, 3, CALLER(), word, 3, true, value);
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	once_leave(t, o, true, CALLER());
}

/* The function that g_once() calls while its `status` is not yet 2, which it tests inline. */
struct g_once {
	int status;
	void *result;
};
EXPORT void *g_once_impl(struct g_once *once, void *(*make)(void *), void *argument);
void *g_once_impl(struct g_once *once, void *(*make)(void *), void *argument)
{
	enum { READY = 2 };
	struct thread *t = recording();
	struct once *o = t ? once_of(once) : NULL;
	if (!o)
		return REAL(g_once_impl)(once, make, argument);
	if (o->done && __atomic_load_n(&once->status, __ATOMIC_ACQUIRE) != READY)
		once_anew(o);
	sched_point(t);
	if (once_enter(t, o, CALLER())) {
		once->result = make(argument);
		plan_point(t);
		log_access(t, LOG_AWRITE, 3, CALLER(), &once->status, 2, true, READY);
		__atomic_store_n(&once->status, READY, __ATOMIC_RELEASE);
		once_leave(t, o, true, CALLER());
	}
	return once->result;
}

EXPORT int __cxa_guard_acquire(uint64_t *guard);
int __cxa_guard_acquire(uint64_t *guard)
{
	static int (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o) {
		if (!real)
			real = (int (*)(uint64_t *))rt_next("__cxa_guard_acquire");
		return real(guard);
	}
	if (__atomic_load_n((char *)guard, __ATOMIC_ACQUIRE)) {
		if (o->done) {
			plan_point(t);
			memory_tell(t, (uintptr_t)o->key);
			log_event(t, LOG_RCV, 0, CALLER(), o->message, 0, 1);
		}
		return 0;
	}
	sched_point(t);
	return once_enter(t, o, CALLER());
}
EXPORT void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard)
{
	static void (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uint64_t *))rt_next("__cxa_guard_release");
		real(guard);
		return;
	}
	/* The inline test of the guard's first byte is an acquiring load of this store. */
	plan_point(t);
	log_access(t, LOG_AWRITE, 3, CALLER(), guard, 0, true, 1);
	__atomic_store_n((char *)guard, 1, __ATOMIC_RELEASE);
	once_leave(t, o, true, CALLER());
}
EXPORT void __cxa_guard_abort(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard)
{
	static void (*real)(uint64_t *);
	struct thread *t = recording();
	struct once *o = t ? once_of(guard) : NULL;
	if (!o || !o->running) {
		if (!real)
			real = (void (*)(uint64_t *))rt_next("__cxa_guard_abort");
		real(guard);
		return;
	}
	once_leave(t, o, false, CALLER());
}
