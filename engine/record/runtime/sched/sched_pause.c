/*
 * sched_pause.c - controlled mode, strategy pause: threads stop where others may come between.
 *
 * Between two events of a thread that others can notice lies a window: two accesses of shared
 * memory, two critical sections, two locks that are held together. (Not between taking a lock
 * and the first access under it.) A thread that comes to a window stops there until those that
 * have not stopped cannot go on; then the one that stopped last goes on, to its next window.
 * So all others run within the first window of each. It is a change point of PCT (Burckhardt
 * and others, ASPLOS 2010) that knows the events, as in active testing (Sen, PLDI 2008).
 *
 * The first seeds have a meaning (modes): in which order threads begin, after main; which of
 * those that stopped goes on; which memory counts as shared; and how many windows a thread
 * passes by from each stop to the next: none, a fixed number, or those of a ruler, by which
 * stops lie in all distances, also late in a long run.  By other seeds the order is by chance,
 * a thread passes by a drawn number of windows from each stop to the next, and which of those
 * that stopped goes on is drawn each time.
 */
#include <link.h>

#include "sched_private.h"

/* NEWEST_BUT_ONE: from the newest to the oldest, but the newest of all last. */
enum order { NEWEST, OLDEST, NEWEST_BUT_ONE, CHANCE };
/* IN_TURN_GOES: alternately the last that stopped and the first. */
enum goes { LAST_GOES, FIRST_GOES, IN_TURN_GOES, ANY_GOES };

/* In place of a number of windows: before a thread's stop n it passes by 2^k - 1, where 2^k is
 * the largest power of two that divides n (0, 1, 0, 3, 0, 1, 0, 7, ...). */
enum { RULER = UINT8_MAX };
/* Bound on the windows that a thread passes by, as a power of two: a run has up to
 * thousands. */
enum { MOST_PASSED = 9 };
static const int64_t running = 1ll << 40; /* threads that have not stopped have at least this
                                           * priority */
static struct {
	struct mode {
		enum order order;
		enum goes goes; /* of those that stopped */
		bool changing;  /* only memory that is written while several threads exist
		                 * counts */
		uint8_t passes; /* windows from a stop to the next, or RULER */
	} mode;
	unsigned passing; /* seeds without a meaning: fewer windows than this, drawn; else 0 */
	int64_t stops;
	uintptr_t low, high; /* bounds of the program's static data */
} how;

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		how.low = info->dlpi_addr + h->p_vaddr;
		how.high = how.low + h->p_memsz;
	}
	return 1; /* the program is the first */
}

void sched_pause_init(void)
{
	/* each finds errors that the others do not; those that find most are the first */
	static const struct mode modes[] = {
		{ NEWEST, IN_TURN_GOES, false, RULER },  { NEWEST_BUT_ONE, LAST_GOES, true, 2 },
		{ NEWEST_BUT_ONE, LAST_GOES, false, 0 }, { OLDEST, LAST_GOES, false, 3 },
		{ NEWEST, FIRST_GOES, false, 0 },        { NEWEST, LAST_GOES, false, RULER },
		{ NEWEST, LAST_GOES, true, 2 },          { NEWEST, LAST_GOES, true, RULER }
	};
	_Static_assert(sizeof modes / sizeof *modes == LOG_PAUSES, "seeds with a meaning");
	how.stops = 0;
	how.passing = 0;
	if (rt.config.seed < LOG_PAUSES) {
		how.mode = modes[rt.config.seed];
	} else {
		how.mode.order = (enum order)sched_draw(CHANCE + 1);
		how.mode.goes = ANY_GOES;
		how.mode.changing = sched_draw(2);
		how.passing = 1u << sched_draw(MOST_PASSED);
	}
	dl_iterate_phdr(find_program, NULL);
}

/* The number of windows that the thread passes by until its next stop. */
static uint32_t draw_passed(struct thread *t)
{
	t->sched.stops++;
	return how.passing                ? sched_draw(how.passing)
	       : how.mode.passes == RULER ? (t->sched.stops & -t->sched.stops) - 1
	                                  : how.mode.passes;
}

/* The priority with which a thread begins, at least `running`; main has the highest. */
static int64_t first_priority(const struct thread *t)
{
	if (t->id == 0)
		return 2 * running;
	switch (how.mode.order) {
	case NEWEST:
		return running + t->id;
	case OLDEST:
		return running + MAX_THREADS - t->id;
	case NEWEST_BUT_ONE:
		return running;
	default:
		return running + sched_draw(1 << 30);
	}
}

void sched_pause_born(struct thread *t)
{
	struct thread *before = t->id > 1 ? rt.threads[t->id - 1] : NULL;
	t->sched.stops = 0;
	t->sched.left = draw_passed(t);
	t->sched.priority = first_priority(t);
	if (how.mode.order == NEWEST_BUT_ONE && before && before->sched.priority == running)
		before->sched.priority = running + before->id;
}

/* Have the words around it been accessed by this thread alone so far? */
static bool is_own(const struct thread *t, uintptr_t word)
{
	enum { AROUND = 16 };
	for (uintptr_t w = word - AROUND; w <= word + AROUND; w++) {
		const struct sched_word *known = sched_word_at(w);
		if (known->word == w && known->thread == t->id + 1)
			return !known->shared;
	}
	return false;
}

/* Is it static data, or main's stack, where arguments of threads lie? */
static bool is_common(uintptr_t place)
{
	enum { STACK = 8 << 20 };
	uintptr_t high = rt.threads[0] ? rt.threads[0]->life.stack_high : 0;
	return (place >= how.low && place < how.high) || (place < high && high - place < STACK);
}

/* Common memory may be shared, except main's own; other memory is shared once a second thread
 * has accessed it. */
static bool is_shared(const struct thread *t)
{
	uintptr_t place = (uintptr_t)t->sched.place, word = place >> 3;
	struct sched_word *w = sched_word_at(word);
	if (w->word != word)
		*w = (struct sched_word){ .word = word };
	if (w->thread == 0) {
		w->shared = t->sched.synchronises ? !is_own(t, word)
		                                  : t->id != 0 && is_common(place);
		w->thread = t->id + 1;
	} else if (w->thread != t->id + 1) {
		w->shared = true;
	}
	w->changed |= t->sched.changes && !sched_alone();
	return w->shared && (w->changed || !how.mode.changing);
}

/* Does the thread's next event end a window? */
static bool is_window(struct thread *t)
{
	struct thread_sched *s = &t->sched;
	if (s->place == NULL || !is_shared(t))
		return false;
	bool first = !s->noticed || (s->entered && !s->synchronises);
	s->noticed = true;
	s->entered = s->synchronises;
	return !first;
}

/* Where any of those that stopped may continue, all priorities are drawn anew: those of
 * threads that wait, which have lost, would become lower and lower. */
static void stop(struct thread *t)
{
	bool last = how.mode.goes == LAST_GOES ||
	            (how.mode.goes == IN_TURN_GOES && how.stops % 2 == 0);
	how.stops++;
	t->sched.left = draw_passed(t);
	t->sched.priority = last ? how.stops : --sched.lowest;
	for (unsigned i = 0; how.mode.goes == ANY_GOES && i < sched.live_count; i++)
		if (sched.live[i]->sched.priority < running)
			sched.live[i]->sched.priority = sched_draw(1 << 30);
}

void sched_pause_event(struct thread *t)
{
	bool window = is_window(t);
	if (sched.holder == t && sched.steps - sched.turn_start > SPINNING && !sched_alone())
		sched_lower(t);
	else if (window && t->sched.left > 0)
		t->sched.left--;
	else if (window)
		stop(t);
}
