/*
 * random_oracle.c SEED [BOUND] [spurious=N] [alike] [races]: makes a small random program of
 * threads that synchronise in every way that exploration knows, and searches all its
 * interleavings, by the operations' definitions alone. Prints the program on the first line
 * (the arguments of random_sync.c), then every outcome, a line each: what the operations of
 * each thread returned, as far as it came.  Of a run in which a thread aborts that is this
 * thread's alone.  Where main returns without joining, the program ends there and cuts the
 * others off: of these outcomes those that are not the beginning of another.  With BOUND only
 * what interleavings reach in which a thread that could take a step stops at most so often for
 * another's step.  With `spurious=N` also what is reached when at most N waits for the
 * condition, of those without a time limit, end without a signal.  With `alike` several threads
 * have one program, and may ask who they are (random_sync.c). With `races` the program has
 * accesses that write what was there, and synchronisation; and not the outcomes are printed but
 * each pair of sites that two threads may stand before at once, one of them a write: "race SITE
 * SITE", 2 T for the reads of thread T, 2 T + 1 for its writes. Exit status 3: too many states,
 * nothing said.
 *
 * An operation is three characters:
 *
 *     @NV %NV +NV =NV :N.   loops that wait by looking under mutex 0: until cell N is V; the
 * same, then sets it to 1 - V in that section; until cell 0 is V and, looked at under mutex 1,
 * too, cell 1 (N 1: atomic 0); until cell N is V, by tries of the mutex; until a try of mutex N
 * takes it LNV H.V XN. ZN. MNV   loops that wait, by looking at atomics: until N is V; until
 * both are; until N, which was 0, is set to 1, by looking first, or by compare and exchange at
 * once; until N was changed by load, compare and exchange (V 0: 1 is added, a failed round
 * loads again; 1: the same, it goes on with what it was told; 2: 0 becomes 1, another value 0;
 * 3: as 1, and it gives up, '7', when it failed and the other atomic is 1) UNV        the futex
 * of atomic N % 2; by N / 2: sleep while it is V ('1': it was not), the same with a time limit
 * ('2': the time was up), wake V (9: all; how many slept), sleep in a loop until it is not V
 * rNV wNV    read, write of a plain cell N, of the value V       RNV WNV  the same, atomic
 * <NV >NV    as rNV wNV, at places of each thread's own P..
 * Q.V BNV  read both of cells 0 and 1 at once, write V to both at once, write the low byte of
 * cell N mN. GN. K..  an object's counter: add 1, its value (by its own lock, or N: mutex 1); a
 * look at its memory A.V D.V    an object's set: add V ('1': it was not there), is V there? aN.
 * ^NV    lock atomic N, a counter: add 1, and where it was not 0 take it away again; then wait
 * until it is 0 and try again (V 0), or give up, '0' (V 1); aN9 unlocks
 * (NV    the same of both atomics, N first: what was added is taken away where the second fails
 * &NV |NV    update atomic N and look at no result, or at it: by V add 1 to its low byte, take
 * 1 from it, add 255 to its low two; or 2, and 1, xor 1; exchange for 1; add 1 to both atomics
 * at once, as a number of eight bytes; add 0; take 1 away ,NV ;NV    read, write of its low
 * byte (V 0), its low two (1), both atomics (2), it, volatile (3) xNV   add 1 to atomic N (aN1,
 * aN9: add 1, take 1 away, and nobody looks at the result); compare and exchange V for 1 - V
 * ('+': done) lN. uN. tN. TN. lock, unlock, try, try with a time limit, of mutex N i.. o.. I..
 * e.. f.. E.. F.. reader-writer lock: read, write, unlock; tries of both; timed s.. S.. d..
 * spin lock: lock, unlock, try p.. z.. y.. Y.. g.. semaphore: post, wait, try, timed wait, its
 * count cN. CN. nN. NN. qN. condition: wait, timed wait ('1': the time was up), signal,
 * broadcast (N 0: the first, with mutex 0; 1: the second, with mutex 1; 2: the second, with
 * mutex 0); wait while cell N is 0 b.. barrier of two
 * ('1': the serial thread; N 1: nobody looks) ON.                 once, by routine N ('1': it
 * was run here) kN. hN.             create, join thread N vN. V..             use (N: 0 read, 1
 * write), free the block ('f': it was freed before) jN. JN.             where the last result
 * was 0 (not 0): leave out the next N !N.                 abort when the last result was N
 * ?N.                 is this thread N ('1')?
 * /NV    take several locks, without waiting while it holds one: the first by waiting, the
 * others by tries; where one fails it releases all and begins again (V: which locks, see
 * BACK_OFF; 7: it gives up, '7', when atomic 0 is 1 then; 8: atomic 1 becomes 1 at a failure;
 * 9: the first by tries, too; with N + 2: OTHER_BACK_OFF) ~NV    send thread N a signal; its handler tells, V 1: 'p' + what
 * atomic 0 was before it adds 1 to it, V 2: 'F' + what cell 0 was, for which it writes 1 -
 * that, under mutex 0
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 5, LENGTH = 48, HISTORY = 28, MOST_STATES = 400000, OUTCOMES = 20000 };

static char program[THREADS][LENGTH * 3 + 1];
static int threads, initial_count;
static bool leaves; /* main returns without joining: the program ends there */

/* -- the state ----------------------------------------------------------------------------- */

enum phase {
	RUNS,
	UNBORN,
	WAITS,       /* for the condition */
	WAITS_TIMED, /* the same, with a time limit */
	WOKEN,       /* takes the mutex again */
	LATE,        /* the same, its time was up */
	ARRIVED,     /* at the barrier */
	LOOKED,      /* qN: saw 0, is to wait */
	INSIDE,      /* runs the once-function */
	INSIDE_READ, /* has read there */
	INSIDE_DONE, /* has written there */
	INVOKED,     /* holds mutex 1, in an invocation of the counter */
	HALF,        /* of a loop that waits: has looked once */
	FAILED,      /* the same: its exchange has failed */
	SLEEPS,      /* on a futex */
	SLEEPS_TIMED,
};
struct state {
	uint8_t phase[THREADS], at[THREADS], length[THREADS];
	uint32_t atom[2], seen[THREADS], last[THREADS];
	uint8_t cell[3], counter, set;
	int8_t mutex[2], writer, spin; /* the holder + 1, 0: none */
	bool freed;
	uint8_t readers, count, arrived,
	        once; /* readers: a bit each; once: 0, 1 running, 2 done */
	char history[THREADS][HISTORY];
	uint8_t mover, preemptions; /* with a bound: the thread that moved last */
	uint8_t spurious;           /* wake-ups without a signal */
	uint8_t sent[THREADS];      /* signals whose handlers are to run: a bit each */
	bool over[THREADS];         /* it has ended, for one that sends it a signal */
	uint8_t handles[THREADS];   /* where it is in a handler: enum handler */
};

static struct state *states;
static uint32_t *table, states_count, table_size;
static char *outcomes[OUTCOMES];
static int outcomes_count;
static bool moved; /* since it was set to false, somebody could do something */

static void too_many(void)
{
	exit(3);
}

static int bound = -1;                     /* on preemptions; negative: none */
static int most_spurious;                  /* wake-ups without a signal */
static bool locked_looks;                  /* are there loops that look under a lock? */
static uint8_t now_mover, now_preemptions; /* of the step that is tried */
static bool dry;                           /* nothing is added */

/* From a state in which somebody looks again: what can be reached with the same history. */
enum { MOST_COLLECTED = 4096 };
static struct state *collected;
static int collected_count;
static bool collects, escaped;

static void collect(const struct state *s)
{
	escaped |= memcmp(s->history, collected[0].history, sizeof s->history) != 0;
	for (int i = 0; i < collected_count; i++)
		if (memcmp(&collected[i], s, sizeof *s) == 0)
			return;
	if (collected_count == MOST_COLLECTED)
		too_many();
	collected[collected_count++] = *s;
}

