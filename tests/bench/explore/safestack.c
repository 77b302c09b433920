/*
 * safestack.c - how often schedules drawn by a rule meet SafeStack's error, on a model of the
 * program: many more than the program itself can make.  A thread's step is an access of head,
 * count, a Next or a Value; between two there may be accesses of its own stack, at which a rule
 * also decides.
 *
 *     cc -O3 safestack.c -o safestack && ./safestack RULE [SCHEDULES [SEED [PLACE]]]
 *
 * PLACE: head, or all (default: drawn for each schedule by its number of events).  RULE: a row
 * of `rules`.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rule {
	const char *name;
	bool target;  /* surw: every order of the events of one place equally likely */
	bool redrawn; /* a thread that has made such an event has a new priority */
	bool racing;  /* pos: so have those whose next event races with the one that was made */
	bool even;    /* in place of priorities: each thread equally likely */
	bool one_run; /* the numbers of events are one run's, not the mean over many */
	bool gives_way; /* a thread that looks in vain lets others go first */
	unsigned stack; /* accesses of the stack before each step */
	const char *what;
} rules[] = {
	{ "surw", true, false, true, false, false, true, 0, "shake's" },
	{ "surw-redrawn", true, true, true, false, false, true, 0,
	  "shake's before: a new priority after an event of the target" },
	{ "surw-even", true, false, false, true, false, true, 0,
	  "in between each thread equally likely" },
	{ "surw-code", true, false, false, false, true, false, 10,
	  "as SURW's code, with ten accesses of the stack between two" },
	{ "pos", false, false, true, false, false, true, 0, "shake's" },
	{ "pos-stack", false, false, true, false, false, false, 10,
	  "with accesses of the stack, as SURW's code instruments them" },
	{ 0 },
};

static uint64_t state;
static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state * 0x2545f4914f6cdd1d >> 32) * below >> 32);
}

/* ---- the program ---- */

enum { THREADS = 3, MAIN = THREADS, ALL, ITEMS = 3, ROUNDS = 2 };
enum place {
	COUNT,
	HEAD,
	NEXT,
	VALUE = NEXT + ITEMS,
	PLACES = VALUE + ITEMS,
	NOWHERE = PLACES
};
enum at {
	LOOK,  /* Pop: count > 1? */
	TOP,   /* head1 = head */
	TAKE,  /* next1 = exchange(Next, -1) */
	POP,   /* compare-and-exchange of head */
	LESS,  /* count - 1 */
	UNDO,  /* Next = next1 */
	SET,   /* Value = own number */
	CHECK, /* Value == own number? */
	OLD,   /* Push: head1 = head */
	LINK,  /* Next = head1 */
	PUSH,  /* compare-and-exchange of head */
	MORE,  /* count + 1 */
	UNBORN,
	CREATE, /* main: the next thread */
	DONE
};
static struct thread {
	enum at at;
	int rounds, item, head, next;
	unsigned before; /* accesses of the stack before its next step */
	uint32_t priority, left;
	bool held;
	unsigned in_vain, seen; /* looks that saw nothing new; number of writes at the last */
} thread[ALL];
static int head, count, next[ITEMS], value[ITEMS], created;
static unsigned writes;
static bool failed;

static enum place place_of(const struct thread *t, bool *changes)
{
	static const char kinds[] = {
		'c', 'h', 'N', 'H', 'C', 'N', 'V', 'v', 'h', 'I', 'H', 'C'
	};
	char kind = t->at < UNBORN ? kinds[t->at] : 0;
	*changes = kind >= 'A' && kind <= 'Z';
	switch (kind) {
	case 'c':
	case 'C':
		return COUNT;
	case 'h':
	case 'H':
		return HEAD;
	case 'N':
		return NEXT + t->head;
	case 'I':
		return NEXT + t->item;
	case 'v':
	case 'V':
		return VALUE + t->item;
	default:
		return NOWHERE;
	}
}

