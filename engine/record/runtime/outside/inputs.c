/*
 * inputs.c - records input, and supplies it on replay.
 *
 * On replay each thread gets its recorded input in its own order: along a witness every thread
 * performs its recorded steps, so other requests mean that it left the witness. After the
 * witness, matching input is searched further on in the thread's input; without any, input
 * ends, and the run ends when all threads wait for it.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"

static const struct {
	const char *name;
	enum log_asks asks;
} calls[LOG_INPUT_COUNT] = {
#define C(name, asks) { #name, LOG_##asks },
	LOG_INPUTS(C)
#undef C
};

/* -- recording
 * ------------------------------------------------------------------------------------ */

/* Bounded by the log's space for unpublished records. */
enum { PIECE = 1 << 15 };

static void put(struct thread *t, unsigned flags, const void *bytes, size_t length)
{
	struct stream *s = t->stream;
	const char *from = bytes;
	while (length > 0) {
		size_t here = length < PIECE ? length : PIECE, words = (here + 7) / 8;
		uint64_t *w = log_room(s, 1 + words);
		w[words] = 0;
		memcpy(w + 1, from, here);
		BARRIER();
		w[0] = log_word(LOG_INPUT, flags, here);
		s->next = w + 1 + words;
		from += here;
		length -= here;
		flags = LOG_MORE;
	}
}

static void put_head(struct thread *t, const struct log_input *in)
{
	log_value(t);
	if (t->stream->last != t->id)
		log_switch(t);
	put(t, 0, in, sizeof(*in));
}

static struct log_input head_of(const struct thread *t, enum log_input_call call, int fd,
                                int64_t result)
{
	return (struct log_input){ .thread = t->id,
		                   .call = call,
		                   .fd = fd,
		                   .error = result < 0 ? errno : 0,
		                   .result = result,
		                   .ordinal = t->ordinal };
}

static uint8_t next_flags;

void input_is_own(void)
{
	next_flags = LOG_OWN;
}

void input_keep_signal(struct thread *t, int number, bool within)
{
	if (rt.inputs != INPUTS_KEPT)
		return;
	struct log_input in = head_of(t, LOG_INPUT_signal, -1, number);
	in.extra = within;
	put_head(t, &in);
}

static void keep(struct thread *t, struct log_input *in, const struct piece *parts,
                 unsigned count)
{
	int error = errno;
	for (unsigned i = 0; i < count; i++)
		in->length[i] = parts[i].length;
	put_head(t, in);
	for (unsigned i = 0; i < count; i++)
		put(t, LOG_MORE, parts[i].at, parts[i].length);
	errno = error;
}

void input_keep(struct thread *t, enum log_input_call call, int fd, int64_t result,
                const struct piece *parts, unsigned count, uint32_t extra)
{
	if (rt.inputs != INPUTS_KEPT)
		return;
	struct log_input in = head_of(t, call, fd, result);
	in.extra = extra;
	keep(t, &in, parts, count);
}

void input_keep_became(struct thread *t, enum log_input_call call, int fd, int64_t result,
                       const struct piece *parts, unsigned count)
{
	if (rt.inputs != INPUTS_KEPT)
		return;
	struct log_input in = head_of(t, call, fd, result);
	in.flags = LOG_BECAME;
	keep(t, &in, parts, count);
}

void input_keep_scattered(struct thread *t, enum log_input_call call, int fd, int64_t result,
                          const struct iovec *v, size_t count, const struct piece *parts,
                          unsigned part_count, uint32_t extra)
{
	if (rt.inputs != INPUTS_KEPT)
		return;
	int error = errno;
	struct log_input in = head_of(t, call, fd, result);
	size_t left = result > 0 ? (size_t)result : 0;
	in.extra = extra;
	in.flags = next_flags;
	next_flags = 0;
	in.length[0] = left;
	for (unsigned i = 0; i < part_count; i++)
		in.length[1 + i] = parts[i].length;
	put_head(t, &in);
	for (size_t i = 0; i < count && left > 0; i++) {
		size_t here = left < v[i].iov_len ? left : v[i].iov_len;
		put(t, LOG_MORE, v[i].iov_base, here);
		left -= here;
	}
	for (unsigned i = 0; i < part_count; i++)
		put(t, LOG_MORE, parts[i].at, parts[i].length);
	errno = error;
}