static void add_state(const struct state *from)
{
	struct state own = *from, *s = &own;
	moved = true;
	if (collects)
		collect(from);
	if (dry || collects)
		return;
	if (bound >= 0) {
		own.mover = now_mover;
		own.preemptions = now_preemptions;
	}
	const unsigned char *bytes = (const unsigned char *)&own;
	uint64_t hash = 1469598103934665603u;
	for (size_t i = 0; i < sizeof *s; i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	uint32_t i = (uint32_t)(hash >> 20) & (table_size - 1);
	for (; table[i]; i = (i + 1) & (table_size - 1))
		if (memcmp(&states[table[i] - 1], s, sizeof *s) == 0)
			return;
	if (states_count == MOST_STATES)
		too_many();
	states[states_count++] = *s;
	table[i] = states_count;
}

static void add_outcome(const char *text)
{
	moved = true;
	escaped = true;
	if (dry || collects)
		return;
	for (int i = 0; i < outcomes_count; i++)
		if (strcmp(outcomes[i], text) == 0)
			return;
	if (outcomes_count == OUTCOMES)
		too_many();
	outcomes[outcomes_count++] = strdup(text);
}

static void tell(struct state *s, int t, int result)
{
	if (s->length[t] == HISTORY - 1)
		too_many();
	s->history[t][s->length[t]++] = (char)('0' + result);
}

/* The operation is over: its result is told, and the thread goes on to the next. */
static void end(const struct state *from, int t, int result)
{
	struct state s = *from;
	s.last[t] = (uint32_t)result;
	s.phase[t] = RUNS;
	s.at[t]++;
	tell(&s, t, result);
	add_state(&s);
}

static void go_to(const struct state *from, int t, enum phase phase)
{
	struct state s = *from;
	s.phase[t] = (uint8_t)phase;
	add_state(&s);
}

/* -- locks and tries ----------------------------------------------------------------------- */

/* Takes the lock where it is free; a try may end in vain where it is not.  `held`: by whom + 1.
 */
static void acquire(const struct state *s, struct state *after, int t, bool is_free, bool try)
{
	if (is_free)
		end(after, t, try);
	else if (try)
		end(s, t, 0);
}

static void lock_mutex(const struct state *s, int t, int n, bool try)
{
	struct state after = *s;
	after.mutex[n] = (int8_t)(t + 1);
	acquire(s, &after, t, s->mutex[n] == 0, try);
}

static void lock_rw(const struct state *s, int t, bool write, bool try)
{
	struct state after = *s;
	if (write)
		after.writer = (int8_t)(t + 1);
	else
		after.readers |= (uint8_t)(1 << t);
	acquire(s, &after, t, s->writer == 0 && (!write || s->readers == 0), try);
}

static void unlock_rw(const struct state *s, int t)
{
	struct state after = *s;
	if (s->writer == t + 1)
		after.writer = 0;
	after.readers &= (uint8_t) ~(1 << t);
	end(&after, t, 0);
}

static void lock_spin(const struct state *s, int t, bool try)
{
	struct state after = *s;
	after.spin = (int8_t)(t + 1);
	acquire(s, &after, t, s->spin == 0, try);
}

static void take(const struct state *s, int t, bool try)
{
	struct state after = *s;
	after.count--;
	acquire(s, &after, t, s->count > 0, try);
}

/* -- conditions and barriers --------------------------------------------------------------- */

/* Which has its mutex, or, if it is the second condition's alone, the second. */
static int mutex_of(const char *op)
{
	return op[0] != 'q' && op[1] == '1';
}

static void wait_for(const struct state *s, int t, enum phase phase)
{
	struct state after = *s;
	after.mutex[mutex_of(&program[t][s->at[t] * 3])] = 0;
	after.phase[t] = (uint8_t)phase;
	add_state(&after);
}

/* Does thread u wait for the condition that t signals? */
static bool is_waiting(const struct state *s, int u, int t)
{
	const char *wait = &program[u][s->at[u] * 3], *signal = &program[t][s->at[t] * 3];
	return (s->phase[u] == WAITS || s->phase[u] == WAITS_TIMED) &&
	       (wait[0] != 'q' && wait[1] > '0') == (signal[1] > '0');
}

/* A signal wakes one of those that wait, whichever. */
static void signal_one(const struct state *s, int t)
{
	bool any = false;
	for (int u = 0; u < threads; u++) {
		struct state after = *s;
		if (!is_waiting(s, u, t))
			continue;
		any = true;
		after.phase[u] = WOKEN;
		end(&after, t, 0);
	}
	if (!any)
		end(s, t, 0);
}

static void signal_all(const struct state *s, int t)
{
	struct state after = *s;
	for (int u = 0; u < threads; u++)
		if (is_waiting(s, u, t))
			after.phase[u] = WOKEN;
	end(&after, t, 0);
}

static void arrive(const struct state *s, int t)
{
	struct state after = *s;
	if (!s->arrived) {
		after.arrived = 1;
		go_to(&after, t, ARRIVED);
		return;
	}
	after.arrived = 0;
	for (int u = 0; u < threads; u++) {
		if (s->phase[u] != ARRIVED)
			continue;
		after.phase[u] = RUNS;
		after.at[u]++;
		after.last[u] = 0;
		tell(&after, u, 0);
	}
	end(&after, t, program[t][3 * s->at[t] + 1] == '0');
}

/* -- one step ------------------------------------------------------------------------------ */

static void enter_once(const struct state *s, int t)
{
	struct state after = *s;
	after.once = 1;
	if (s->once == 2)
		end(s, t, 0);
	else if (s->once == 0)
		go_to(&after, t, INSIDE);
}

static void count(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	after.counter = (uint8_t)(s->counter + (op[0] == 'm'));
	end(&after, t, op[0] == 'm' ? 0 : s->counter);
}

static void step_object(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int value = 1 << (op[2] - '0');
	switch (op[0]) {
	case 'A':
		after.set |= (uint8_t)value;
		end(&after, t, !(s->set & value));
		return;
	case 'D':
		end(s, t, (s->set & value) != 0);
		return;
	case 'K':
		end(s, t, s->counter);
		return;
	default:
		if (op[1] == '0') {
			count(s, t, op);
		} else if (s->mutex[1] == 0) {
			after.mutex[1] = (int8_t)(t + 1);
			go_to(&after, t, INVOKED);
		}
		return;
	}
}

/* -- futexes ------------------------------------------------------------------------------- */

/* Compare and sleep are one step. */
static void sleep_while(const struct state *s, int t, const char *op, enum phase phase)
{
	if (s->atom[(op[1] - '0') % 2] == op[2] - '0')
		go_to(s, t, phase);
	else if ((op[1] - '0') / 2 == 3)
		go_to(s, t, RUNS); /* it looks again */
	else
		end(s, t, 1);
}

static const char *sleeps_in(const struct state *s, int t, int word)
{
	const char *op = &program[t][s->at[t] * 3];
	bool asleep = s->phase[t] == SLEEPS || s->phase[t] == SLEEPS_TIMED;
	return asleep && (op[1] - '0') % 2 == word ? op : NULL;
}

/* Any of those that sleep, up to `most`. */
static void wake_up(const struct state *s, int t, int word, int most, int woken)
{
	bool any = false;
	for (int u = 0; u < threads && woken < most; u++) {
		const char *op = sleeps_in(s, u, word);
		struct state after = *s;
		if (op == NULL)
			continue;
		any = true;
		after.phase[u] = RUNS;
		if ((op[1] - '0') / 2 != 3) {
			after.at[u]++;
			after.last[u] = 0;
			tell(&after, u, 0);
		}
		wake_up(&after, t, word, most, woken + 1);
	}
	if (!any)
		end(s, t, woken);
}

static void step_futex(const struct state *s, int t, const char *op)
{
	int n = op[1] - '0', value = op[2] - '0';
	switch (n / 2) {
	case 0:
		sleep_while(s, t, op, SLEEPS);
		return;
	case 1:
		sleep_while(s, t, op, SLEEPS_TIMED);
		return;
	case 2:
		wake_up(s, t, n % 2, value, 0);
		return;
	default:
		if (s->atom[n % 2] == value)
			go_to(s, t, HALF);
		else
			end(s, t, s->atom[n % 2]);
		return;
	}
}

/* A compare and exchange of M; or the look after one that failed. */
static void step_exchange(const struct state *s, int t, int n, int value)
{
	struct state after = *s;
	after.seen[t] = 0;
	if (s->phase[t] == FAILED && s->atom[1 - n] == 1) {
		end(&after, t, 7);
	} else if (s->phase[t] == FAILED) {
		go_to(s, t, HALF);
	} else if (s->atom[n] == s->seen[t]) {
		after.atom[n] = value == 2 ? !s->seen[t] : s->seen[t] + 1;
		end(&after, t, (int)s->seen[t]);
	} else {
		after.seen[t] = value == 0 ? 0 : s->atom[n];
		go_to(&after, t, value == 0 ? RUNS : value == 3 ? FAILED : HALF);
	}
}

/* A failed try puts back what it has changed, and looks. */
static void put_back(const struct state *s, int t, const char *op)
{
	enum { FAILED_TRY = 1, LOOKS };
	struct state after = *s;
	int n = op[1] - '0', value = op[2] - '0';
	after.phase[t] = RUNS;
	after.seen[t] = 0;
	if (s->seen[t] == FAILED_TRY) {
		after.atom[n]--;
		if (value == 1) {
			end(&after, t, 0);
			return;
		}
		after.phase[t] = HALF;
		after.seen[t] = LOOKS;
		add_state(&after);
	} else if (s->atom[n] == 0) {
		add_state(&after);
	}
}

static void try_counter(const struct state *s, int t, int n, int value)
{
	struct state after = *s;
	after.atom[n]++;
	after.seen[t] = s->atom[n] != 0; /* FAILED_TRY */
	if (s->atom[n] == 0)
		end(&after, t, value);
	else
		go_to(&after, t, HALF);
}

/* The same of two counters: what a thread does next is in `seen`. */
enum { ADDS_SECOND = 1, TAKES_SECOND, TAKES_FIRST, LOOKS_FIRST, LOOKS_SECOND };

static void step_counters(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', gives_up = op[2] - '0';
	after.phase[t] = RUNS;
	after.seen[t] = 0;
	switch (s->seen[t]) {
	case ADDS_SECOND:
		if (after.atom[1 - n]++ == 0) {
			end(&after, t, gives_up);
			return;
		}
		after.seen[t] = TAKES_SECOND;
		break;
	case TAKES_SECOND:
		after.atom[1 - n]--;
		after.seen[t] = TAKES_FIRST;
		break;
	case TAKES_FIRST:
		after.atom[n]--;
		if (gives_up) {
			end(&after, t, 0);
			return;
		}
		after.seen[t] = LOOKS_FIRST;
		break;
	case LOOKS_FIRST:
		if (s->atom[n] != 0)
			return;
		after.seen[t] = LOOKS_SECOND;
		break;
	default: { /* it may look again, which is nothing new */
		bool before = moved;
		if (s->atom[1 - n] == 0) {
			add_state(&after);
			return;
		}
		after.phase[t] = HALF;
		after.seen[t] = LOOKS_FIRST;
		add_state(&after);
		moved = before;
		return;
	}
	}
	after.phase[t] = HALF;
	add_state(&after);
}

static void try_counters(const struct state *s, int t, int n)
{
	struct state after = *s;
	after.seen[t] = after.atom[n]++ == 0 ? ADDS_SECOND : TAKES_FIRST;
	go_to(&after, t, HALF);
}

/* One round of a loop that waits has two looks in H, X and M. */
static void step_half(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', value = op[2] - '0';
	bool before = moved;
	after.phase[t] = RUNS;
	after.seen[t] = 0;
	switch (op[0]) {
	case 'U':
		sleep_while(s, t, op, SLEEPS);
		return;
	case '^':
		put_back(s, t, op);
		return;
	case '(':
		step_counters(s, t, op);
		return;
	case 'H':
		if (s->atom[1] == value) {
			end(&after, t, value);
			return;
		}
		add_state(&after);
		moved = before; /* it may look again, which is nothing new */
		return;
	case 'X':
		after.atom[n] = 1;
		if (s->atom[n] == 0)
			end(&after, t, 0);
		else
			add_state(&after);
		return;
	default:
		step_exchange(s, t, n, value);
	}
}

static void step_loop(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', value = op[2] - '0';
	switch (op[0]) {
	case 'L':
		if (s->atom[n] == value)
			end(s, t, value);
		return;
	case 'H':
		if (s->atom[0] == value)
			go_to(s, t, HALF);
		return;
	case 'X':
		if (s->atom[n] == 0)
			go_to(s, t, HALF);
		return;
	case 'Z':
		after.atom[n] = 1;
		if (s->atom[n] == 0)
			end(&after, t, 0);
		return;
	default:
		after.seen[t] = s->atom[n];
		go_to(&after, t, HALF);
		return;
	}
}

/* -- looks under a lock -------------------------------------------------------------------- */

static bool looks_locked(char operation)
{
	return operation != 0 && strchr("@%+=:", operation) != NULL;
}

static void begin_look(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[0] == ':' ? op[1] - '0' : 0;
	after.mutex[n] = (int8_t)(t + 1);
	if (s->mutex[n] != 0)
		return; /* it waits, or tries again, which is nothing new */
	if (op[0] == ':')
		end(&after, t, 0);
	else
		go_to(&after, t, HALF);
}

/* Where it is within a round is in `seen`. */
enum { READS, FAILS, GOES_ON, READS_SECOND, FAILS_SECOND, SUCCEEDS_SECOND, SUCCEEDS };

static void step_look(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', value = op[2] - '0', second = n ? s->atom[0] : s->cell[1];
	switch (s->seen[t]) {
	case READS:
		after.seen[t] = s->cell[op[0] == '+' ? 0 : n] == value ? GOES_ON : FAILS;
		if (after.seen[t] == GOES_ON && (op[0] == '@' || op[0] == '='))
			after.seen[t] = SUCCEEDS;
		break;
	case FAILS:
		after.seen[t] = READS;
		after.mutex[0] = 0;
		after.phase[t] = RUNS;
		break;
	case GOES_ON:
		if (op[0] == '%') {
			after.cell[n] = (uint8_t)(1 - value);
			after.seen[t] = SUCCEEDS;
			break;
		}
		if (s->mutex[1] != 0)
			return;
		after.mutex[1] = (int8_t)(t + 1);
		after.seen[t] = READS_SECOND;
		break;
	case READS_SECOND:
		after.seen[t] = second == value ? SUCCEEDS_SECOND : FAILS_SECOND;
		break;
	case FAILS_SECOND:
	case SUCCEEDS_SECOND:
		after.mutex[1] = 0;
		after.seen[t] = s->seen[t] == FAILS_SECOND ? FAILS : SUCCEEDS;
		break;
	default:
		after.mutex[0] = 0;
		after.seen[t] = READS;
		end(&after, t, value);
		return;
	}
	add_state(&after);
}

/* -- several locks, taken by tries ---------------------------------------------------------- */

/* By V: n mutex N, m the other one, s the spin lock, r and w the reader-writer lock. */
static const char *const BACK_OFF[] = { "nm", "sn",  "nw", "wn", "rn",
	                                "nr", "nsm", "nm", "nm", "nm" };
enum { GIVES_UP = 7, TELLS_FAILURE = 8 };
/* More of them: 0 to 2 begin with the lock that failed, as std::lock; 3 and 4 release the first one
 * first; 5 to 7 the last one first; 2, 4, 6 give up, and 7 tells of its failure. */
static const char *const OTHER_BACK_OFF[] = { "nm",  "nm",  "nm",  "nsm",
	                                      "nsm", "nwm", "nsm", "nsm" };
enum { BEGINS_ELSEWHERE = 2, FIRST_RELEASED_FIRST = 4 }; /* up to these */

static const char *locks_of(const char *op)
{
	return op[1] < '2' ? BACK_OFF[op[2] - '0'] : OTHER_BACK_OFF[op[2] - '0'];
}

static bool gives_up(const char *op)
{
	int way = op[2] - '0';
	return op[1] < '2' ? way == GIVES_UP : way == 2 || way == 4 || way == 6;
}

static bool tells_failure(const char *op)
{
	return op[2] - '0' == (op[1] < '2' ? TELLS_FAILURE : 7);
}

static bool begins_elsewhere(const char *op)
{
	return op[1] >= '2' && op[2] - '0' <= BEGINS_ELSEWHERE;
}

static bool releases_first(const char *op)
{
	return op[1] >= '2' && op[2] - '0' > BEGINS_ELSEWHERE &&
	       op[2] - '0' <= FIRST_RELEASED_FIRST;
}

static bool take_one(struct state *s, int t, char lock, int n)
{
	int own = lock == 'm' ? 1 - n : n;
	switch (lock) {
	case 's':
		if (s->spin != 0)
			return false;
		s->spin = (int8_t)(t + 1);
		return true;
	case 'r':
	case 'w':
		if (s->writer != 0 || (lock == 'w' && s->readers != 0))
			return false;
		if (lock == 'w')
			s->writer = (int8_t)(t + 1);
		else
			s->readers |= (uint8_t)(1 << t);
		return true;
	default:
		if (s->mutex[own] != 0)
			return false;
		s->mutex[own] = (int8_t)(t + 1);
		return true;
	}
}

static bool has_one(const struct state *s, int t, char lock, int n)
{
	return (lock == 's'   ? s->spin
	        : lock == 'w' ? s->writer
	        : lock == 'r' ? (s->readers >> t & 1) * (t + 1)
	                      : s->mutex[lock == 'm' ? 1 - n : n]) == t + 1;
}

static void release_one(struct state *s, int t, char lock, int n)
{
	if (lock == 's')
		s->spin = 0;
	else if (lock == 'w')
		s->writer = 0;
	else if (lock == 'r')
		s->readers &= (uint8_t) ~(1 << t);
	else
		s->mutex[lock == 'm' ? 1 - n : n] = 0;
}

/* What it does next is in `seen`: takes the lock of this number; or, with one of these, tells
 * of its failure, or releases so many; or looks. With SECOND its rounds begin with the second
 * lock. */
enum { RELEASES = 16, TELLS = 32, LOOKS_AFTER = 48, SECOND = 64 };

static void step_back_off(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = (op[1] - '0') & 1, what = (int)s->seen[t] & 15;
	uint32_t second = s->seen[t] & SECOND;
	const char *locks = locks_of(op), turned[] = { locks[1], locks[0], 0 };
	locks = second ? turned : locks;
	after.phase[t] = HALF;
	switch (s->seen[t] & ~(15u | SECOND)) {
	case 0:
		if (take_one(&after, t, locks[what], n)) {
			after.seen[t]++;
			if (locks[what + 1] == 0) {
				after.seen[t] = 0;
				end(&after, t, 0);
				return;
			}
		} else if (what == 0) {
			return; /* it waits, or tries again, which is nothing new */
		} else {
			after.seen[t] = second + (uint32_t)what +
			                (tells_failure(op) ? TELLS : RELEASES);
		}
		break;
	case TELLS:
		after.atom[1] = 1;
		after.seen[t] = second + (uint32_t)what + RELEASES;
		break;
	case RELEASES: {
		int which = what - 1;
		if (releases_first(op))
			for (which = 0; !has_one(s, t, locks[which], n); which++)
				;
		release_one(&after, t, locks[which], n);
		after.seen[t]--;
		if (what == 1 && begins_elsewhere(op))
			second ^= SECOND;
		if (what == 1)
			after.seen[t] = second + (gives_up(op) ? LOOKS_AFTER : 0);
		break;
	}
	default:
		after.seen[t] = second;
		if (s->atom[0] == 1) {
			after.seen[t] = 0;
			end(&after, t, 7);
			return;
		}
	}
	if (after.seen[t] == 0)
		after.phase[t] = RUNS;
	add_state(&after);
}

/* A thread that is not at the beginning of an operation. */
static void step_within(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	if (looks_locked(op[0])) {
		step_look(s, t, op);
		return;
	}
	if (op[0] == '/') {
		step_back_off(s, t, op);
		return;
	}
	switch (s->phase[t]) {
	case WAITS: { /* which nobody can rely on: threads that wait so wait for ever */
		bool before = moved;
		after.spurious++;
		if (s->spurious < most_spurious)
			go_to(&after, t, WOKEN);
		moved = before;
		return;
	}
	case WAITS_TIMED:
		go_to(s, t, LATE);
		return;
	case SLEEPS_TIMED:
		end(s, t, 2);
		return;
	case WOKEN:
	case LATE:
		if (s->mutex[mutex_of(op)])
			return;
		after.mutex[mutex_of(op)] = (int8_t)(t + 1);
		if (op[0] == 'q')
			go_to(&after, t, RUNS);
		else
			end(&after, t, s->phase[t] == LATE);
		return;
	case LOOKED:
		wait_for(s, t, WAITS);
		return;
	case INSIDE:
		if (op[1] == '0') {
			after.cell[0] = 1;
			go_to(&after, t, INSIDE_DONE);
		} else {
			after.seen[t] = s->cell[1];
			go_to(&after, t, INSIDE_READ);
		}
		return;
	case INSIDE_READ:
		after.cell[0] = (uint8_t)(s->seen[t] + 1);
		after.seen[t] = 0;
		go_to(&after, t, INSIDE_DONE);
		return;
	case INSIDE_DONE:
		after.once = 2;
		end(&after, t, 1);
		return;
	case HALF:
		step_half(s, t, op);
		return;
	case FAILED:
		step_exchange(s, t, op[1] - '0', op[2] - '0');
		return;
	case INVOKED:
		after.mutex[1] = 0;
		count(&after, t, op);
		return;
	default:
		return;
	}
}

static int part_of(uint64_t value)
{
	return (int)(value & 3) + 4 * (int)(value >> 8 & 1) + 8 * (int)(value >> 32 & 1);
}

/* The bytes of one atomic, or of both, that an operation on parts has. */
static uint64_t part_mask(char operation, int kind)
{
	bool updates = operation == '&' || operation == '|';
	if (kind == (updates ? 7 : 2))
		return UINT64_MAX;
	return updates     ? kind < 2    ? 0xff
	                     : kind == 2 ? 0xffff
	                                 : UINT32_MAX
	       : kind == 0 ? 0xff
	       : kind == 1 ? 0xffff
	                   : UINT32_MAX;
}

static void step_part(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', kind = op[2] - '0';
	uint64_t mask = part_mask(op[0], kind), both = s->atom[0] | (uint64_t)s->atom[1] << 32;
	unsigned shift = mask == UINT64_MAX ? 0 : 32 * (unsigned)n;
	uint64_t old = both >> shift & mask, now = old;
	const uint64_t written[] = { 1, 257, UINT64_C(0x100000001), 1 };
	const uint64_t updated[] = { old + 1, old - 1, old + 255, old | 2,
		                     old & 1, old ^ 1, 1,         old + UINT64_C(0x100000001),
		                     old,     old - 1 };
	if (op[0] == ';')
		now = written[kind];
	else if (op[0] != ',')
		now = updated[kind];
	both = (both & ~(mask << shift)) | (now & mask) << shift;
	after.atom[0] = (uint32_t)both;
	after.atom[1] = (uint32_t)(both >> 32);
	end(&after, t, op[0] == '|' || op[0] == ',' ? part_of(old) : 0);
}

static void step_memory(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0', value = op[2] - '0';
	switch (op[0]) {
	case 'r':
	case '<':
		end(s, t, s->cell[n]);
		return;
	case 'w':
	case '>':
		after.cell[n] = (uint8_t)value;
		end(&after, t, 0);
		return;
	case 'P':
		end(s, t, 'A' - '0' + s->cell[0] + 4 * s->cell[1]);
		return;
	case 'Q':
		after.cell[0] = after.cell[1] = (uint8_t)value;
		end(&after, t, 0);
		return;
	case 'B':
		after.cell[n] = (uint8_t)value;
		end(&after, t, 0);
		return;
	case 'R':
		end(s, t, s->atom[n]);
		return;
	case 'W':
		after.atom[n] = (uint32_t)value;
		end(&after, t, 0);
		return;
	case 'a':
		after.atom[n] = s->atom[n] + (value == 9 ? -1u : 1u);
		end(&after, t, value == 0 ? (int)s->atom[n] : 0);
		return;
	case 'x':
		if (s->atom[n] == value)
			after.atom[n] = (uint32_t)(1 - value);
		end(&after, t, s->atom[n] == value ? '+' - '0' : s->atom[n]);
		return;
	case '&':
	case '|':
	case ',':
	case ';':
		step_part(s, t, op);
		return;
	case '?':
		end(s, t, t == n);
		return;
	case 'v':
		end(s, t, s->freed ? 'f' - '0' : 0);
		return;
	case 'V':
		after.freed = true;
		end(&after, t, 0);
		return;
	default: /* q */
		if (s->cell[n] != 0) {
			end(s, t, s->cell[n]);
			return;
		}
		after.last[t] = 0;
		tell(&after, t, 0);
		go_to(&after, t, LOOKED);
		return;
	}
}

/* -- signals ------------------------------------------------------------------------------- */

enum handler { NO_HANDLER, ADDS, LOCKS, READS_CELL, WRITES_CELL, UNLOCKS };

/* Has the thread ended? (With a signal on its way it has not.) */
static bool is_over(const struct state *s, int t)
{
	return s->phase[t] == RUNS && program[t][s->at[t] * 3] == 0 && s->sent[t] == 0 &&
	       s->handles[t] == NO_HANDLER;
}

static void send_signal(const struct state *s, int t, int to, int kind)
{
	struct state after = *s;
	if (is_over(s, to)) {
		after.over[to] = true;
		end(&after, t, 0);
		after.over[to] = s->over[to];
	}
	if (s->over[to])
		return;
	after.sent[to] |= (uint8_t)kind;
	end(&after, t, 0);
}

/* Handlers block all signals, and may begin at any moment. */
static void begin_handlers(const struct state *s, int t)
{
	for (unsigned kind = 1; kind <= 2; kind++) {
		struct state after = *s;
		after.sent[t] &= (uint8_t)~kind;
		after.handles[t] = kind == 1 ? ADDS : LOCKS;
		if (s->sent[t] & kind)
			add_state(&after);
	}
}

static void step_handler(const struct state *s, int t)
{
	struct state after = *s;
	after.handles[t]++;
	switch (s->handles[t]) {
	case ADDS:
		after.handles[t] = NO_HANDLER;
		after.atom[0]++;
		tell(&after, t, 'p' - '0' + (int)s->atom[0]);
		break;
	case LOCKS:
		if (s->mutex[0] != 0)
			return;
		after.mutex[0] = (int8_t)(t + 1);
		break;
	case READS_CELL:
		tell(&after, t, 'F' - '0' + s->cell[0]);
		break;
	case WRITES_CELL:
		after.cell[0] = (uint8_t)(s->history[t][s->length[t] - 1] == 'F');
		break;
	default:
		after.handles[t] = NO_HANDLER;
		after.mutex[0] = 0;
	}
	add_state(&after);
}

static void step_threads(const struct state *s, int t, const char *op)
{
	struct state after = *s;
	int n = op[1] - '0';
	bool zero = s->last[t] == 0;
	after.at[t]++;
	switch (op[0]) {
	case 'k':
		after.phase[n] = RUNS;
		break;
	case 'h':
		if (!is_over(s, n))
			return;
		break;
	case 'j':
		after.at[t] += zero ? n : 0;
		break;
	case 'J':
		after.at[t] += zero ? 0 : n;
		break;
	default: /* ! */
		if (s->last[t] == (uint32_t)n && s->sent[t])
			return; /* its handlers run first */
		if (s->last[t] == (uint32_t)n) {
			char text[HISTORY + 16];
			snprintf(text, sizeof text, "%d!%.*s", t, s->length[t], s->history[t]);
			add_outcome(text);
			return;
		}
	}
	add_state(&after);
}

/* What the threads did, each as far as it came. */
static void add_end(const struct state *s)
{
	char text[THREADS * (HISTORY + 8)] = "";
	for (int t = 0; t < threads; t++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%.*s",
		         t ? " " : "", t, s->length[t], s->history[t]);
	add_outcome(text);
}

static void step(const struct state *s, int t)
{
	const char *op = &program[t][s->at[t] * 3];
	struct state after = *s;
	if (s->phase[t] == UNBORN)
		return;
	if (s->handles[t] != NO_HANDLER) {
		step_handler(s, t);
		return;
	}
	begin_handlers(s, t);
	if (s->phase[t] != RUNS) {
		step_within(s, t, op);
		return;
	}
	switch (op[0]) {
	case 0:
		if (t == 0 && leaves)
			add_end(s); /* the program may end here; or others go on before */
		return;
	case 'l':
	case 't':
	case 'T':
		lock_mutex(s, t, op[1] - '0', op[0] != 'l');
		return;
	case 'u':
		after.mutex[op[1] - '0'] = 0;
		end(&after, t, 0);
		return;
	case 'i':
	case 'e':
	case 'E':
		lock_rw(s, t, false, op[0] != 'i');
		return;
	case 'o':
	case 'f':
	case 'F':
		lock_rw(s, t, true, op[0] != 'o');
		return;
	case 'I':
		unlock_rw(s, t);
		return;
	case 's':
	case 'd':
		lock_spin(s, t, op[0] == 'd');
		return;
	case 'S':
		after.spin = 0;
		end(&after, t, 0);
		return;
	case 'p':
		after.count++;
		end(&after, t, 0);
		return;
	case 'z':
	case 'y':
	case 'Y':
		take(s, t, op[0] != 'z');
		return;
	case 'g':
		end(s, t, s->count);
		return;
	case 'c':
	case 'C':
		wait_for(s, t, op[0] == 'c' ? WAITS : WAITS_TIMED);
		return;
	case 'n':
		signal_one(s, t);
		return;
	case 'N':
		signal_all(s, t);
		return;
	case 'b':
		arrive(s, t);
		return;
	case 'O':
		enter_once(s, t);
		return;
	case 'U':
		step_futex(s, t, op);
		return;
	case '@':
	case '%':
	case '+':
	case '=':
	case ':':
		begin_look(s, t, op);
		return;
	case '/':
		step_back_off(s, t, op);
		return;
	case '^':
		try_counter(s, t, op[1] - '0', op[2] - '0');
		return;
	case '(':
		try_counters(s, t, op[1] - '0');
		return;
	case 'L':
	case 'H':
	case 'X':
	case 'Z':
	case 'M':
		step_loop(s, t, op);
		return;
	case 'm':
	case 'G':
	case 'K':
	case 'A':
	case 'D':
		step_object(s, t, op);
		return;
	case '~':
		send_signal(s, t, op[1] - '0', op[2] - '0');
		return;
	case 'k':
	case 'h':
	case 'j':
	case 'J':
	case '!':
		step_threads(s, t, op);
		return;
	default:
		step_memory(s, t, op);
		return;
	}
}

/* -- the search ---------------------------------------------------------------------------- */

/* Does the thread stand before a lock or a take with a time limit that has to wait? */
static bool waits_in_time(const struct state *s, int t)
{
	const char *op = program[t] + 3 * s->at[t];
	if (s->phase[t] != RUNS)
		return false;
	switch (op[0]) {
	case 'T':
		return s->mutex[op[1] - '0'] != 0;
	case 'E':
		return s->writer != 0;
	case 'F':
		return s->writer != 0 || s->readers != 0;
	case 'Y':
		return s->count == 0;
	default:
		return false;
	}
}

/* A thread in a wait with a time limit does not run. */
static bool can_step(const struct state *s, int t)
{
	if (waits_in_time(s, t))
		return false;
	moved = false;
	dry = true;
	step(s, t);
	dry = false;
	return moved && s->phase[t] != WAITS_TIMED && s->phase[t] != SLEEPS_TIMED;
}

/* Can no thread ever tell anything more, whatever they do? */
static bool is_at_rest(const struct state *s)
{
	collects = true;
	escaped = false;
	collected_count = 1;
	collected[0] = *s;
	for (int i = 0; i < collected_count && !escaped; i++) {
		struct state from = collected[i];
		for (int t = 0; t < threads && !escaped; t++)
			step(&from, t);
	}
	collects = false;
	return !escaped;
}

static bool races[2 * THREADS][2 * THREADS];

/* The cell that the thread accesses next, or -1. */
static int accesses(const struct state *s, int t)
{
	const char *op = &program[t][s->at[t] * 3];
	return s->phase[t] == RUNS && (op[0] == '<' || op[0] == '>') ? op[1] - '0' : -1;
}

static void note_races(const struct state *s)
{
	for (int t = 0; t < threads; t++)
		for (int u = t + 1; u < threads; u++) {
			int a = 2 * t + (program[t][s->at[t] * 3] == '>');
			int b = 2 * u + (program[u][s->at[u] * 3] == '>');
			int cell = accesses(s, t);
			if (cell >= 0 && cell == accesses(s, u) && (a & 1 || b & 1))
				races[a][b] = true;
		}
}

static void search(void)
{
	struct state s;
	memset(&s, 0, sizeof s);
	for (int t = 1; t < THREADS; t++)
		s.phase[t] = UNBORN;
	s.count = (uint8_t)initial_count;
	for (table_size = 1; table_size < 4 * MOST_STATES; table_size *= 2)
		;
	table = calloc(table_size, sizeof *table);
	states = malloc(MOST_STATES * sizeof *states);
	collected = malloc(MOST_COLLECTED * sizeof *collected);
	add_state(&s);
	for (uint32_t i = 0; i < states_count; i++) {
		s = states[i];
		note_races(&s);
		bool could = bound >= 0 && can_step(&s, s.mover);
		moved = false;
		for (int t = 0; t < threads; t++) {
			now_mover = (uint8_t)t;
			now_preemptions = (uint8_t)(s.preemptions + (could && t != s.mover));
			dry = bound >= 0 && now_preemptions > bound;
			step(&s, t);
			dry = false;
		}
		if (!moved || (locked_looks && is_at_rest(&s)))
			add_end(&s);
	}
}

/* -- a program ----------------------------------------------------------------------------- */

enum feature {
	MUTEX,
	RW,
	SPIN,
	SEMAPHORE,
	CONDITION,
	BARRIER,
	ONCE,
	FREE,
	ABORT,
	NESTED,
	FEATURES
};
static bool loops; /* has it loops that wait? */
static bool kept;  /* exchanges that go on with the value that they were told */
static bool futexes;
static bool trying; /* may locks be tried? */
static bool has[FEATURES];
static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

static void op(int t, char operation, unsigned n, unsigned value)
{
	size_t length = strlen(program[t]);
	if (length + 3 > sizeof program[t] - 1)
		too_many();
	snprintf(program[t] + length, 4, "%c%u%u", operation, n, value);
}

/* Mostly what the memory begins with, too. */
static unsigned any_value(void)
{
	return below(8) ? below(2) : 2;
}

static bool parts; /* of atomics: updates, whose result is used or not, reads, writes */

static void access_part(int t)
{
	unsigned kind = below(8), n = below(3) == 0;
	if (kind < 4)
		op(t, '&', n, below(10));
	else if (kind == 4)
		op(t, '|', n, below(10));
	else if (kind < 7)
		op(t, ',', n, below(4));
	else
		op(t, ';', n, below(4));
}

static void memory(int t)
{
	if (parts && below(4)) {
		access_part(t);
		if (has[ABORT] && below(3) == 0)
			op(t, '!', below(3), 0);
		return;
	}
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		op(t, below(3) ? 'r' : 'R', below(2), 0);
		break;
	case 3:
	case 4:
	case 5:
		op(t, below(3) ? 'w' : 'W', below(2), any_value());
		break;
	case 6:
		op(t, 'a', below(2), 0);
		break;
	default:
		op(t, 'x', below(2), below(2));
		break;
	}
	if (has[ABORT] && below(3) == 0)
		op(t, '!', below(3), 0);
}

