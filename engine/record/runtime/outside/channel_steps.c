/*
 * channel_steps.c - operations on channels as steps of an exploration, and of the replay of one
 * of its runs (LOG_FUTEXES).
 *
 * A call that may have to wait is two events of its thread, accesses of a variable that stands
 * for the channel (layout.h): it asks, then waits in the scheduler as ever, and acts. A plan
 * says when it acts. So a call with a limit in time finds, in its turn, what is there: its time
 * is up where that is nothing. What an operation does in another order, the explorer computes
 * (explore/runs/channel_steps.c): what the kernel has is not asked for.
 *
 * The order between threads is a message of the channel, which writers send before they act,
 * and readers receive, without waiting for it, after they did.
 *
 * A channel is told of in this way from its making on, until another process, or a call that
 * is not known here, may use it too (channel_steps_end); then order_matters says so.
 */
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

static struct step_channel {
	const void *place; /* of its variable; NULL: its operations are no steps */
	uint64_t message;
	bool counts; /* an eventfd */
} steps[CHANNELS];

static const struct step_channel *of(unsigned channel)
{
	return channel && channel < CHANNELS && steps[channel].place ? &steps[channel] : NULL;
}

bool channel_has_steps(unsigned channel)
{
	return of(channel) != NULL;
}

static uint64_t value_of(enum log_channel_op op, unsigned flags, unsigned small, uint64_t large)
{
	return LOG_CHANNEL_VALUE(op, flags, small, large);
}

/* Changes what is in the channel, or at its ends. */
static void changes(struct thread *t, const struct step_channel *c, uint64_t value,
                    uintptr_t pc)
{
	plan_point(t);
	log_rmw(t, 0, pc, c->place, 3, value, value ^ 1);
	poll_changed();
}

static void asks(struct thread *t, const struct step_channel *c, uint64_t value, uintptr_t pc)
{
	t->input.error = errno;
	t->input.question = (t->input.question ^ (uintptr_t)c->place ^ value) * HASH_FACTOR;
	plan_point(t);
	log_access(t, LOG_AREAD, 0, pc, c->place, 3, true, value);
}

static void sends(struct thread *t, const struct step_channel *c, uintptr_t pc)
{
	plan_point(t);
	log_event(t, LOG_SND, 0, pc, log_message(c->message, 0, 0, 0), 0, 1);
}

void channel_receives(struct thread *t, unsigned channel, uintptr_t pc)
{
	const struct step_channel *c = of(channel);
	int error = errno;
	if (!c)
		return;
	plan_point(t);
	log_event(t, LOG_RCV, LOG_TRY, pc, log_message(c->message, 0, 0, 0), 0, 1);
	errno = error;
}

void channel_steps_begin(struct thread *t, unsigned channel, enum log_channel_flag kind,
                         enum log_channel_form form, int reader, const int *ends,
                         unsigned count, uintptr_t pc)
{
	static unsigned made[LOG_CHANNEL_FORMS];
	if (!channel || channel >= CHANNELS)
		return;
	steps[channel].place = NULL;
	if (!futexes_are_steps() || made[form] >= LOG_CHANNELS_OF_FORM)
		return;
	steps[channel].place =
	        (const void *)(LOG_CHANNEL_PLACES +
	                       8ul * (form * LOG_CHANNELS_OF_FORM + made[form]++));
	steps[channel].message = ++rt.messages;
	steps[channel].counts = kind == LOG_CHANNEL_COUNTER || kind == LOG_CHANNEL_SEMAPHORE;
	plan_point(t);
	log_rmw(t, 0, pc, steps[channel].place, 3, value_of(LOG_CHANNEL_MAKES, kind, 0, count),
	        (uintptr_t)ends | (uint64_t)(unsigned)reader << 48);
}

void channel_steps_end(unsigned channel, const char *operation)
{
	if (!of(channel))
		return;
	order_matters_later(operation);
	steps[channel].place = NULL;
}

