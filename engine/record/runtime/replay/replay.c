/*
 * replay.c - follows a plan: the events of a witness, in its order, then holds the two
 * threads of the pair before their accesses.
 *
 * A thread is identified by its place among its parent's children and an event by its number
 * in its thread, so that addresses need not be the same. The plan's code addresses show a
 * divergence at the first event that differs.
 */
#include <sys/mman.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/core/one_thread.h"
#include "engine/record/runtime/core/rt.h"

static struct log_step *steps;
static struct log_thread *threads;
static struct log_answer *answers;
static const char *inputs; /* struct log_input with their parts, by thread */
static struct range {
	const struct log_input *from, *end;
} * inputs_of;                 /* by thread */
static uint32_t *answer_start; /* by thread: index into answers */
static uint32_t position;
static int nested;         /* invocations that began inside of one whose end is awaited */
static uint32_t *next_of;  /* by step: the thread's next step; for replay_turn */
static uint32_t *first_of; /* by thread: its next step in the plan */
static enum { FOLLOWING, GATHERING, HOLDING, FIRST, SECOND, OVER } phase;
static bool arrived[2];
static bool paired; /* both of the pair have made their accesses */

/* The kept parts of the plan lie together. */
static char *room;

static void *take_room(uint64_t bytes)
{
	char *p = room;
	room += (bytes + 23) & ~15ull; /* 8 more, and aligned */
	return p;
}

static bool make_room(void)
{
	const struct log_config *c = &rt.config;
	uint64_t parts[] = { c->plan_length * sizeof(*steps),
		             c->thread_count * sizeof(*threads),
		             c->answer_count * sizeof(*answers),
		             c->input_bytes,
		             (c->thread_count + 1) * sizeof(*inputs_of),
		             (c->plan_length + 1) * sizeof(*next_of),
		             (c->thread_count + 1) * sizeof(*first_of),
		             (c->thread_count + 2) * sizeof(*answer_start) };
	uint64_t bytes = 0;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		bytes += parts[i] + 24;
	return (room = rt_pages(bytes)) != NULL;
}

static void *read_all(int fd, uint64_t *offset, uint64_t bytes)
{
	char *p = take_room(bytes);
	rewind_touch(p, bytes);
	for (uint64_t done = 0; done < bytes;) {
		long n = syscall(SYS_pread64, fd, p + done, bytes - done, *offset + done);
		if (n <= 0)
			return NULL;
		done += n;
	}
	*offset += bytes;
	return p;
}

static const struct log_input *input_at(const char *p)
{
	return (const void *)p;
}

static bool load_inputs(int fd, uint64_t *offset)
{
	const struct log_config *c = &rt.config;
	inputs = read_all(fd, offset, c->input_bytes);
	inputs_of = take_room((c->thread_count + 1) * sizeof(*inputs_of));
	if (!inputs)
		return false;
	const char *p = inputs;
	for (uint32_t i = 0; i < c->input_count; i++) {
		const struct log_input *in = input_at(p);
		p += sizeof(*in);
		for (unsigned k = 0; k < LOG_PARTS; k++)
			p += (in->length[k] + 7u) & ~7u;
		if (in->thread >= c->thread_count)
			continue;
		struct range *r = &inputs_of[in->thread];
		if (!r->from)
			r->from = in;
		r->end = input_at(p);
	}
	if (!(c->flags & LOG_EXPLORE))
		rt.inputs = c->input_count > 0 ? INPUTS_GIVEN : INPUTS_ASKED;
	return true;
}

void replay_inputs(uint32_t id, const struct log_input **from, const struct log_input **end)
{
	struct range r = { 0 };
	if (id < rt.config.thread_count)
		r = inputs_of[id];
	*from = r.from ? r.from : input_at(inputs);
	*end = r.from ? r.end : input_at(inputs);
}

/* 0: the step is no message, or it is not known which. */
static uint64_t step_message(const struct log_step *s)
{
	return s->tag == LOG_SND || s->tag == LOG_RCV ? s->reads | (uint64_t)s->after << 32 : 0;
}