/* One access under a lock that is taken by `lock`; by a try where it may fail. */
static void section(int t, char lock, unsigned n, bool try, char unlock)
{
	op(t, lock, n, 0);
	if (try)
		op(t, 'j', has[ABORT] ? 3 : 2, 0);
	memory(t);
	/* as many operations as are left out */
	if (try && has[ABORT] && program[t][strlen(program[t]) - 3] != '!')
		op(t, '!', 9, 0);
	op(t, unlock, n, 0);
}

static unsigned
        second_condition; /* 0: there is none; with the second mutex, or with the first */

static void condition_block(int t)
{
	unsigned kind = below(6);
	unsigned which = second_condition && kind != 2 && below(2) ? second_condition : 0;
	unsigned lock = which == 1;
	bool locked = kind < 4 || below(3);
	if (locked)
		op(t, 'l', lock, 0);
	if (kind == 0) {
		op(t, 'c', which, 0);
	} else if (kind == 1) {
		op(t, 'C', which, 0);
	} else if (kind == 2) {
		op(t, 'q', below(2), 0);
	} else if (kind == 3) {
		op(t, 'r', below(2), 0);
		op(t, 'J', 1, 0);
		op(t, below(2) ? 'c' : 'C', which, 0);
	} else {
		if (below(2))
			op(t, 'w', below(2), 1 + below(2));
		op(t, below(3) ? 'n' : 'N', which, 0);
	}
	if (locked)
		op(t, 'u', lock, 0);
}