/* The ends that the descriptor is of a channel. */
static void at_end(struct thread *t, enum log_channel_op op, unsigned channel, unsigned ends,
                   uintptr_t pc)
{
	const struct step_channel *c = of(channel);
	if (!c)
		return;
	if (op == LOG_CHANNEL_CLOSES) {
		sched_point_at(t, c->place);
		if (ends & LOG_CHANNEL_WRITER)
			sends(t, c, pc);
	}
	changes(t, c, value_of(op, ends, 0, 0), pc);
}

static void at_ends(struct thread *t, enum log_channel_op op, int fd, uintptr_t pc)
{
	unsigned reads = outside_reads(fd), writes = outside_writes(fd);
	if (reads && reads == writes) {
		at_end(t, op, reads, LOG_CHANNEL_READER | LOG_CHANNEL_WRITER, pc);
		return;
	}
	at_end(t, op, reads, LOG_CHANNEL_READER, pc);
	at_end(t, op, writes, LOG_CHANNEL_WRITER, pc);
}

void channel_copies(struct thread *t, int fd, uintptr_t pc)
{
	at_ends(t, LOG_CHANNEL_COPIES, fd, pc);
}

void channel_closes(struct thread *t, int fd, uintptr_t pc)
{
	int error = errno;
	at_ends(t, LOG_CHANNEL_CLOSES, fd, pc);
	errno = error;
}

bool channel_shuts(struct thread *t, int fd, int how, uintptr_t pc)
{
	unsigned reads = how != SHUT_WR ? outside_reads(fd) : 0,
	         writes = how != SHUT_RD ? outside_writes(fd) : 0;
	if ((how != SHUT_WR && !of(reads)) || (how != SHUT_RD && !of(writes)))
		return false;
	const unsigned all = LOG_CHANNEL_READER | LOG_CHANNEL_WRITER | LOG_CHANNEL_ALL;
	at_end(t, LOG_CHANNEL_CLOSES, writes, all, pc);
	at_end(t, LOG_CHANNEL_CLOSES, reads, all, pc);
	return true;
}

/* ---- calls that ask and act ---- */

/* Waits for the thread's turn to act. True: the plan says that it is now. */
static bool turn(struct thread *t)
{
	plan_point(t);
	return replay_step(t) != NULL;
}

static const struct step_channel *point(struct thread *t, unsigned channel)
{
	const struct step_channel *c = of(channel);
	if (c)
		sched_point_at(t, c->place);
	return c;
}

bool channel_asks_read(struct thread *t, unsigned channel, size_t most, bool at_once,
                       uintptr_t pc)
{
	const struct step_channel *c = most > 0 ? point(t, channel) : NULL;
	unsigned flags = at_once ? LOG_CHANNEL_AT_ONCE : 0;
	t->input.entered &= at_once;
	if (!c)
		return false;
	asks(t, c, value_of(LOG_CHANNEL_READS, flags, 0, most < UINT32_MAX ? most : UINT32_MAX),
	     pc);
	t->input.asks = channel;
	turn(t);
	return true;
}

bool channel_asks_write(struct thread *t, unsigned channel, size_t bytes, uintptr_t pc)
{
	const struct step_channel *c = bytes > 0 ? point(t, channel) : NULL;
	if (!c)
		return false;
	if (bytes > UINT16_MAX)
		order_matters_later("writing much to a pipe or socket at once");
	t->input.entered = false;
	asks(t, c, value_of(LOG_CHANNEL_WRITES, 0, (unsigned)bytes, t->input.contents), pc);
	t->input.contents = 0;
	sends(t, c, pc);
	t->input.asks = channel;
	turn(t);
	return true;
}

/* A call that does not wait is a look, as one at an atomic is: the thread's state before it. */
static void looks(struct thread *t, const struct step_channel *c)
{
	if (t->input.entered && memory_states && !rt.memory) {
		memory_wrote(t);
		errno = t->input.error;
		memory_state(t, c->place, 0, t->input.question, 0);
	}
}

