/*
 * outside.h - input from outside of the process: descriptors that lead out of it, signals and
 * timers; how it is recorded, and given again on replay.
 *
 * How one enters.  A function that stands before a call on a descriptor asks outside() whether
 * the call brings something from outside.  If so, on replay input_given() has its result and
 * the call is not made; otherwise the call is made and input_keep() writes its result to the
 * log.  A call on a descriptor inside of the process (a pipe or an eventfd between threads, a
 * regular file) is made for real, and tells its channel (channels.c, connections.c).  A
 * signal's handler runs where its thread stands at a safe place: handlers_run, at each hook and
 * wrapped call.
 *
 * Guarantees: the thread that calls holds the token, errno is the call's and stays,
 * and the parts of an input that was given live as long as the run.  On replay nothing is
 * bound, listened on, connected to or read from outside.
 */
#ifndef HEDDLE_RUNTIME_OUTSIDE_H
#define HEDDLE_RUNTIME_OUTSIDE_H

#include <sys/socket.h>

#include "engine/record/runtime/core/base.h"

struct kept_arrival; /* a signal: handlers.c */
struct held_signal;  /* of an exploration: held.c */
/* Signals of a thread whose handlers are still to run, and how handlers end its calls. */
struct thread_signals {
	struct kept_arrival *arrivals;
	volatile unsigned arrived;
	volatile bool away; /* in a blocking call, without the token */
	bool interrupted;   /* a handler has run since this was last cleared, */
	bool must_end;      /* and one that ends calls which other handlers let continue (no
	                     * SA_RESTART) */
	struct held_signal *held;
	unsigned held_count;
	/* While the runtime itself blocks the thread's signals, `mask_changes` is odd and
	 * own_mask has those that the program blocks; atomic. */
	unsigned mask_changes;
	uint64_t own_mask;
	uint64_t end; /* message of its end to threads that send it signals after it; or 0 */
	int raised;   /* the signal that the thread is sending itself; 0: none */
	bool reminded;
	int reminder; /* the kernel's id of the timer, while `reminded` */
};

/* Are inputs recorded? ORDERED: no, only messages of the process to itself are followed;
 * ASKED: they are asked for, as none was recorded. */
enum inputs { INPUTS_NONE, INPUTS_ORDERED, INPUTS_KEPT, INPUTS_ASKED, INPUTS_GIVEN };

/* Replay: a thread's inputs. */
struct thread_input {
	bool starves;    /* the thread waits for an input that the recording lacks */
	unsigned hungry; /* how often it asked for one */
	const struct log_input *next, *end; /* still to be given */
	uint32_t contents; /* of its next write to a channel: channel_contents() */
	unsigned asks;     /* the channel at which it has asked, before it acts; or 0 */
	uint64_t question; /* what it has asked, as a number, */
	int error;         /* with this errno */
	bool entered;      /* by an ENTRY, in a call that does not wait: a look */
};

enum origin {
	ORIGIN_UNKNOWN, /* not examined yet, or closed */
	ORIGIN_INSIDE,  /* the process's own, or a file: always for real */
	ORIGIN_SET,     /* an epoll instance: from outside as long as a member is */
	ORIGIN_LINKED,  /* a socket whose other end is the process's own, too: its data is
	                 * real, its options and state are recorded and replayed */
	ORIGIN_KERNEL,  /* a file that the kernel makes up when it is read (procfs, sysfs) */
	ORIGIN_OUTSIDE,
};

struct piece {
	const void *at;
	size_t length;
};

/* The results of a recorded call.  The parts live as long as the run. */
struct given {
	int64_t result;
	const char *part[LOG_PARTS];
	uint32_t length[LOG_PARTS];
	uint32_t extra;
	bool own;      /* a datagram of the process to itself */
	bool recorded; /* false: the recording has none (left), and this is made up */
};

/* ---- the table of descriptors: outside.c ---- */

/* Does a call on it bring input from outside, which is recorded or replayed? */
bool outside(struct thread *t, int fd);
/* Are its state and options (fcntl, getsockopt, ...) recorded and replayed? */
bool outside_asked(struct thread *t, int fd);
bool outside_is_inside(int fd); /* known to be the process's own: for members of a set */
/* Can only the process's own threads cause one of the events that are waited for? For an
 * epoll instance: an event of any of its members. May be asked without the token while all
 * wait; `tid`: a live thread. */
