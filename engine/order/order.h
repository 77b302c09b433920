/*
 * order.h - one interface to every partial order of semantics.md, so that race reports,
 * explanations and the clock view do not know which one they look at.
 *
 * An order is made once for a whole trace (linear passes; vector clocks are kept per
 * stretch between synchronisations, not per event) and then asked.
 */
#ifndef HEDDLE_ORDER_H
#define HEDDLE_ORDER_H

#include "engine/finding.h"
#include "engine/trace/index.h"

/* enumerator, word on the command line, name for people */
#define ORDERS(O) \
	O(PO, "po", "program order and must-order") /* with the synchronises-with edges */ \
	O(HB, "hb", "happens-before") \
	O(SHB, "shb", "schedulable happens-before") \
	O(CP, "cp", "causally-precedes") \
	O(WCP, "wcp", "weak causally-precedes") \
	O(DC, "dc", "doesn't-commute") \
	O(WDC, "wdc", "weak doesn't-commute") \
	O(EDC, "edc", "extended doesn't-commute")
enum order_kind {
#define O(name, word, title) ORDER_KIND_##name,
	ORDERS(O)
#undef O
	        ORDER_KIND_COUNT
};
bool order_kind_from_word(const char *word, enum order_kind *kind);
const char *order_kind_word(enum order_kind kind);
const char *order_kind_title(enum order_kind kind);

struct order;
/* Needs the trace's index (builds what it needs).  NULL when cancelled. */
struct order *order_new(struct trace *t, enum order_kind kind, const struct progress *progress);
/*
 * Program order, must-order, and the synchronises-with edges that are in every correct
 * reordering: not those that rest on stores of one thread following each other, between
 * which another order may have a store that ends the release sequence.  ORDER_KIND_PO to
 * those who ask.  What it leaves unordered loses no race, nor those visible only by C11.
 */
struct order *order_new_fixed(struct trace *t, const struct progress *progress);
/*
 * The same with the observations that have a plain access on either side, which are in every
 * correct reordering, too, and orders what comes after them by C11 (or else it races itself,
 * and what comes after it is no race of its own).  What it orders is no race of either kind.
 */
struct order *order_new_lasting(struct trace *t, const struct progress *progress);
/*
 * EDC: WDC with "conflict" read as "does not commute".  What does not commute is given as
 * things that events touch (a variable read or written, an access point) and which of these
 * clash.  With `bounded`, critical sections are tracked in four 8-byte words a thing, as the
 * thesis's algorithm 3 does: less time and memory, and edges may be lost.  order_new of this
 * kind takes memory accesses alone, which is WDC.
 */
struct order_touches {
	struct event_lists touched;  /* by event: things */
	struct event_lists clashing; /* by thing: things */
	uint64_t things;
	bool bounded;
};
struct order *order_new_edc(struct trace *t, const struct order_touches *touches,
                            const struct progress *progress);
void order_free(struct order *order);
enum order_kind order_kind(const struct order *order);
/* Is `e` before `f`?  Any two events; false for e == f and for e >tr f.  For CP and WCP,
 * which do not contain program order, "ordered" is by the order or program order with the
 * must-orders, as their race definition asks. */
bool order_ordered(const struct order *order, uint32_t e, uint32_t f);
/*
 * The same without what `f` itself reads from: the edges of its own observation
 * (synchronises-with into an atomic read, SHB's last writer) are left out.  A race asks
 * nothing of what its own two accesses observe, so this is the question for SHB's pairs and
 * for the candidates of a sound search.
 */
bool order_ordered_unobserved(const struct order *order, uint32_t e, uint32_t f);
/* The chain of events from `e` to `f` with the rule of each step; false (and an empty path)
 * when they are not ordered. */
bool order_path(const struct order *order, uint32_t e, uint32_t f, struct path *path);
/* The vector clock of `e`: for each thread, how many of its events are before `e` or are
 * `e` (positions in the thread, so clock[t] == 3 means the first three). */
void order_clock(const struct order *order, uint32_t e, uint32_t *clock);
/*
 * What `f` comes after, for many questions about one event: for each thread but f's own, one
 * more than the last event (an id) of that thread that is before `f`; 0 for none.  Borrowed.
 */
const uint32_t *order_past(const struct order *order, uint32_t f, bool unobserved);

/*
 * One step of a chain as a sentence in the user's names, without a full stop: "T1 releases m
 * at bank.c:31 before T2 acquires it at bank.c:30".  Appended to `out`.
 */
void order_append_sentence(const struct trace *t, const struct step *step, GString *out);
/* The last event of e's thread that is before `f`, or NONE; what "e is not before f" rests
 * on. */
uint32_t order_last_before(const struct order *order, uint32_t e, uint32_t f);

#endif