void channel_acts(struct thread *t, unsigned channel, int64_t result, bool changed,
                  uintptr_t pc)
{
	const struct step_channel *c = of(channel ? channel : t->input.asks);
	int error = errno;
	if (c && t->input.asks) {
		uint64_t value = value_of(LOG_CHANNEL_ACTS, 0, 0,
		                          (uint64_t)(result < 0 ? -error : result));
		looks(t, c);
		if (changed)
			changes(t, c, value, pc);
		else
			log_access(t, LOG_AREAD, 0, pc, c->place, 3, true, value);
	}
	t->input.asks = 0;
	t->input.question = 0;
	t->input.entered = false;
	errno = error;
}

/* The channels that a poll of the descriptor looks at; false: it looks at something else. */
static bool looks_at(const struct pollfd *f, unsigned *reads, unsigned *writes)
{
	*reads = outside_reads(f->fd);
	*writes = outside_writes(f->fd);
	return (*reads || *writes) && (!*reads || of(*reads)) && (!*writes || of(*writes));
}

static void asks_poll(struct thread *t, unsigned channel, unsigned flags, uintptr_t pc)
{
	if (channel)
		asks(t, of(channel), value_of(LOG_CHANNEL_POLLS, flags, 0, 0), pc);
}

bool channels_ask(struct thread *t, const struct pollfd *fds, unsigned n, int64_t milliseconds,
                  bool *planned, uintptr_t pc)
{
	bool at_once = milliseconds >= 0;
	unsigned first = 0, reads, writes;
	*planned = false;
	t->input.entered &= at_once;
	for (unsigned i = 0; i < n; i++)
		if (fds[i].fd >= 0 && !looks_at(&fds[i], &reads, &writes))
			return false;
	for (unsigned i = 0; i < n; i++) {
		if (fds[i].fd < 0)
			continue;
		order_of_use(fds[i].fd, false);
		looks_at(&fds[i], &reads, &writes);
		if (!first)
			point(t, first = reads ? reads : writes);
		unsigned flags = (at_once ? LOG_CHANNEL_AT_ONCE : 0) |
		                 (milliseconds > 0 ? LOG_CHANNEL_TIMED : 0);
		unsigned in = fds[i].events & (POLLIN | POLLRDNORM) ? LOG_CHANNEL_IN : 0,
		         hangup = fds[i].events & POLLRDHUP ? LOG_CHANNEL_HANGUP : 0;
		unsigned out = fds[i].events & (POLLOUT | POLLWRNORM) ? LOG_CHANNEL_OUT : 0;
		asks_poll(t, reads, flags | in | hangup, pc);
		if (out || reads != writes)
			asks_poll(t, writes, flags | out | LOG_CHANNEL_WRITING, pc);
	}
	t->input.asks = first;
	*planned = first && turn(t);
	return first;
}

/* ---- what is written ---- */

/* Bytes that may hold an address differ between runs of one class. */
static bool may_be_address(const unsigned char *p, size_t size)
{
	const uint64_t low = 1 << 16, high = 1ull << 47;
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at += 4) {
		uint64_t word;
		memcpy(&word, p + at, sizeof(word));
		if (word >= low && word < high)
			return true;
	}
	return false;
}

static uint64_t number_of(uint64_t h, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	return h;
}

void channel_contents(struct thread *t, unsigned channel, const struct iovec *v, size_t count)
{
	const struct step_channel *c = of(channel);
	uint64_t number = 0xcbf29ce484222325, added = 0;
	t->input.contents = 0;
	if (!c)
		return;
	if (c->counts) {
		if (v->iov_len == sizeof(added))
			memcpy(&added, v->iov_base, sizeof(added));
		if (added > INT32_MAX)
			channel_steps_end(channel, "adding much to an eventfd");
		t->input.contents = (uint32_t)added;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (may_be_address(v[i].iov_base, v[i].iov_len))
			return;
		number = number_of(number, v[i].iov_base, v[i].iov_len);
	}
	number ^= number >> 32;
	t->input.contents = (uint32_t)number ? (uint32_t)number : 1;
}