/* A loop that waits, and what others' loops wait for. */
static void loop_block(int t)
{
	unsigned n = below(2);
	switch (below(6)) {
	case 0:
		op(t, 'L', n, below(4) ? 1 : 0);
		break;
	case 1:
		op(t, 'H', 0, 1);
		break;
	case 2:
	case 3:
		op(t, below(2) ? 'X' : 'Z', n, 0);
		memory(t);
		if (has[ABORT] && program[t][strlen(program[t]) - 3] != '!')
			op(t, '!', 9, 0);
		op(t, 'W', n, 0);
		break;
	case 4:
		op(t, 'M', n, 0);
		break;
	default:
		op(t, 'W', n, 1);
		break;
	}
}

/* A loop of exchanges, and writes that others' loops meet: back and forth, too. */
static void kept_block(int t)
{
	unsigned n = below(3) == 0;
	switch (below(6)) {
	case 0:
		op(t, 'W', n, below(2));
		break;
	case 1:
		op(t, 'x', n, below(2));
		break;
	default:
		op(t, 'M', n, 1 + below(3));
		break;
	}
}

/* A use of a futex: by itself, or as one does; what others wait for and wake; and both. */
static void futex_block(int t)
{
	unsigned n = below(2), value = below(4) == 0;
	switch (below(7)) {
	case 0:
	case 1:
		op(t, 'U', n, value);
		break;
	case 2:
		op(t, 'U', 2 + n, value);
		break;
	case 3:
		op(t, 'U', 6 + n, value);
		break;
	case 4:
		op(t, 'R', n, 0);
		op(t, 'J', 1, 0);
		op(t, 'U', 2 * below(2) + n, 0);
		break;
	case 5:
		op(t, below(3) ? 'W' : 'a', n, 1);
		op(t, 'U', 4 + n, below(3) ? 1 : 9);
		break;
	default:
		op(t, 'U', 4 + n, below(3) ? 1 + below(2) : 9);
		break;
	}
}

