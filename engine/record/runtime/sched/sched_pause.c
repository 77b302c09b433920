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
 * The first seeds have a meaning (modes): whether the threads begin from the newest to the
 * oldest, after main, or the other way round; whether in place of the thread that stopped last
 * the one that stopped first goes on; and which memory counts as shared. By other seeds this
 * is by chance, as are the threads' order and how many windows each passes by.
 */
#include <link.h>

#include "sched_private.h"

enum order { NEWEST, OLDEST, CHANCE };

static const int64_t running = 1ll << 40; /* priorities of threads that have not stopped */
static struct {
	struct mode {
		enum order order;
		bool first_goes; /* of those that stopped */
		bool changing; /* only memory that is written while there are threads counts */
	} mode;
	unsigned passing; /* of each thread's first windows fewer than this many, drawn */
	int64_t stops;
	uintptr_t low, high; /* of the program's static data */
} how;

/* Words of memory: their first thread, and whether others have accessed them since. */
enum { WORDS = 4096 };
static struct {
	uintptr_t word;
	uint32_t thread;
	bool shared, changed;
} words[WORDS];

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
	/* each finds errors that the others do not; the one that finds most is the first */
	static const struct mode modes[] = { { NEWEST, true, false },  { OLDEST, false, false },
		                             { NEWEST, false, true },  { OLDEST, false, true },
		                             { NEWEST, false, false }, { NEWEST, true, true } };
	bool known = rt.config.seed < sizeof modes / sizeof *modes;
	how.stops = 0;
	how.passing = 0;
	if (known) {
		how.mode = modes[rt.config.seed];
	} else {
		how.mode.order = (enum order)sched_draw(3);
		how.mode.first_goes = sched_draw(4) == 0;
		how.mode.changing = sched_draw(2);
		how.passing = 1u << sched_draw(7);
	}
	dl_iterate_phdr(find_program, NULL);
}

void sched_pause_born(struct thread *t)
{
	int64_t id = t->id ? t->id : MAX_THREADS;
	t->sched.left = sched_draw(how.passing);
	t->sched.priority = running + (how.mode.order == NEWEST                 ? id
	                               : how.mode.order == OLDEST && t->id == 0 ? id
	                               : how.mode.order == OLDEST               ? -id
	                                                          : 1 + sched_draw(1 << 30));
}

static unsigned slot_of(uintptr_t word)
{
	return (uint32_t)(word * 0x9e3779b97f4a7c15ull >> 40) % WORDS;
}

/* Have the words around it been accessed by this thread alone so far? */
static bool is_own(const struct thread *t, uintptr_t word)
{
	enum { AROUND = 16 };
	for (uintptr_t w = word - AROUND; w <= word + AROUND; w++) {
		unsigned slot = slot_of(w);
		if (words[slot].word == w && words[slot].thread == t->id)
			return !words[slot].shared;
	}
	return false;
}

/* Static data, or main's stack, where arguments of threads lie. */
static bool is_common(uintptr_t place)
{
	enum { STACK = 8 << 20 };
	uintptr_t high = rt.threads[0] ? rt.threads[0]->life.stack_high : 0;
	return (place >= how.low && place < how.high) || (place < high && high - place < STACK);
}

/* Common memory may be, but for main's own; of other memory one knows when a second thread has
 * come. */
static bool is_shared(const struct thread *t)
{
	uintptr_t place = (uintptr_t)t->sched.place, word = place >> 3;
	unsigned slot = slot_of(word);
	if (words[slot].word != word) {
		words[slot].shared = t->sched.synchronises ? !is_own(t, word)
		                                           : t->id != 0 && is_common(place);
		words[slot].changed = false;
		words[slot].thread = t->id;
		words[slot].word = word;
	} else if (words[slot].thread != t->id) {
		words[slot].shared = true;
	}
	words[slot].changed |= t->sched.changes && !sched_alone();
	return words[slot].shared && (words[slot].changed || !how.mode.changing);
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

void sched_pause_event(struct thread *t)
{
	enum { SPINNING = 20000 };
	bool window = is_window(t);
	if (sched.holder == t && sched.steps - sched.turn_start > SPINNING)
		sched_lower(t);
	else if (window && t->sched.left > 0)
		t->sched.left--;
	else if (window)
		t->sched.priority = how.mode.first_goes ? --sched.lowest : ++how.stops;
}
