/*
 * openmp_tasks.c - OpenMP's tasks; see openmp.h.
 *
 * A task that need not be done at once waits in its team's list, in the order of creation,
 * until a thread of the team runs it: at a barrier any, at a taskwait a child of the task
 * that waits, at the end of a taskgroup any. Messages order its creation before its
 * beginning, its end before a wait for it, and the tasks as `depend` says. Tasks with
 * reductions, or whose `if` is false, are run at once by their creator.
 */
#include <limits.h>
#include <string.h>

#include "engine/record/runtime/libc/libc.h"
#include "openmp.h"

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);

enum { /* GCC's flags of tasks (gomp-constants.h) */
       TASK_FINAL = 1 << 1,
       TASK_DEPEND = 1 << 3,
       TASK_UP = 1 << 8,
       TASK_GRAINSIZE = 1 << 9,
       TASK_IF = 1 << 10,
       TASK_NOGROUP = 1 << 11,
       TASK_REDUCTION = 1 << 12,
};

struct group { /* a taskgroup that is open */
	struct group *outer;
	uint64_t message;
	unsigned left;
};

struct family {           /* of a task, or of a thread's implicit task: its children */
	uint64_t message; /* sent by the end of each; 0: none has ended */
	unsigned left;
	unsigned users; /* children, and the task itself while it runs */
	struct group *group;
};

struct task {
	void (*fn)(void *);
	struct task *next;
	struct team *team;
	struct family *family, *parent;
	struct group *group;
	uint64_t created;
	bool running;
	unsigned outs, ins; /* number of addresses that it depends on: `outs`, then `ins` */
	uintptr_t *addresses;
	void *data;
	uintptr_t pc;
	char *block; /* memory freed with it */
};

/* ---- families ---- */

static struct family *family_new(void)
{
	struct family *f = __libc_malloc(sizeof(*f));
	if (f)
		*f = (struct family){ .users = 1, .message = openmp_message() };
	return f;
}

static void family_left(struct family *f)
{
	if (f && __atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL) == 0)
		__libc_free(f);
}

/* The family of the thread's current task; outside of tasks, that of the thread itself. */
static struct family *family_of(struct thread *t)
{
	struct family **own = t->openmp.task ? &t->openmp.task->family : &t->openmp.family;
	if (!*own && (*own = family_new()) != NULL && t->openmp.task)
		(*own)->group = t->openmp.task->group; /* a group that waits for all its
		                                        * descendants */
	return *own;
}

/* ---- dependences ---- */

/* Addresses of `depend`, in either of GCC's layouts; objects (depobj) are not handled. */
static const uintptr_t *depend_list(void **depend, unsigned *outs, unsigned *ins)
{
	uintptr_t total = (uintptr_t)depend[0];
	*outs = (unsigned)(uintptr_t)depend[1];
	if (total) {
		*ins = (unsigned)total - *outs;
		return (const uintptr_t *)(depend + 2);
	}
	total = (uintptr_t)depend[1];
	*outs = (unsigned)((uintptr_t)depend[2] + (uintptr_t)depend[3]);
	*ins = (unsigned)(uintptr_t)depend[4];
	return (const uintptr_t *)(depend + 5);
}

/* Two messages for an address: from tasks that write it, and from those that read it. */
enum { FROM_OUT = 1, FROM_IN = 2 };
static uint64_t depend_message(uintptr_t address, uintptr_t kind)
{
	return message_of(address | kind << 62, false);
}

/* For an address without such a task, nothing was sent. */
static void depend_receive(struct thread *t, uintptr_t address, uintptr_t kind, uintptr_t pc)
{
	if (message_exists(address | kind << 62))
		openmp_receive(t, depend_message(address, kind), pc);
}

static void depend_received(struct thread *t, const uintptr_t *a, unsigned outs, unsigned ins,
                            uintptr_t pc)
{
	for (unsigned i = 0; i < outs + ins; i++) {
		depend_receive(t, a[i], FROM_OUT, pc);
		if (i < outs)
			depend_receive(t, a[i], FROM_IN, pc);
	}
}

static bool share(const struct task *a, const uintptr_t *b, unsigned outs, unsigned ins)
{
	for (unsigned i = 0; i < a->outs + a->ins; i++)
		for (unsigned k = 0; k < outs + ins; k++)
			if (a->addresses[i] == b[k] && (i < a->outs || k < outs))
				return true;
	return false;
}

/* Does a task of the parent remain, before `end`, that one with these addresses has to wait
 * for? */