bool replay_load(int fd, uint64_t offset)
{
	struct log_config *c = &rt.config;
	if (!make_room())
		return false;
	steps = read_all(fd, &offset, c->plan_length * sizeof(*steps));
	threads = read_all(fd, &offset, c->thread_count * sizeof(*threads));
	answers = read_all(fd, &offset, c->answer_count * sizeof(*answers));
	next_of = take_room((c->plan_length + 1) * sizeof(*next_of));
	first_of = take_room((c->thread_count + 1) * sizeof(*first_of));
	answer_start = take_room((c->thread_count + 2) * sizeof(*answer_start));
	if (!load_inputs(fd, &offset) || !steps || !threads || !answers)
		return false;
	for (uint32_t i = 0; i < c->thread_count; i++)
		first_of[i] = UINT32_MAX;
	for (uint32_t i = c->plan_length; i-- > 0;) {
		next_of[i] = first_of[steps[i].thread];
		first_of[steps[i].thread] = i;
		/* messages that the plan does not name are numbered after its own */
		uint32_t number = (uint32_t)step_message(&steps[i]);
		if (!(c->flags & LOG_EXPLORE) && number > rt.messages)
			rt.messages = number;
	}
	/* answers are sorted by thread */
	uint32_t k = 0;
	for (uint32_t i = 0; i <= c->thread_count; i++) {
		while (k < c->answer_count && answers[k].thread < i)
			k++;
		answer_start[i] = k;
	}
	return true;
}

uint32_t replay_child(uint32_t parent, uint32_t ordinal)
{
	for (uint32_t i = 1; i < rt.config.thread_count; i++)
		if (threads[i].parent == parent && threads[i].ordinal == ordinal)
			return i;
	return UINT32_MAX;
}

uint64_t replay_turn(uint32_t thread)
{
	return thread < rt.config.thread_count ? first_of[thread] : UINT32_MAX;
}

/* The plan's turn for the wake of a thread that waits for a condition, when a signal is to
 * end its wait; or the last step of all, which may be one. */
uint64_t replay_wake_turn(uint32_t thread)
{
	uint32_t i = thread < rt.config.thread_count ? first_of[thread] : UINT32_MAX;
	while (i < rt.config.plan_length && steps[i].tag != LOG_WAKE &&
	       steps[i].tag != LOG_NOTHING)
		i = next_of[i];
	return i < rt.config.plan_length && steps[i].late ? (uint64_t)UINT32_MAX + 1 : i;
}

bool replay_runs_handler(uint32_t thread)
{
	uint64_t i = replay_turn(thread);
	return i < rt.config.plan_length && steps[i].tag == LOG_RCV && steps[i].late;
}

bool replay_ends_early(uint32_t thread)
{
	uint64_t i = replay_turn(thread);
	return i < rt.config.plan_length && steps[i].tag == LOG_WAKE && steps[i].late;
}

bool replay_answer(struct thread *t, uint32_t clock, struct timespec *answer)
{
	if (t->id >= rt.config.thread_count)
		return false;
	uint32_t i = answer_start[t->id] + t->libc.questions;
	if (i >= answer_start[t->id + 1] || answers[i].clock != clock)
		return false;
	answer->tv_sec = answers[i].seconds;
	answer->tv_nsec = answers[i].nanoseconds;
	return true;
}

/* Whose turn it is. */
uint32_t replay_next(void)
{
	switch (phase) {
	case FOLLOWING:
		return position < rt.config.plan_length ? steps[position].thread : UINT32_MAX;
	case GATHERING:
	case HOLDING:
		return arrived[0] ? rt.config.pair[1] : rt.config.pair[0];
	case FIRST:
		return rt.config.pair[rt.config.first - 1];
	case SECOND:
		return rt.config.pair[2 - rt.config.first];
	default:
		return UINT32_MAX;
	}
}

/* The plan cannot be followed any more; `pc`: of the event. */
static void diverged(struct thread *t, enum log_divergence why, uintptr_t pc)
{
	log_fact(LOG_LEFT_PLAN, why, t->id, (uint64_t[]){ position, pc }, 2);
	rt_finish(LOG_DIVERGED);
	rt.header->replayed = position;
	phase = OVER;
	rt.replay = false; /* the program runs freely to its end */
}

static void log_stack(unsigned side, const struct thread *t)
{
	enum { MOST = 128 };
	struct log_stopped frames[MOST];
	unsigned count = 0;
	for (uint32_t i = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	     i-- > 0 && count < MOST;)
		frames[count++] =
		        (struct log_stopped){ t->frames[i].function, t->frames[i].call };
	if (me->stream)
		log_blob(me, LOG_STOPPED, side, NULL, 0, frames, count * sizeof(*frames));
}

static void hold(struct thread *t)
{
	for (unsigned i = 0; i < 2; i++)
		if (rt.config.pair[i] < MAX_THREADS && rt.threads[rt.config.pair[i]])
			log_stack(i, rt.threads[rt.config.pair[i]]);
	__atomic_store_n(&rt.header->stopped, 1, __ATOMIC_RELEASE);
	clock_pair();
	if (rt.config.hold ==
	    LOG_HOLD_PAIR) { /* until the parent (with a debugger) lets it continue */
		while (__atomic_load_n(&rt.header->stopped, __ATOMIC_ACQUIRE) == 1) {
			struct timespec pause = { 0, 20000000 };
			syscall(SYS_nanosleep, &pause, NULL);
		}
	}
	if (rt.config.first == 0)
		phase = OVER;
}