bool outside_only_own(const struct pollfd *f, pid_t tid);
/* May such an event be on its way, through the network? */
bool outside_comes_late(const struct pollfd *f);
/* channel_wanted() for one of an epoll instance's members. */
unsigned outside_wanted(const struct pollfd *f);
void outside_fresh(int fd, enum origin origin);
void outside_copied(int from, int to);
void outside_closing(struct thread *t, int fd, uintptr_t pc);
/* Replay: the number that it had in the recording. */
int outside_recorded(int fd);
/*
 * The descriptor `fd` has been made, or (-1) not. Replay: it gets its number in the
 * recording, if that is free: along a witness the former owner may not have closed it yet.
 * Returns the number; errno stays.
 */
int outside_made(struct thread *t, enum log_input_call call, int fd, enum origin origin,
                 uintptr_t pc);
/* Replay: a placeholder descriptor, with the number `wanted` if that is free; -1 and errno when
 * none can be made. */
int outside_stand_in(struct thread *t, int wanted, int flags);
/* The same in the place of a file (ORIGIN_KERNEL): empty, and it can be sought in. */
int outside_stand_in_file(struct thread *t, int wanted, bool close_on_exec);
/* Replay: gives a new descriptor the number `wanted`, if it is free; returns the number. */
int outside_renumbered(struct thread *t, int fd, int wanted, enum origin origin);
bool outside_both_ends(int fd); /* does the process have both ends of the pipe? */
/* The channel that the descriptor reads from, and the one it writes to, if it is the
 * process's own; 0: none. */
unsigned outside_reads(int fd);
unsigned outside_writes(int fd);
void outside_leads(int fd, unsigned reads, unsigned writes);
/* A signalfd: reading from it receives signals. */
void outside_brings_signals(int fd);
bool outside_has_signals(int fd);
/* A socket has turned out to be one end of a connection of the process to itself. Replay: the
 * descriptor is then another file than the one in epoll instances, which are updated. */
void outside_link(int fd, unsigned reads, unsigned writes);

/* A descriptor is sent in a message (SCM_RIGHTS) through the channel; and one is received:
 * then it has this number. */
void outside_passes(unsigned channel, int fd);
int outside_got(struct thread *t, unsigned channel, int fd, uintptr_t pc);

/* ---- stream_input.c, descriptors.c ---- */

/* Does the C library read streams through descriptor_read()? */
bool streams_read_here(void);

/* True: it is a FIFO that was opened by name, or a file that the kernel makes up, and *fd is
 * the result of open(). */
bool input_opened(struct thread *t, int folder, const char *path, int flags, uintptr_t pc,
                  int *fd);
/* As read(), without an event for the bytes. */
ssize_t descriptor_read(struct thread *t, int fd, void *p, size_t size, uintptr_t pc);

/* ---- sockets of the process to itself: connections.c ---- */

/* A socket listens: connections to it may be the process's own. */
void connection_listens(int fd, int backlog);
struct connection;
/* Before a connect: the connection when `a` is an address of the process's own listener, else
 * NULL; *full: the call would have to wait for an accept. */
struct connection *connection_begins(struct thread *t, int fd, const struct sockaddr *a,
                                     socklen_t length, bool *full, uintptr_t pc);
/* The call of a connection that has to wait for an accept: the call's result, and errno. */
int connection_waits(struct thread *t, const struct connection *c, int fd,
                     const struct sockaddr *a, socklen_t length, uintptr_t pc);
/* After the connect, successful or not; errno stays. */
void connection_made(struct connection *c, int fd, int result);
/* After an accept: `made` is the other end, or (NULL) belongs to a connection from outside. */
struct connection *connection_accepted(struct thread *t, int listener, int made, uintptr_t pc);
/* The part recorded with connect and accept of one. */
struct piece connection_piece(const struct connection *c);
/* Replay: the connect, or accept, that was recorded with this piece. For an accept returns
 * the new descriptor. */
void connection_given(struct thread *t, int fd, int result, const void *piece, size_t length,
                      uintptr_t pc);
int connection_given_accept(struct thread *t, int listener, int wanted, int flags,
                            const void *piece, size_t length);
/* The channel that a datagram goes to, from this socket to `a` (NULL: its peer); 0: none of
 * the process's own. *target: the value recorded for that with the call, else 0. */