static bool awaited(const struct team *team, const struct task *end,
                    const struct family *parent, const uintptr_t *a, unsigned outs,
                    unsigned ins)
{
	for (const struct task *o = team->first; o != end; o = o->next)
		if (o->parent == parent && share(o, a, outs, ins))
			return true;
	return false;
}

static bool depends(const struct task *task)
{
	return awaited(task->team, task, task->parent, task->addresses, task->outs, task->ins);
}

/* ---- running ---- */

bool tasks_left(const struct team *team)
{
	return team->first != NULL;
}

static void unlist(struct task *task)
{
	struct team *team = task->team;
	struct task **at = &team->first;
	struct task *before = NULL;
	while (*at != task) {
		before = *at;
		at = &before->next;
	}
	*at = task->next;
	if (team->last == task)
		team->last = before;
}

static void task_begins(struct thread *t, struct task *task)
{
	openmp_receive(t, task->created, task->pc);
	depend_received(t, task->addresses, task->outs, task->ins, task->pc);
}

static void task_ends(struct thread *t, struct task *task)
{
	plan_point(t);
	openmp_send(t, task->parent->message, task->pc);
	plan_point(t);
	openmp_send(t, task->team->tasks, task->pc);
	for (struct group *g = task->group; g; g = g->outer) {
		plan_point(t);
		openmp_send(t, g->message, task->pc);
	}
	for (unsigned i = 0; i < task->outs + task->ins; i++) {
		plan_point(t);
		openmp_send(
		        t,
		        depend_message(task->addresses[i], i < task->outs ? FROM_OUT : FROM_IN),
		        task->pc);
	}
}

static void call(struct thread *t, struct task *task)
{
	struct task *outer = t->openmp.task;
	struct team *team = t->openmp.team;
	uintptr_t from = t->calls.from;
	t->openmp.task = task;
	t->openmp.team = task->team;
	t->calls.from = task->pc;
	task->fn(task->data);
	t->openmp.task = outer;
	t->openmp.team = team;
	t->calls.from = from;
}

static void task_free(struct task *task)
{
	family_left(task->parent);
	family_left(task->family);
	__libc_free(task->block);
	__libc_free(task);
}

bool task_run_one(struct thread *t, struct team *team, const struct task *of, uintptr_t pc)
{
	const struct family *only = of ? of->family : NULL;
	if (team->first)
		plan_point(t); /* replay: the thread with the next event takes one */
	struct task *task = team->first;
	while (task && (task->running || (only && task->parent != only) || depends(task) ||
	                (!replay_lets_go() && !replay_expects(t, LOG_RMW, task->pc))))
		task = task->next;
	if (!task)
		return false;
	task->running = true;
	openmp_share(t, team, task->pc);
	sched_point(t);
	task_begins(t, task);
	call(t, task);
	if (!rt.on)
		return false;
	task_ends(t, task);
	unlist(task);
	task->parent->left--;
	for (struct group *g = task->group; g; g = g->outer)
		g->left--;
	task_free(task);
	sched_wake(team->barrier, FOR_BARRIER, UINT_MAX);
	return true;
}

/* Controlled mode: runs the thread's tasks until none is left with which it shares an address.
 */
static void await_dependences(struct thread *t, const uintptr_t *a, unsigned outs, unsigned ins,
                              uintptr_t pc)
{
	struct team *team = t->openmp.team;
	struct task self = { .family = family_of(t) };
	while (rt.controlled && rt.on && awaited(team, NULL, self.family, a, outs, ins)) {
		if (task_run_one(t, team, &self, pc))
			continue;
		t->sched.pc = pc;
		if (awaited(team, NULL, self.family, a, outs, ins))
			sched_block(t, FOR_BARRIER, team->barrier, false, 0);
	}
}

/* Free mode: libgomp runs it. */
static void run_by_libgomp(void *p)
{
	struct task *task = *(struct task **)p;
	struct thread *t = recording();
	if (!t) {
		task->fn(task->data);
		return;
	}
	task_begins(t, task);
	call(t, task);
	task_ends(t, task);
	task_free(task);
}

/* ---- creation ---- */

EXPORT void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                      long alignment, bool deferred, unsigned flags, void **depend,
                      int priority, void *detach);