static void step(int k, unsigned stack)
{
	struct thread *t = &thread[k];
	switch (t->at) {
	case LOOK:
		t->in_vain = count > 1 ? 0 : t->seen == writes ? t->in_vain + 1 : 1;
		t->seen = writes;
		t->at = count > 1 ? TOP : LOOK;
		break;
	case TOP:
		t->head = head;
		t->at = TAKE;
		break;
	case TAKE:
		t->next = next[t->head];
		next[t->head] = -1;
		writes++;
		t->at = t->next >= 0 ? POP : LOOK;
		break;
	case POP:
		t->at = head == t->head ? LESS : UNDO;
		if (head == t->head)
			head = t->next, writes++;
		break;
	case LESS:
		count--;
		writes++;
		t->item = t->head;
		t->at = SET;
		break;
	case UNDO:
		next[t->head] = t->next;
		writes++;
		t->at = LOOK;
		break;
	case SET:
		value[t->item] = k;
		t->at = CHECK;
		break;
	case CHECK:
		failed |= value[t->item] != k;
		t->at = OLD;
		break;
	case OLD:
		t->head = head;
		t->at = LINK;
		break;
	case LINK:
		next[t->item] = t->head;
		writes++;
		t->at = PUSH;
		break;
	case PUSH:
		t->at = head == t->head ? MORE : LINK;
		if (head == t->head)
			head = t->item, writes++;
		else
			t->head = head;
		break;
	case MORE:
		count++;
		writes++;
		t->at = ++t->rounds == ROUNDS ? DONE : LOOK;
		break;
	case CREATE:
		thread[created].at = LOOK;
		t->at = ++created == THREADS ? DONE : CREATE;
		break;
	default:
		break;
	}
	t->before = stack;
}

/* ---- schedules ---- */

static uint32_t events[PLACES][ALL]; /* of this run; main's: of those that it creates */

static bool may_go(int k)
{
	return thread[k].at != DONE && thread[k].at != UNBORN && !thread[k].held;
}

static bool waits(const struct rule *r, int k)
{
	return r->gives_way && thread[k].in_vain >= 3 && thread[k].seen == writes;
}

static int choose(const struct rule *r, bool walk)
{
	int best = -1, n = 0;
	for (int k = 0; k < ALL; k++) {
		if (!may_go(k))
			continue;
		n++;
		if (walk || r->even) {
			best = draw((uint32_t)n) == 0 ? k : best;
		} else if (best < 0 || waits(r, k) < waits(r, best) ||
		           (waits(r, k) == waits(r, best) &&
		            thread[k].priority > thread[best].priority)) {
			best = k;
		}
	}
	return best;
}

static int draw_intended(const struct rule *r, int at)
{
	uint32_t all = 0, n;
	for (int k = 0; k < ALL; k++)
		all += may_go(k) && (k == at || !waits(r, k)) ? thread[k].left : 0;
	n = draw(all);
	for (int k = 0; k < ALL; k++) {
		if (!may_go(k) || (k != at && waits(r, k)))
			continue;
		if (n < thread[k].left)
			return k;
		n -= thread[k].left;
	}
	return at;
}

/* Does a schedule fail? `left`: the numbers of the target's events by thread, or NULL: no
 * target. `walk`: each thread equally likely. */