/* -- supplying
 * ------------------------------------------------------------------------------------ */

static const struct log_input *after(const struct log_input *in)
{
	const char *p = (const char *)(in + 1);
	for (unsigned i = 0; i < LOG_PARTS; i++)
		p += (in->length[i] + 7u) & ~7u;
	return (const struct log_input *)(const void *)p;
}

static const struct log_input *peek(struct thread *t)
{
	if (!t->input.end)
		replay_inputs(t->id, &t->input.next, &t->input.end);
	while (t->input.next < t->input.end && t->input.next->flags & LOG_TAKEN)
		t->input.next = after(t->input.next);
	return t->input.next < t->input.end ? t->input.next : NULL;
}

void input_taken(struct thread *t)
{
	t->input.next = after(t->input.next);
}

const struct log_input *input_next(struct thread *t, enum log_input_call call)
{
	const struct log_input *in = peek(t);
	return in && in->call == call ? in : NULL;
}

/* Runs the handlers of signals at this point of the thread: before its next event, and after
 * the recorded polls. After the plan only of those from outside: the others occur by
 * themselves. */
bool input_signals(struct thread *t)
{
	const struct log_input *in;
	bool any = false;
	while ((in = input_next(t, LOG_INPUT_signal)) != NULL &&
	       (!rt.replay || (in->ordinal <= t->ordinal && !t->poll.repeats))) {
		input_taken(t);
		if (rt.replay || !in->extra)
			any |= handler_given(t, (int)in->result, in->extra);
	}
	return any;
}

static void give(const struct log_input *in, struct given *g)
{
	const char *p = (const char *)(in + 1);
	*g = (struct given){ .result = in->result,
		             .extra = in->extra,
		             .own = in->flags & LOG_OWN,
		             .recorded = true };
	for (unsigned i = 0; i < LOG_PARTS; i++) {
		g->part[i] = p;
		g->length[i] = in->length[i];
		p += (in->length[i] + 7u) & ~7u;
	}
	if (in->result < 0)
		errno = in->error;
}

static bool same_call(const struct log_input *in, enum log_input_call call, int fd,
                      uint64_t most)
{
	return in->call == call && in->fd == fd &&
	       (calls[call].asks != LOG_TAKES || in->result < 0 || call == LOG_INPUT_accept ||
	        call == LOG_INPUT_accept4 || (uint64_t)in->result <= most);
}

struct sentence { /* "read of descriptor 7, where the recording has ..." */
	char text[240];
	size_t length;
};

static void sentence_add(struct sentence *s, const char *text)
{
	while (*text && s->length + 1 < sizeof(s->text))
		s->text[s->length++] = *text++;
	s->text[s->length] = 0;
}

static void sentence_number(struct sentence *s, uint64_t n)
{
	char digits[24];
	unsigned k = sizeof(digits);
	digits[--k] = 0;
	do
		digits[--k] = (char)('0' + n % 10);
	while (n /= 10);
	sentence_add(s, digits + k);
}

static void explain(struct thread *t, enum log_input_call call, int fd, uint64_t most,
                    const struct log_input *in)
{
	struct sentence s = { .length = 0 };
	sentence_add(&s, "asked for ");
	sentence_add(&s, calls[call].name);
	if (fd >= 0) {
		sentence_add(&s, " of descriptor ");
		sentence_number(&s, (uint64_t)fd);
	}
	if (!in) {
		sentence_add(&s, ", where the recording has no more input");
	} else if (in->call == call && in->fd == fd) {
		sentence_add(&s, " for ");
		sentence_number(&s, most);
		sentence_add(&s, " bytes, where the recording has ");
		sentence_number(&s, (uint64_t)in->result);
	} else {
		sentence_add(&s, ", where the recording has ");
		sentence_add(&s, calls[in->call].name);
		if (in->fd >= 0) {
			sentence_add(&s, " of descriptor ");
			sentence_number(&s, (uint64_t)in->fd);
		}
	}
	replay_left(t, s.text);
}

enum { FAR = 1000 };