static struct task *task_new(struct thread *t, void (*fn)(void *), void *data,
                             void (*copy)(void *, void *), size_t size, size_t alignment,
                             void **depend, uintptr_t pc)
{
	unsigned outs = 0, ins = 0;
	const uintptr_t *addresses = depend ? depend_list(depend, &outs, &ins) : NULL;
	struct task *task = __libc_malloc(sizeof(*task));
	size_t room = size + alignment + (outs + ins) * sizeof(*addresses) + 16;
	char *block = __libc_malloc(room);
	struct family *parent = family_of(t);
	if (!task || !block || !parent)
		return NULL;
	*task = (struct task){ .fn = fn,
		               .team = t->openmp.team,
		               .parent = parent,
		               .group = parent->group,
		               .created = openmp_message(),
		               .outs = outs,
		               .ins = ins,
		               .pc = pc,
		               .block = block,
		               .addresses = (uintptr_t *)(void *)block };
	if (addresses)
		memcpy(task->addresses, addresses, (outs + ins) * sizeof(*addresses));
	uintptr_t at = (uintptr_t)(task->addresses + outs + ins);
	task->data = (void *)((at + alignment - 1) / alignment * alignment);
	/* another task's memory before: its former uses no longer order anything */
	log_event(t, LOG_GIVEN, 0, pc, (uintptr_t)block, room, 2);
	if (copy)
		copy(task->data, data);
	else if (size > 0) /* else `data` may be NULL */
		memcpy(task->data, data, size);
	__atomic_add_fetch(&parent->users, 1, __ATOMIC_RELAXED);
	return task;
}

/* Its creator runs it, before it continues. */
static void run_at_once(struct thread *t, void (*fn)(void *), void *data,
                        void (*copy)(void *, void *), size_t size, size_t alignment,
                        void **depend, uintptr_t pc)
{
	unsigned outs, ins;
	if (depend && t->openmp.team) {
		const uintptr_t *a = depend_list(depend, &outs, &ins);
		await_dependences(t, a, outs, ins, pc);
		depend_received(t, a, outs, ins, pc);
	}
	if (copy) {
		char *block = __builtin_alloca(size + alignment);
		char *at = (char *)(((uintptr_t)block + alignment - 1) / alignment * alignment);
		copy(at, data);
		fn(at);
	} else {
		fn(data);
	}
}

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
               long alignment, bool deferred, unsigned flags, void **depend, int priority,
               void *detach)
{
	struct thread *t = recording();
	uintptr_t pc = CALLER();
	if (!t || !t->openmp.team || detach || (!rt.controlled && flags & TASK_REDUCTION)) {
		REAL(GOMP_task)
		(fn, data, copy, size, alignment, deferred, flags, depend, priority, detach);
		return;
	}
	if (!(flags & TASK_DEPEND))
		depend = NULL;
	alignment = alignment > 0 ? alignment : 1;
	bool alone = t->openmp.team->size == 1 || flags & (TASK_FINAL | TASK_REDUCTION);
	/* in free mode only libgomp knows whether the tasks that it depends on have ended */
	if (alone || (!deferred && (rt.controlled || !depend))) {
		run_at_once(t, fn, data, copy, (size_t)size, (size_t)alignment, depend, pc);
		return;
	}
	struct task *task =
	        task_new(t, fn, data, copy, (size_t)size, (size_t)alignment, depend, pc);
	if (!task) {
		fn(data);
		return;
	}
	sched_point(t);
	openmp_send(t, task->created, pc);
	if (!rt.controlled) {
		REAL(GOMP_task)
		(run_by_libgomp, &task, NULL, sizeof(task), _Alignof(struct task *), deferred,
		 flags, depend, priority, NULL);
		return;
	}
	plan_point(t);
	/* a thread that waits takes it or not, which is no outcome of an event of its own */
	order_matters("which thread of a team runs a task of OpenMP");
	openmp_share(t, t->openmp.team, pc);
	task->parent->left++;
	for (struct group *g = task->group; g; g = g->outer)
		g->left++;
	if (t->openmp.team->last)
		t->openmp.team->last->next = task;
	else
		t->openmp.team->first = task;
	t->openmp.team->last = task;
	sched_wake(t->openmp.team->barrier, FOR_BARRIER, UINT_MAX);
}

/* ---- loops of tasks ---- */

EXPORT void GOMP_taskgroup_start(void);
EXPORT void GOMP_taskgroup_end(void);
EXPORT void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *),
                          long size, long alignment, unsigned flags, unsigned long tasks,
                          int priority, long start, long end, long step);