/* A loop that looks under a lock, perhaps within a section of another; what it waits for; and
 * with tries also a lock that is taken by a loop of these. */
static void look_block(int t)
{
	unsigned n = below(2), value = below(4) ? 1 : 0, kind = below(8);
	if (kind < 4 || (kind == 4 && !trying)) {
		bool within = kind == 1 && below(2);
		if (within)
			op(t, 'l', 1, 0);
		op(t,
		   kind < 2              ? '@'
		   : kind == 2 || within ? '%'
		   : trying              ? '='
		                         : '+',
		   n, value);
		if (within)
			op(t, 'u', 1, 0);
	} else if (kind == 4) {
		section(t, ':', n, false, 'u');
	} else {
		bool locked = below(4) > 0;
		unsigned lock = below(4) == 0;
		if (locked)
			op(t, 'l', lock, 0);
		op(t, below(6) ? 'w' : 'W', n, value);
		if (locked)
			op(t, 'u', lock, 0);
	}
}

static void block(int t)
{
	static const char tries[] = "efEF", takes[] = "ppzyYg";
	if (locked_looks && below(3)) {
		look_block(t);
		return;
	}
	if (futexes && below(3)) {
		futex_block(t);
		return;
	}
	if (kept && below(4)) {
		kept_block(t);
		return;
	}
	if (loops && below(3)) {
		loop_block(t);
		return;
	}
	unsigned kind = below(FEATURES);
	for (unsigned i = 0; i < FEATURES && !has[kind]; i++)
		kind = (kind + 1) % FEATURES;
	if (below(4) == 0)
		kind = ABORT;
	switch (kind) {
	case MUTEX:
		if (below(2) || !trying)
			section(t, 'l', below(3) == 0, false, 'u');
		else
			section(t, below(2) ? 't' : 'T', below(3) == 0, true, 'u');
		break;
	case RW:
		if (below(2) || !trying)
			section(t, below(2) ? 'i' : 'o', 0, false, 'I');
		else
			section(t, tries[below(4)], 0, true, 'I');
		break;
	case SPIN:
		if (below(2) || !trying)
			section(t, 's', 0, false, 'S');
		else
			section(t, 'd', 0, true, 'S');
		break;
	case SEMAPHORE:
		op(t, takes[below(6)], 0, 0);
		break;
	case CONDITION:
		condition_block(t);
		break;
	case BARRIER:
		op(t, 'b', (strlen(program[t]) / 3 + (unsigned)t) % 2, 0);
		break;
	case ONCE:
		op(t, 'O', below(2), 0);
		break;
	case FREE:
		op(t, 'v', below(2), 0);
		break;
	default:
		memory(t);
		break;
	}
}