/* After the plan: the thread's next input of this kind. */
static const struct log_input *find(struct thread *t, enum log_input_call call, int fd,
                                    uint64_t most)
{
	const struct log_input *in = peek(t);
	for (unsigned i = 0; i < FAR && in && in < t->input.end; i++, in = after(in)) {
		if (in->call == LOG_INPUT_signal)
			break;
		if (!(in->flags & LOG_TAKEN) && same_call(in, call, fd, most)) {
			t->input.next = after(in);
			return in;
		}
	}
	return NULL;
}

/* ... or the input of another thread from the same descriptor. */
static const struct log_input *find_elsewhere(enum log_input_call call, int fd, uint64_t most)
{
	if (fd < 0 || calls[call].asks == LOG_WAITS)
		return NULL;
	for (uint32_t id = 0; id < rt.config.thread_count && id < MAX_THREADS; id++) {
		const struct log_input *in, *end;
		struct thread *other = rt.threads[id];
		if (other && other->input.end) {
			in = other->input.next;
			end = other->input.end;
		} else {
			replay_inputs(id, &in, &end);
		}
		for (unsigned i = 0; i < FAR && in < end; i++, in = after(in))
			if (!(in->flags & LOG_TAKEN) && same_call(in, call, fd, most)) {
				((struct log_input *)in)->flags |= LOG_TAKEN;
				return in;
			}
	}
	return NULL;
}

bool input_starve(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                  uint64_t deadline)
{
	t->input.starves = true;
	bool ready = sched_wait_files(t, fds, count, timed, deadline);
	t->input.starves = false;
	if (sched_cancelled(&t->sched))
		pthread_testcancel();
	return ready;
}

/* Only pending signals can wake a thread without input. */
bool input_last_signal(struct thread *t)
{
	const struct log_input *in = peek(t);
	while (in && in < t->input.end && in->call != LOG_INPUT_signal)
		in = after(in);
	if (!in || in >= t->input.end)
		return false;
	t->input.next = in;
	return input_signals(t);
}

static bool is_waiting(int fd)
{
	return !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

/* Makes an input up when no matching one is left. */
static void make_up(struct thread *t, enum log_input_call call, int fd, uint64_t most,
                    struct given *g)
{
	enum { ENOUGH = 1000 }; /* a thread that asks more often ignores the answer */
	*g = (struct given){ .recorded = false };
	if (calls[call].asks == LOG_GIVES)
		g->result = (int64_t)most;
	if (calls[call].asks != LOG_TAKES)
		return;
	g->result = -1;
	if (input_last_signal(t)) {
		errno = EINTR;
		return;
	}
	while (rt.on && (is_waiting(fd) || ++t->input.hungry > ENOUGH))
		input_starve(t, NULL, 0, false, 0);
	errno = EAGAIN;
}

static void give_next(struct thread *t, enum log_input_call call, int descriptor, uint64_t most,
                      struct given *g)
{
	int fd = outside_recorded(descriptor);
	/* a thread without a further step, whose last input brought nothing, waits for no turn
	 */
	if (rt.replay && replay_turn(t->id) != UINT32_MAX)
		replay_call(t);
	input_signals(t);
	const struct log_input *in = peek(t);
	if ((!in || !same_call(in, call, fd, most)) && replay_strict())
		explain(t, call, fd, most, in);
	in = find(t, call, fd, most);
	if (!in)
		in = find_elsewhere(call, fd, most);
	if (in)
		give(in, g);
	else
		make_up(t, call, descriptor, most, g);
}

bool input_given(struct thread *t, enum log_input_call call, int fd, uint64_t most,
                 struct given *g)
{
	if (rt.inputs != INPUTS_GIVEN || !outside(t, fd))
		return false;
	give_next(t, call, fd, most, g);
	return true;
}

bool input_state_given(struct thread *t, enum log_input_call call, int fd, struct given *g)
{
	if (rt.inputs != INPUTS_GIVEN || !outside_asked(t, fd))
		return false;
	give_next(t, call, fd, 0, g);
	return true;
}

bool input_became(struct thread *t, enum log_input_call call, int fd)
{
	if (rt.inputs != INPUTS_GIVEN)
		return false;
	const struct log_input *in = input_next(t, call);
	return in && in->fd == outside_recorded(fd) && in->flags & LOG_BECAME &&
	       in->ordinal == t->ordinal;
}

void input_given_wait(struct thread *t, enum log_input_call call, int fd, struct given *g)
{
	give_next(t, call, fd, 0, g);
}