unsigned datagram_channel(int fd, const struct sockaddr *a, socklen_t length, uint32_t *target);
/* Replay: sends a datagram to the socket recorded as `target`. */
void datagram_given(struct thread *t, uint32_t target, uintptr_t pc);
/* Replay: waits until a datagram of the process's own has been sent. */
void datagram_await(struct thread *t, int fd, const struct given *g);
/* A datagram socket was made. */
void datagram_socket(int fd);
void connection_closed(int fd);

/* ---- channels as steps of an exploration: channel_steps.c ---- */

enum { CHANNELS = 1024 };
/* Are the channel's operations steps? All others do nothing where they are not. */
bool channel_has_steps(unsigned channel);
/* A channel was made; `reader`: a descriptor that reads from it; `ends`: where the program has
 * its descriptors, or NULL; `count`: in an eventfd. */
void channel_steps_begin(struct thread *t, unsigned channel, enum log_channel_flag kind,
                         enum log_channel_form form, int reader, const int *ends,
                         unsigned count, uintptr_t pc);
/* What happens to it from now on is not known; `operation`: to order_matters. */
void channel_steps_end(unsigned channel, const char *operation);
/* The descriptor is a new copy; it is about to be closed. */
void channel_copies(struct thread *t, int fd, uintptr_t pc);
void channel_closes(struct thread *t, int fd, uintptr_t pc);
/* shutdown(): nothing more goes through it, in these directions. False: these are no steps. */
bool channel_shuts(struct thread *t, int fd, int how, uintptr_t pc);
/* Before a call waits: what it asks for. Then it is the thread's turn to act, as soon as the
 * call need not wait; false: it is no step. `at_once`: it does not wait, or not for ever. */
bool channel_asks_read(struct thread *t, unsigned channel, size_t most, bool at_once,
                       uintptr_t pc);
bool channel_asks_write(struct thread *t, unsigned channel, size_t bytes, uintptr_t pc);
/* The same for a poll, with its limit in time, or a negative one. *planned: by the plan it is
 * now that the call acts. */
bool channels_ask(struct thread *t, const struct pollfd *fds, unsigned n, int64_t milliseconds,
                  bool *planned, uintptr_t pc);
/* The thread's next question is asked by an ENTRY (core/entry.h) that comes from the program.
 */
static inline void channel_entered(struct thread_input *i)
{
	i->entered = true;
}
/* The call for which the thread has asked (else it does nothing) is over, without a scheduling
 * point since; errno stays. `channel`: one that it is about; 0: that of its first question. */
void channel_acts(struct thread *t, unsigned channel, int64_t result, bool changed,
                  uintptr_t pc);
/* Comes after what was written to it so far; errno stays. */
void channel_receives(struct thread *t, unsigned channel, uintptr_t pc);
/* What the thread's next write to the channel writes. */
void channel_contents(struct thread *t, unsigned channel, const struct iovec *v, size_t count);

/* ---- pipes and their kin inside of the process: channels.c.  0 is no channel. ---- */

unsigned channel_new(bool counter);
/* No other process can write to it or read from it. */
void channel_is_own(unsigned channel);
/* It is a listening socket's channel: others may connect, but only the process accepts. */
void channel_listens(unsigned channel);
/* A read takes all bytes available: such a channel's messages have its number. `pages`: a
 * pipe's room, 0: not known. */
void channel_holds_bytes(unsigned channel, unsigned pages);
/* The channel's number, for a thread that waits for ever for such events of the descriptor; a
 * channel without such messages gets one then.  0: too many. */
unsigned channel_wanted(int fd, short events);
/* Can only the process's own threads cause such an event? */
bool channel_only_own(int fd, short events);
/* May written bytes still be on their way (a network's socket)? */
bool channel_comes_late(int fd, short events);
/* A child process has a copy of every descriptor from now on, */
void channels_forked(struct thread *t, uintptr_t pc);
/* or another process has some that lead there. */
void channel_passed(struct thread *t, unsigned channel, uintptr_t pc);
/* Before another program is started, which gets the descriptors that are not closed then;
 * `all`: any may be kept open for it. */