/* Is the last step optional: any event of the thread is accepted, or none, as it continues
 * after the plan? */
static bool is_optional(void)
{
	return phase == FOLLOWING && position + 1 == rt.config.plan_length &&
	       steps[position].tag == LOG_NOTHING && steps[position].pc == 0;
}

bool replay_lets_go(void)
{
	return !replay_strict() || is_optional();
}

static void diverged_by(struct thread *next)
{
	enum log_divergence why = next->sched.state == STATE_DONE ? DIVERGED_ENDED
	                          : next->sched.spins             ? DIVERGED_SPINS
	                                                          : DIVERGED_BLOCKED;
	diverged(next, why, next->sched.spins ? 0 : next->sched.pc);
}

static void arrivals(struct thread *t);

/* Is the thread's next step the arrival of a store? */
static bool awaits_arrival(const struct thread *t)
{
	return phase == FOLLOWING && t->id < rt.config.thread_count &&
	       first_of[t->id] < rt.config.plan_length &&
	       steps[first_of[t->id]].tag == LOG_FLUSH;
}

/* Position of `t`: before its next event, before a call that is no event, or before it can
 * continue when the stores have arrived that the plan lets arrive before its next event. */
enum stand { BEFORE_EVENT, BEFORE_CALL, BEFORE_ARRIVALS };

/* The thread to run for the next step of `t`: where `t` joins a thread without a step left,
 * that thread, as its end is no step. */
static struct thread *before_step(struct thread *t)
{
	while (t->sched.state == STATE_BLOCKED && t->sched.reason == FOR_THREAD) {
		const struct thread *joined = t->sched.object;
		if (joined->sched.state == STATE_DONE ||
		    replay_turn(joined->id) < rt.config.plan_length)
			break;
		t = rt.threads[joined->id];
	}
	return t;
}

/* Whose turn is it? */
static void take_turns(struct thread *t, enum stand stand)
{
	for (;;) {
		arrivals(t);
		if (!rt.replay || (stand == BEFORE_ARRIVALS && !awaits_arrival(t)))
			return;
		if (phase == FOLLOWING && position >= rt.config.plan_length) {
			rt.header->replayed = position;
			phase = rt.config.pair[0] == LOG_ALL_THREADS ? OVER : GATHERING;
		}
		if (phase == GATHERING) {
			for (unsigned i = 0; i < 2; i++)
				if ((stand == BEFORE_EVENT && rt.config.pair[i] == t->id) ||
				    rt.config.pair[i] == LOG_ALL_THREADS)
					arrived[i] = true;
			if (arrived[0] && arrived[1]) {
				hold(t);
				if (phase != OVER)
					phase = FIRST;
			}
		}
		if (phase == OVER) {
			rt.replay = false;
			/* the continuation must not depend on which of the pair came last */
			if (paired && rt.config.strategy == STRATEGY_FIRST)
				sched_lowest(t);
			return;
		}
		uint32_t id = replay_next();
		if (id == t->id) {
			enum held_step held = held_planned(t);
			if (held == HELD_NONE ||
			    (held == HELD_NEVER && position + 1 < rt.config.plan_length))
				return;
			if (held == HELD_NEVER)
				phase = OVER;
			continue;
		}
		struct thread *next = id < MAX_THREADS ? rt.threads[id] : NULL;
		if (!next && sched_await_birth(id))
			next = rt.threads[id];
		if (!next) {
			diverged(t, DIVERGED_UNBORN, 0);
			return;
		}
		if (phase == FOLLOWING && !is_optional())
			next = before_step(next);
		if (next == t)
			return;
		if (!sched_force(t, next, true)) {
			if (phase == FIRST || phase == SECOND) {
				phase = OVER;
				rt.replay = false;
				return;
			}
			if (is_optional()) {
				rt.header->replayed = position;
				phase = OVER;
				rt.replay = false;
				return;
			}
			diverged_by(next);
			return;
		}
	}
}

void replay_point(struct thread *t)
{
	take_turns(t, BEFORE_EVENT);
}

void replay_call(struct thread *t)
{
	take_turns(t, BEFORE_CALL);
}

void replay_arrivals(struct thread *t)
{
	if (awaits_arrival(t))
		take_turns(t, BEFORE_ARRIVALS);
}

bool replay_expects(const struct thread *t, enum log_tag tag, uintptr_t pc)
{
	uint64_t next = replay_turn(t->id);
	return next < rt.config.plan_length && steps[next].tag == tag &&
	       (steps[next].pc == 0 || steps[next].pc == pc);
}