/* The unlock has the lock's number, sections of one lock do not nest: no more is needed for a
 * program without undefined behaviour. */
static void make(void)
{
	int workers = 2 + (below(3) == 0);
	for (unsigned i = 0; i < 1 + below(3); i++)
		has[below(FEATURES)] = true;
	initial_count = (int)below(3);
	threads = workers + 1;
	bool nested = has[NESTED];
	if (nested)
		op(1, 'k', (unsigned)threads++, 0);
	for (int t = 1; t < threads; t++)
		for (unsigned i = 0; i < (threads == 3 ? 3u : 2u) + (below(3) == 0); i++)
			block(t);
	if (has[FREE])
		op(1 + (int)below((unsigned)workers), 'V', 0, 0);
	if (nested)
		op(1, 'h', (unsigned)threads - 1, 0);
	for (int t = 1; t <= workers; t++) {
		op(0, 'k', (unsigned)t, 0);
		if (below(4) == 0)
			memory(0);
	}
	for (int t = 1; t <= workers && !leaves; t++)
		op(0, 'h', (unsigned)t, 0);
	for (unsigned i = 0; i < 2 && below(2); i++)
		op(0, 'r', i, 0);
}

/* Threads with the same program and, some, one with its own; and what tells them apart, or may.
 */
static void make_alike(void)
{
	int workers = 2 + (below(3) > 0);
	bool other = below(3) == 0;
	for (unsigned i = 0; i < 1 + below(3); i++)
		has[below(FEATURES)] = true;
	has[NESTED] = false;
	initial_count = (int)below(3);
	threads = workers + 1;
	for (unsigned i = 0; i < (workers == 2 ? 2u : 1u) + below(2); i++) {
		block(1);
		if (below(6) == 0) {
			op(1, '?', 1, 0); /* later handles may not be there yet */
			op(1, below(2) ? '!' : 'J', 1, 0);
			memory(1); /* what may be left out */
		}
	}
	for (int t = 2; t <= workers; t++)
		strcpy(program[t], program[1]);
	if (other) {
		program[workers][0] = 0;
		for (unsigned i = 0; i < 1 + below(2); i++)
			block(workers);
		if (has[FREE])
			op(workers, 'V', 0, 0);
	}
	for (int join = 0; join < 2; join++)
		for (int t = 1; t <= workers; t++) {
			op(0, join ? 'h' : 'k', (unsigned)t, 0);
			if (below(8) == 0)
				memory(0);
		}
	for (unsigned i = 0; i < 2 && below(2); i++)
		op(0, 'r', i, 0);
}