void outside_spawns(struct thread *t, bool all, uintptr_t pc);
/* Bytes arrive there a little later (a network's socket): await it after a write. */
void channel_is_late(unsigned channel);
/* Each write is read whole, by itself. */
void channel_of_datagrams(unsigned channel);
void channel_held(unsigned channel); /* one descriptor more, or less, leads there */
void channel_left(unsigned channel);
/* Replay: waits before a call that was such an event. */
void channel_turn(struct thread *t, unsigned channel, enum log_tag tag, uintptr_t pc);
/* After the call; errno stays. */
void channel_wrote(struct thread *t, unsigned channel, int64_t bytes, uintptr_t pc);
/* `waits`: while it is empty. */
void channel_read(struct thread *t, unsigned channel, int64_t bytes, bool waits, uintptr_t pc);
/* A read of 0 bytes that asked for some: every writer has closed it. */
void channel_ended(struct thread *t, unsigned channel, bool waits, uintptr_t pc);
/* Nothing more will come from this end: shutdown(). */
void channel_sent(struct thread *t, uintptr_t pc); /* replay: the plan's event of a write */
void channel_shut(struct thread *t, unsigned channel, uintptr_t pc);
void channel_reader(unsigned channel, int fd); /* -1: that one is no more */
void channel_await(unsigned channel); /* waits until the bytes written, or the end, have
                                       * arrived */
/* poll, or its kin, has reported to the thread that bytes are ready. */
void channel_ready(struct thread *t, unsigned channel, uintptr_t pc);

/*
 * A hand-over through the kernel that moves no bytes: what a thread set (a member of an epoll
 * instance, a timer) comes before what other threads are told of it.  All zero: nothing is set.
 */
struct handover {
	uint64_t message;
	uint32_t from, to; /* threads: the sender, the last that received it */
};
/* Replay: waits for the thread's turn, before the call that sets it. */
void handover_turn(struct thread *t, uintptr_t pc);
/* After the call; errno stays. */
void handover_sent(struct thread *t, struct handover *h, uintptr_t pc);
/* The thread has been told of it; errno stays. `h` may be NULL: of nothing. */
void handover_received(struct thread *t, struct handover *h, uintptr_t pc);

/* Before a descriptor is closed, and after one was created; `seen`: it is an event which
 * thread gets the number next. */
void channel_closing(struct thread *t, int fd, bool seen, unsigned writes, uintptr_t pc);
void channel_numbered(struct thread *t, int fd, uintptr_t pc);

/* Members of epoll instances. -1: none. */
void outside_member(int set, int fd, int operation, uint32_t events, uint64_t data);
int outside_member_of(int set, uint64_t data);
/* Replay: the data that the instance returns for the member that had this number; false when
 * it has none. */
bool outside_data(int set, int recorded, uint64_t *data);
bool outside_members(int set);
/* The members of the instance, as a poll would ask for them; their number, or 0 where a poll
 * would find something else: with members that are reported once for each change, or once. */
unsigned outside_polls(int set, struct pollfd *fds, unsigned room);
/* The message of the last epoll_ctl for the member; NULL: it is no member. */
struct handover *outside_member_set(int set, int fd);
/* The message of the last timerfd_settime; NULL: the descriptor has no entry here. */
struct handover *outside_timer_set(int fd);
/* The descriptor was reported to the thread as ready to be read. */
void outside_ready(struct thread *t, int fd, uintptr_t pc);

/* ---- recording and giving: inputs.c ---- */

/* The next kept input is a datagram of the process to itself. */
void input_is_own(void);
/* Keeps the results of a call on such a descriptor, where inputs are recorded; errno is the
 * call's and stays. */
void input_keep(struct thread *t, enum log_input_call call, int fd, int64_t result,
                const struct piece *parts, unsigned count, uint32_t extra);
void input_keep_became(struct thread *t, enum log_input_call call, int fd, int64_t result,
                       const struct piece *parts, unsigned count);
/* Keeps a part from several places: their first `bytes`. */
void input_keep_scattered(struct thread *t, enum log_input_call call, int fd, int64_t result,
                          const struct iovec *v, size_t count, const struct piece *parts,
                          unsigned part_count, uint32_t extra);
/*
 * Replay: true when the result is replayed and the call is not to be made; errno is as
 * recorded. `most`: bytes of the caller's room, or to be written. A call that the recording
 * does not have there leaves the plan.
 */
bool input_given(struct thread *t, enum log_input_call call, int fd, uint64_t most,
                 struct given *g);
/* input_given for a descriptor's state and options. */
bool input_state_given(struct thread *t, enum log_input_call call, int fd, struct given *g);
/* input_given for a wait that would begin with descriptors of the process alone. */
bool input_became(struct thread *t, enum log_input_call call, int fd);
/* The thread's next input, if it is of this call; without waiting, and it remains the next. */
const struct log_input *input_next(struct thread *t, enum log_input_call call);
void input_taken(struct thread *t);
/* After the plan: a pending recorded signal comes now, when no other input is left. */
bool input_last_signal(struct thread *t);
void input_given_wait(struct thread *t, enum log_input_call call, int fd, struct given *g);
/* At the end of the recorded input: waits for descriptors of the process (perhaps none),
 * until the deadline if `timed`. Is one ready? */