static bool run(const struct rule *r, enum place target, const uint32_t left[ALL], bool walk)
{
	enum { LONGEST = 100000, ALONE = 1000 };
	int intended = -1, last = MAIN, alone = 0;
	head = created = 0;
	count = ITEMS;
	writes = 1;
	failed = false;
	memset(events, 0, sizeof events);
	for (int i = 0; i < ITEMS; i++)
		next[i] = i + 1 < ITEMS ? i + 1 : -1;
	for (int k = 0; k < ALL; k++)
		thread[k] = (struct thread){ .at = k == MAIN ? CREATE : UNBORN,
			                     .before = r->stack,
			                     .priority = draw(UINT32_MAX),
			                     .left = left ? left[k] : 0 };
	for (int steps = 0; !failed && steps < LONGEST; steps++) {
		int k = choose(r, walk);
		if (k < 0 || (intended >= 0 && waits(r, k)) ||
		    alone == ALONE) { /* those that are held go on */
			bool held = false;
			for (int i = 0; i < ALL; i++) {
				held |= thread[i].held;
				thread[i].held = false;
				if (alone == ALONE) /* SURW's code: all priorities anew, for
				                       threads that look in vain */
					thread[i].priority = draw(UINT32_MAX);
			}
			intended = -1;
			if (k < 0 && !held)
				break;
			if (k < 0 || held || alone == ALONE) {
				alone = 0;
				continue;
			}
		}
		struct thread *t = &thread[k];
		bool changes = false, here = t->before == 0;
		enum place place = here ? place_of(t, &changes) : NOWHERE;
		bool of_target = left && place == target;
		if (of_target) {
			t->left += t->left == 0;
			if (intended < 0)
				intended = draw_intended(r, k);
			if (intended != k) {
				t->held = true;
				continue;
			}
			t->left--;
			intended = -1;
			for (int i = 0; i < ALL; i++)
				thread[i].held = false;
		}
		for (int i = 0; r->racing && !of_target && place != NOWHERE && i < ALL; i++) {
			bool other = false;
			if (i != k && may_go(i) && thread[i].before == 0 &&
			    place_of(&thread[i], &other) == place && (changes || other))
				thread[i].priority = draw(UINT32_MAX);
		}
		if (!of_target || r->redrawn)
			t->priority = draw(UINT32_MAX);
		if (place != NOWHERE) {
			events[place][k]++;
			events[place][MAIN]++;
		}
		if (t->at == CREATE && here &&
		    left) { /* the creator's events include its child's */
			uint32_t child = left[created];
			if (intended == MAIN && draw(t->left) < child)
				intended = created;
			t->left -= child < t->left ? child : t->left;
		}
		if (here)
			step(k, r->stack);
		else
			t->before--;
		alone = k == last && !r->gives_way && !walk ? alone + 1 : 0;
		last = k;
	}
	return failed;
}

/* Sets the numbers of events, from one run by chance or as the means over many. */
static void count_events(const struct rule *r, uint32_t mean[PLACES][ALL])
{
	enum { MANY = 300 };
	static uint32_t sum[PLACES][ALL];
	uint32_t runs = r->one_run ? 1 : MANY;
	memset(sum, 0, sizeof sum);
	for (uint32_t i = 0; i < runs; i++) {
		run(r, NOWHERE, NULL, r->one_run);
		for (int p = 0; p < PLACES; p++)
			for (int k = 0; k < ALL; k++)
				sum[p][k] += events[p][k];
	}
	for (int p = 0; p < PLACES; p++)
		for (int k = 0; k < ALL; k++)
			mean[p][k] = (sum[p][k] + runs - 1) / runs;
}

int main(int argc, char **argv)
{
	enum { TRIAL = 50000 }; /* schedules with one run's numbers */
	const struct rule *r = rules;
	static uint32_t mean[PLACES][ALL];
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, found = 0;
	while (r->name && (argc < 2 || strcmp(r->name, argv[1]) != 0))
		r++;
	if (!r->name) {
		for (r = rules; r->name; r++)
			printf("%-12s %s\n", r->name, r->what);
		return 2;
	}
	state = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1) * 0x9e3779b97f4a7c15 | 1;
	bool only_head = argc > 4 && strcmp(argv[4], "head") == 0;
	for (uint64_t n = 0; n < most; n++) {
		if (n % TRIAL == 0 && (n == 0 || r->one_run))
			count_events(r, mean);
		uint32_t all = 0;
		int place = 0;
		for (int p = 0; p < PLACES; p++)
			all += mean[p][MAIN];
		uint32_t at = draw(all);
		while (at >= mean[place][MAIN])
			at -= mean[place++][MAIN];
		if (only_head)
			place = HEAD;
		found += run(r, (enum place)place, r->target ? mean[place] : NULL, false);
	}
	printf("%s: %llu of %llu", r->name, (unsigned long long)found,
	       (unsigned long long)most);
	printf(found ? ", one in %.0f\n" : "\n", found ? (double)most / (double)found : 0);
	return 0;
}