/* Accesses whose values are all the same, and what may order them. */
static bool sums; /* additions whose result nobody looks at, and looks at their sum */

static void race_block(int t)
{
	if (sums && below(3) == 0) {
		bool looks = below(3) == 0;
		op(t, looks ? 'R' : 'a', below(3) == 0, !looks);
		return;
	}
	switch (below(12)) {
	case 0:
	case 1:
		op(t, 'p', 0, 0);
		break;
	case 2:
	case 3:
		op(t, 'z', 0, 0);
		break;
	case 4:
		if (has[BARRIER])
			op(t, 'b', 1, 0);
		else
			op(t, below(2) ? 'W' : 'L', below(2), 1);
		break;
	case 5:
		op(t, 'l', 0, 0);
		op(t, has[CONDITION] ? 'c' : below(2) ? '<' : '>', 0, 0);
		op(t, 'u', 0, 0);
		break;
	case 6:
		if (has[CONDITION])
			op(t, below(3) ? 'n' : 'N', 0, 0);
		else
			op(t, 'p', 0, 0);
		break;
	default:
		op(t, below(3) ? '>' : '<', below(3) == 0, 0);
		break;
	}
}

static void make_races(void)
{
	int workers = 2 + (int)below(3);
	has[CONDITION] = below(2);
	has[BARRIER] = below(2);
	initial_count = below(3) == 0;
	threads = workers + 1;
	for (int t = 1; t < threads; t++)
		for (unsigned i = 0; i < (workers == 2 ? 4u : 3u) + below(2); i++)
			race_block(t);
	for (int t = 1; t < threads; t++)
		op(0, 'k', (unsigned)t, 0);
	for (int t = 1; t < threads; t++)
		op(0, 'h', (unsigned)t, 0);
}

/* Of some programs: plain accesses of other widths in the place of some of a cell's. */
static void widen(void)
{
	for (int t = 0; t < threads; t++)
		for (char *p = program[t]; *p; p += 3) {
			if (*p == 'r' && p[1] < '2' && below(2))
				*p = 'P';
			else if (*p == 'w' && p[1] < '2' && below(3))
				*p = below(2) ? 'Q' : 'B';
		}
}

/* Of some programs: invocations of objects in the place of some accesses of cells. */
static void invoke(void)
{
	bool theirs = below(3) == 0;
	for (int t = 0; t < threads; t++) {
		bool held = false; /* mutex 1 */
		for (char *p = program[t]; *p; p += 3) {
			bool reads = *p == 'r' || *p == 'R';
			held = strchr("ltT", *p) && p[1] == '1' ? true
			       : *p == 'u' && p[1] == '1'       ? false
			                                        : held;
			if (!strchr("rRwW", *p) || p[1] > '1' || below(4) == 0)
				continue;
			bool counts = below(2) && !(theirs && held);
			*p = counts ? reads ? 'G' : 'm' : reads ? below(5) ? 'D' : 'K' : 'A';
			p[1] = counts && theirs ? '1' : '0';
			p[2] = (char)('1' + below(2));
		}
	}
}

/* Of programs from FIRST_OF_SUMS on: additions whose result nobody looks at, and looks at
 * atomics, in the place of some accesses. */
/* From FIRST_OF_PARTS on: accesses of parts of atomics; from FIRST_OF_CONDITIONS on: two
 * conditions. */
enum { FIRST_OF_CONDITIONS = 63000000, FIRST_OF_SIGNALS = 64000000 };
enum { FIRST_OF_SUMS = 60000000 };
static void add_up(void)
{
	for (int t = 0; t < threads; t++)
		for (char *p = program[t]; *p; p += 3) {
			bool reads = *p == 'r' || *p == 'R';
			if (!strchr("rRwWa", *p) || p[1] > '1' || below(4) == 0)
				continue;
			*p = reads ? 'R' : 'a';
			p[2] = reads ? '0' : below(3) ? '1' : '9';
		}
}

/* What comes within such a section, or beside it. */
static void make_step(int t)
{
	switch (below(6)) {
	case 0:
	case 1:
		op(t, 'w', below(2), any_value());
		return;
	case 2:
	case 3:
		op(t, 'r', below(2), 0);
		return;
	case 4:
		op(t, 'R', below(2), 0);
		return;
	default:
		op(t, 'a', 1, below(2));
	}
}

/* Programs from FIRST_OF_TRIES on: locks that are counters, whose failed tries other threads
 * may see. */
enum { FIRST_OF_TRIES = 61000000, FIRST_OF_NESTED = 61800000, FIRST_OF_PARTS = 62000000 };
static void make_tries(bool nested)
{
	int workers = 2 + (below(4) == 0);
	threads = workers + 1;
	for (int t = 1; t <= workers; t++)
		for (unsigned i = 0; i < (workers == 2 ? 1u : 0u) + 1 + (below(3) == 0); i++) {
			unsigned n = below(4) == 0, kind = below(6);
			bool unlocks = below(12), twice = below(2);
			if (kind == 0) {
				make_step(t);
				continue;
			}
			bool two = nested && below(2);
			op(t, two ? '(' : '^', n, kind == 1);
			if (kind == 1)
				op(t, 'j', 1 + (two ? 2 * unlocks : unlocks) + twice, 0);
			make_step(t);
			if (twice)
				make_step(t);
			if (unlocks && two)
				op(t, 'a', 1 - n, 9);
			if (unlocks)
				op(t, 'a', n, 9);
		}
	for (int t = 1; t <= workers; t++)
		op(0, 'k', (unsigned)t, 0);
	for (unsigned i = below(3); i > 0; i--)
		op(0, 'w', below(2), i);
	for (int t = 1; t <= workers; t++)
		op(0, 'h', (unsigned)t, 0);
	op(0, 'r', below(2), 0);
}