bool input_starve(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                  uint64_t deadline);

/* ---- stream_input.c ---- */
void streams_init(void);
/* fopen of what input_opened() opens, to read from it; NULL: it is another file. */
FILE *input_stream(const char *path, const char *mode, uintptr_t pc);

/* ---- inputs.c ---- */
/* A handler is about to run; `within`: the process sent the signal itself. */
void input_keep_signal(struct thread *t, int number, bool within);
/* Replay: runs the handlers that ran when the thread was as far as it is. True when one did. */
bool input_signals(struct thread *t);

/* ---- faults.c ---- */
void faults_init(void);
/* ---- core/exits.c ---- */
void exits_init(void);
/* The signal is about to end the program. */
void exits_note_signal(int number);
/* Does a memory fault of the calling thread reach a handler of the runtime's? Not if the
 * program blocks or ignores the signal, or has a one-time handler. */
bool faults_caught(void);

/* ---- handlers.c ---- */
bool signal_has_handler(int number);
/* The thread is at a safe place, with the token: runs the handlers of signals that have
 * come. */
void handlers_run(struct thread *t);
/* Replay: runs the handler that ran here; false when the program has none. */
bool handler_given(struct thread *t, int number, bool within);
/* After a signal was sent within the process: waits until it has come to its thread, unless
 * that blocks it. `before`: signals_arrived() before the sending. */
void signal_settle(int number, unsigned before);
unsigned signals_arrived(void);
void timer_signal(int number, bool armed, uintptr_t pc); /* a timer that sends it was set */
/* Nanoseconds, at least one, until the last of the timers that are set for a thread expires; 0:
 * none is set. */
uint64_t timers_remaining(void);
/* The program's syscall() installs a handler: true, and the kernel's answer. */
bool handler_syscall(struct thread *t, long number, const long a[6], long *result);

/* The thread holds the token: runs the handler of a signal that was held. */
void handler_run_held(struct thread *t, int number, const struct sigaction *action,
                      const siginfo_t *info, uint64_t message);
/* The signal comes to a thread that does not hold the token, at its next safe place. */
void signal_arrives(struct thread *t, int number, const struct sigaction *action,
                    const siginfo_t *info, uint64_t message);

/* ---- sync/threads.c ---- */
/* The thread with this handle that was not joined; or NULL. */
struct thread *thread_of_handle(pthread_t handle);

/* ---- held.c ---- */
/* Is when a handler runs a choice of the schedule? */
bool signals_are_held(void);
/* The calling thread sends a signal to `t`: it is held for it. False: it is to be sent for
 * real. */
bool signal_hold(struct thread *t, int number, int code, union sigval value, uintptr_t pc);
/* The kernel has brought a signal. False: there is no room. */
bool signal_hold_arrived(struct thread *t, int number, const struct sigaction *action,
                         const siginfo_t *info, uint64_t message);
/* The thread that takes a signal to the process: the first that does not block it; or NULL. */
struct thread *signal_taker(int number);
/* Is there a signal with a handler that some thread does not block, so that one from another
 * process could run it? */
bool signal_can_come(void);
/* It is the thread's turn by the plan. NEVER: it is to run a handler, which it cannot: no such
 * signal is held, or its thread blocks it. */
enum held_step { HELD_NONE, HELD_RUN, HELD_NEVER };
enum held_step held_planned(struct thread *t);
/* The thread holds the token; its signals do not wait any longer. */
void held_run_all(struct thread *t);
/* The thread is at its end, which comes as late as possible: others may send it signals still.
 */
void held_run_at_end(struct thread *t);
/* The thread is at its end, which comes as late as possible: others may send it signals still.
 */
void held_run_at_end(struct thread *t);
/* No thread can go on: a signal that is held arrives. False: none is. */
bool held_release(void);
/* The thread waits for signals: gives those that are held to the kernel. */
void held_forward(struct thread *t);

/* ---- signals.c ---- */
uint64_t signal_message(int number); /* message of its sender, returned once; or 0 */
/* The thread has received the signal, at a place of the program: after its sending. */
void signal_received(int number, uintptr_t pc);

#endif