bool replay_may_access(const struct thread *t, uintptr_t pc)
{
	uint64_t next = replay_turn(t->id);
	return next >= rt.config.plan_length ||
	       ((steps[next].tag == LOG_READ || steps[next].tag == LOG_WRITE) &&
	        (steps[next].pc == 0 || steps[next].pc == pc));
}

uint64_t replay_message(const struct thread *t, enum log_tag tag)
{
	uint64_t next = replay_turn(t->id);
	bool known = next < rt.config.plan_length && steps[next].tag == tag &&
	             !(rt.config.flags & LOG_EXPLORE);
	return known ? step_message(&steps[next]) : 0;
}

const struct log_step *replay_step(const struct thread *t)
{
	return rt.replay && phase == FOLLOWING && position < rt.config.plan_length &&
	                       steps[position].thread == t->id && !steps[position].whole
	               ? &steps[position]
	               : NULL;
}

uint32_t replay_step_number(const struct log_step *step)
{
	return (uint32_t)(step - steps);
}

uint32_t replay_made(void)
{
	return rt.replay && phase == FOLLOWING && position > 0 ? STEP_STORE + position - 1 : 0;
}

void replay_refuse(struct thread *t, uintptr_t pc)
{
	diverged(t, DIVERGED_OPERATION, pc);
}

/* Executes the plan's next steps that are arrivals of stores. */
static void arrivals(struct thread *t)
{
	while (rt.replay && phase == FOLLOWING && position < rt.config.plan_length &&
	       steps[position].tag == LOG_FLUSH) {
		uint32_t id = steps[position].thread;
		if (!memory_arrive(id < MAX_THREADS ? rt.threads[id] : NULL)) {
			diverged(t, DIVERGED_OPERATION, 0);
			return;
		}
		first_of[id] = next_of[position];
		position++;
	}
}

bool replay_strict(void)
{
	return rt.replay && (phase == FOLLOWING || phase == GATHERING);
}

bool replay_poisons(void)
{
	static bool done;
	bool now = rt.config.poison && !done && position == rt.config.poison;
	done |= now;
	return now;
}

void replay_left(struct thread *t, const char *text)
{
	log_note("input", text);
	diverged(t, DIVERGED_INPUT, 0);
}

/* Has `t`, whose turn it is, spent a second of processor time on giving way? */
static bool pauses_only(struct thread *t)
{
	enum { LOOK = 1024 };
	const uint64_t most = 1000000000;
	if (t->replay.paused != t->ordinal + 1) {
		t->replay.paused = t->ordinal + 1;
		t->replay.pauses = 0;
	}
	if (++t->replay.pauses % LOOK)
		return false;
	struct timespec now;
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	uint64_t used = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (t->replay.pauses == LOOK)
		t->replay.pause_start = used;
	return used - t->replay.pause_start > most;
}

void replay_pause(struct thread *t)
{
	take_turns(t, BEFORE_CALL);
	if (rt.replay && pauses_only(t))
		diverged(t, DIVERGED_SPINS, 0);
}

/* `t` has made an event. */
void replay_event(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	switch (phase) {
	case FOLLOWING: {
		if (position >= rt.config.plan_length)
			return;
		struct log_step *s = &steps[position];
		if (s->thread != t->id) {
			diverged(t, DIVERGED_ORDER, pc);
			return;
		}
		if (s->whole) {
			nested += tag == LOG_CALL;
			if (tag != LOG_RET || nested-- > 0)
				return;
			nested = 0;
		}
		if (s->tag != LOG_NOTHING && s->tag != tag) {
			diverged(t, DIVERGED_OPERATION, pc);
			return;
		}
		if (s->pc && s->pc != pc) {
			diverged(t, DIVERGED_PLACE, pc);
			return;
		}
		if (tag == LOG_WAKE && s->tag == LOG_WAKE && s->late == t->sync.woken) {
			diverged(t, DIVERGED_OPERATION, pc);
			return;
		}
		t->poll.repeats = s->repeats;
		first_of[t->id] = next_of[position];
		position++;
		if (!(rt.config.flags & LOG_EXPLORE)) /* should it end here */
			rt.header->replayed = position;
		break;
	}
	case FIRST:
		if (t->id == rt.config.pair[rt.config.first - 1])
			phase = SECOND;
		break;
	case SECOND:
		if (t->id == rt.config.pair[2 - rt.config.first]) {
			phase = OVER;
			paired = true;
			__atomic_store_n(&rt.header->stopped, 3, __ATOMIC_RELEASE);
		}
		break;
	default:
		break;
	}
}