/* Programs from FIRST_OF_BACK_OFF on: loops that take several locks by tries, from both sides;
 * other tries, with a time limit, too, of the same locks; loops that look under them; and ends
 * of the program meanwhile. */
enum { FIRST_OF_BACK_OFF = 65000000, FIRST_OF_OTHERS = 65500000 };
static bool others; /* of OTHER_BACK_OFF, too */
static bool alone;  /* no tries but those of std::lock */
static void telling_step(int t)
{
	unsigned kind = below(4);
	if (kind == 0)
		op(t, 'w', below(2), 1 + below(2));
	else
		op(t, kind == 3 ? 'a' : 'r', below(2), 0);
}

static void back_off_block(int t)
{
	unsigned n = below(4) ? (unsigned)t % 2 : below(2);
	unsigned way = below(3) ? 0 : below(10), twice = below(3) == 0, keeps = below(12) == 0;
	bool other = alone || (others && below(4));
	way = alone ? below(2) : !other ? way : below(2) ? below(3) : below(8);
	const char take[] = { '/', (char)('0' + n + (other ? 2 : 0)), (char)('0' + way) };
	const char *locks = locks_of(take);
	op(t, '/', n + (other ? 2 : 0), way);
	if (gives_up(take))
		op(t, 'J', 1 + twice + (keeps ? 0 : (unsigned)strlen(locks)), 0);
	telling_step(t);
	if (twice)
		telling_step(t);
	for (; *locks && !keeps; locks++)
		op(t,
		   *locks == 's'                    ? 'S'
		   : *locks == 'r' || *locks == 'w' ? 'I'
		                                    : 'u',
		   *locks == 'n'   ? n
		   : *locks == 'm' ? 1 - n
		                   : 0,
		   0);
}

static void other_block(int t)
{
	static const char tries[] = "tTtTdefEF";
	char try = tries[below(9)];
	unsigned n = below(2);
	switch (alone ? below(2) ? 2 : 5 : below(6)) {
	case 0:
	case 1:
		section(t, try, strchr("tT", try) ? n : 0, true,
		        try == 'd'          ? 'S'
		        : strchr("tT", try) ? 'u'
		                            : 'I');
		break;
	case 2:
		section(t, 'l', n, false, 'u');
		break;
	case 3:
		section(t, ':', n, false, 'u');
		break;
	case 4:
		op(t, below(2) ? '@' : '=', n, 1);
		break;
	default:
		telling_step(t);
		break;
	}
}

static void make_back_off(void)
{
	int workers = 2 + (below(3) == 0);
	threads = workers + 1;
	leaves = below(5) == 0;
	has[ABORT] = below(5) == 0;
	for (int t = 1; t <= workers; t++)
		for (unsigned i = 0; i < 1 + (below(workers == 2 ? 2 : 4) == 0); i++) {
			if (t < 3 ? below(4) > 0 : below(4) == 0)
				back_off_block(t);
			else
				other_block(t);
		}
	for (int t = 1; t <= workers; t++)
		op(0, 'k', (unsigned)t, 0);
	if (below(3) == 0)
		other_block(0);
	for (int t = 1; t <= workers && !leaves; t++)
		op(0, 'h', (unsigned)t, 0);
	op(0, 'r', 0, 0);
	op(0, 'r', 1, 0);
}

/* Puts an operation into a program. */
static void insert(int t, size_t at, char operation, unsigned n, unsigned value)
{
	char *p = program[t] + 3 * at;
	memmove(p + 3, p, strlen(p) + 1);
	p[0] = operation;
	p[1] = (char)('0' + n);
	p[2] = (char)('0' + value);
}

/* Programs from FIRST_OF_SIGNALS on: one or two signals, each kind to a thread at most once. */
static void add_signals(void)
{
	/* those with an event after the one that decides the result: a handler could come
	 * between */
	for (int t = 0; t < threads; t++)
		for (char *p = program[t]; *p; p += 3)
			if (strchr("xMZg", *p)) {
				*p = 'R';
				p[2] = '0';
			}
	unsigned first = below(2) + 1, count = 1 + (below(3) == 0);
	for (unsigned i = 0; i < count; i++) {
		unsigned kind = i == 0 ? first : 3 - first;
		const char *join = strchr(program[0], 'h');
		if (below(4) == 0) /* to main */
			insert(1, below(2) ? 0 : strlen(program[1]) / 3, '~', 0, kind);
		else
			insert(0, (size_t)(join - program[0]) / 3, '~', 1 + below(2), kind);
	}
}

/* Is it the beginning, thread by thread, of another outcome with the same history of main? */
static bool is_within(const char *small, const char *big)
{
	size_t own = strcspn(small, " ");
	if (strchr(small, '!') || strchr(big, '!') || strncmp(small, big, own + 1) != 0)
		return false;
	while (*small && *big) {
		size_t length = strcspn(small, " ");
		if (strncmp(small, big, length) != 0)
			return false;
		small += length + (small[length] == ' ');
		big += strcspn(big, " ");
		big += *big == ' ';
	}
	return true;
}

static bool is_cut(const char *outcome)
{
	for (int i = 0; i < outcomes_count; i++)
		if (strcmp(outcomes[i], outcome) != 0 && is_within(outcome, outcomes[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	bool for_races = false, alike = false;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "races") == 0)
			for_races = true;
		else if (strcmp(argv[i], "alike") == 0)
			alike = true;
		else if (strncmp(argv[i], "spurious=", 9) == 0)
			most_spurious = atoi(argv[i] + 9);
		else
			bound = atoi(argv[i]);
	}
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	bool back_off = !for_races && !alike && seed >= FIRST_OF_BACK_OFF;
	bool tries = !alike && !for_races && seed >= FIRST_OF_TRIES && seed < FIRST_OF_PARTS;
	others = back_off && seed >= FIRST_OF_OTHERS;
	alone = others && seed % 3 == 0;
	sums = seed >= FIRST_OF_SUMS && !back_off;
	parts = seed >= FIRST_OF_PARTS && !back_off && (seed < FIRST_OF_CONDITIONS || seed % 2);
	bool signals = !for_races && !alike && seed >= FIRST_OF_SIGNALS && !back_off;
	leaves = !for_races && !alike && seed % 8 == 7 && !tries && !signals;
	for (int i = 0; i < 8; i++)
		below(2);
	if (seed >= FIRST_OF_CONDITIONS) {
		second_condition = 1 + below(2);
		has[CONDITION] = true;
	}
	loops = bound < 0 && seed % 8 == 4;
	kept = loops && seed % 32 == 28;
	futexes = !signals && (seed % 16 == 2 || seed % 16 == 13 || seed % 16 == 15);
	locked_looks = back_off || (bound < 0 && seed % 8 == 0 && !signals);
	trying = !locked_looks || seed % 16 == 0;
	if (for_races)
		make_races();
	else if (alike)
		make_alike();
	else if (back_off)
		make_back_off();
	else if (tries)
		make_tries(seed >= FIRST_OF_NESTED);
	else
		make();
	bool plain = for_races || alike || tries || back_off;
	if (seed % 4 == 3 && !plain)
		widen();
	if ((seed % 8 == 1 || seed % 8 == 6) && !plain && !signals)
		invoke();
	if (seed >= FIRST_OF_SUMS && seed < FIRST_OF_TRIES && !plain)
		add_up();
	if (signals)
		add_signals();
	search();
	printf("%d%s", initial_count, program[0]);
	for (int t = 1; t < threads; t++)
		printf(" %s", program[t]);
	printf("\n");
	for (int a = 0; a < 2 * threads; a++)
		for (int b = 0; b < 2 * threads && for_races; b++)
			if (races[a][b])
				printf("race %d %d\n", a, b);
	for (int i = 0; i < outcomes_count && !for_races; i++)
		if (!leaves || !is_cut(outcomes[i]))
			printf("%s\n", outcomes[i]);
	return 0;
}