void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                   long alignment, unsigned flags, unsigned long tasks, int priority,
                   long start, long end, long step)
{
	struct thread *t = recording();
	bool up = step > 0;
	if (!t || !t->openmp.team || flags & TASK_REDUCTION) {
		REAL(GOMP_taskloop)
		(fn, data, copy, size, alignment, flags, tasks, priority, start, end, step);
		return;
	}
	if (up ? start >= end : start <= end)
		return;
	unsigned long n = up ? (unsigned long)(end - start + step - 1) / (unsigned long)step
	                     : (unsigned long)(start - end - step - 1) / (unsigned long)-step;
	if (flags & TASK_GRAINSIZE && tasks)
		tasks = n / tasks;
	else if (!tasks)
		tasks = t->openmp.team->size;
	tasks = tasks < 1 ? 1 : tasks < n ? tasks : n;
	alignment = alignment > 0 ? alignment : 1;
	char *block = __builtin_alloca((size_t)(size + alignment));
	long *part = (long *)(void *)(((uintptr_t)block + (size_t)alignment - 1) /
	                              (size_t)alignment * (size_t)alignment);
	if (!(flags & TASK_NOGROUP))
		GOMP_taskgroup_start();
	for (unsigned long i = 0; i < tasks; i++) {
		unsigned long count = n / tasks + (i < n % tasks);
		if (copy)
			copy(part, data);
		else
			memcpy(part, data, (size_t)size);
		part[0] = start;
		part[1] = start += (long)count * step;
		/* values that `copy` made are moved as they are: they live until the task has
		 * ended */
		GOMP_task(fn, part, NULL, size, alignment, (flags & TASK_IF) != 0,
		          flags & TASK_FINAL, NULL, priority, NULL);
	}
	if (!(flags & TASK_NOGROUP))
		GOMP_taskgroup_end();
}

/* ---- waiting for tasks ---- */

/* Runs tasks until `*left` of them is 0: children of the thread's task, or a group's. */
static void await_tasks(struct thread *t, const volatile unsigned *left, bool children,
                        uintptr_t pc)
{
	struct task self = { .family = family_of(t) };
	while (*left && rt.on) {
		if (task_run_one(t, t->openmp.team, children ? &self : NULL, pc))
			continue;
		t->sched.pc = pc;
		if (*left)
			sched_block(t, FOR_BARRIER, t->openmp.team->barrier, false, 0);
	}
}

EXPORT void GOMP_taskwait(void);
void GOMP_taskwait(void)
{
	struct thread *t = recording();
	if (!t || !t->openmp.team) {
		REAL(GOMP_taskwait)();
		return;
	}
	struct family *f = family_of(t);
	sched_point(t);
	if (rt.controlled)
		await_tasks(t, &f->left, true, CALLER());
	else
		REAL(GOMP_taskwait)();
	openmp_receive(t, f->message, CALLER());
}

EXPORT void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend(void **depend)
{
	struct thread *t = recording();
	unsigned outs, ins;
	if (!t || !t->openmp.team) {
		REAL(GOMP_taskwait_depend)(depend);
		return;
	}
	const uintptr_t *a = depend_list(depend, &outs, &ins);
	sched_point(t);
	if (rt.controlled)
		await_dependences(t, a, outs, ins, CALLER());
	else
		REAL(GOMP_taskwait_depend)(depend);
	depend_received(t, a, outs, ins, CALLER());
}

EXPORT void GOMP_taskyield(void);
void GOMP_taskyield(void)
{
	struct thread *t = recording();
	if (t && t->openmp.team && rt.controlled)
		sched_point(t);
	else
		REAL(GOMP_taskyield)();
}

void GOMP_taskgroup_start(void)
{
	struct thread *t = recording();
	REAL(GOMP_taskgroup_start)(); /* reductions look there */
	if (!t || !t->openmp.team)
		return;
	struct family *f = family_of(t);
	struct group *g = __libc_malloc(sizeof(*g));
	if (f && g) {
		*g = (struct group){ .outer = f->group, .message = openmp_message() };
		f->group = g;
	}
}

void GOMP_taskgroup_end(void)
{
	struct thread *t = recording();
	struct family *f = t && t->openmp.team ? family_of(t) : NULL;
	struct group *g = f ? f->group : NULL;
	if (g && rt.controlled) {
		sched_point(t);
		await_tasks(t, &g->left, false, CALLER());
		openmp_receive(t, g->message, CALLER()); /* before libgomp frees memory */
	}
	REAL(GOMP_taskgroup_end)();
	if (!g)
		return;
	f->group = g->outer;
	if (!rt.controlled)
		openmp_receive(t, g->message, CALLER());
	__libc_free(g);
}
