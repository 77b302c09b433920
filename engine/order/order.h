/*
 * order.h - the partial orders of semantics.md behind one interface, for race reports,
 * explanations and the clock view.
 *
 * An order is computed once for a whole trace, in linear passes; vector clocks are kept for
 * each synchronisation-free region, not for each event.
 */
#ifndef HEDDLE_ORDER_H
#define HEDDLE_ORDER_H

#include "engine/finding.h"
#include "engine/order/edc_sections.h"
#include "engine/order/wide_clocks.h"
#include "engine/trace/index.h"

/* enumerator, word of the command line, title */
#define ORDERS(O) \
	O(PO, "po", "program order and must-order") /* with synchronises-with */ \
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
/* Any kind but EDC, which needs specifications (edc_order_new). Builds the index that it needs.
 * NULL when cancelled. Freed by order_free. */
struct order *order_new(struct trace *t, enum order_kind kind, const struct progress *progress);
/*
 * Program order, must-order, and those synchronises-with edges that every correct reordering
 * has: none through consecutive stores of one thread, as another reordering may put a store
 * between them that ends the release sequence. order_kind says ORDER_KIND_PO. Every predictable
 * race, and every C11 race, is unordered by it.
 */
struct order *order_new_fixed(struct trace *t, const struct progress *progress);
/* Program order, must-order, and those observations with a plain access on either side, which
 * every correct reordering has as well. If such a pair is not itself a race, C11 orders all
 * later events after it. A pair that this order orders is no race of either kind. */
struct order *order_new_lasting(struct trace *t, const struct progress *progress);
/*
 * EDC (semantics.md, "The partial orders"): WDC with "conflict" read as "does not commute".
 * Items are variables read or written, and access points; `clashing` says which of them do not
 * commute. An invocation touches its items when it returns. `bounded`: each item keeps four
 * sections (algorithm 3 of the thesis), which saves time and memory and may lose edges.
 * order_new of this kind knows accesses only, which is WDC.
 */
struct order_touches {
	struct event_lists touched;  /* by event: items */
	struct event_lists clashing; /* by item: items */
	uint64_t items;
	bool bounded;
};
/* `sections`: receives the sections by their acquires (struct edc_section, a reference each);
 * or NULL. */
struct order *order_new_edc(struct trace *t, const struct order_touches *touches,
                            GHashTable *sections, const struct progress *progress);
void order_free(struct order *order);
enum order_kind order_kind(const struct order *order);
/* Is `e` before `f`? False for e == f and for e >tr f. CP and WCP do not contain program order:
 * for these, by the order or by program order with must-order, as their definition of a race
 * has it. */
bool order_ordered(const struct order *order, uint32_t e, uint32_t f);
/* The same without the edges of f's own observation (synchronises-with into an atomic read,
 * SHB's last writer). The two accesses of a race may read other values than in the trace, so
 * SHB's pairs and the candidates of sound analyses are tested by this. */
bool order_ordered_unobserved(const struct order *order, uint32_t e, uint32_t f);
/* The chain from `e` to `f` with the rule of each step; false, and an empty path, when
 * unordered. */
bool order_path(const struct order *order, uint32_t e, uint32_t f, struct path *path);
/* The vector clock of `e` in positions: for each thread the number of its events that are
 * before `e` or `e` itself. */
void order_clock(const struct order *order, uint32_t e, uint32_t *clock);
/* The vector clock of `f` in event ids: for each thread but f's own, one more than its last
 * event before `f`; 0: none. Answers many questions about one event. */
struct clock_view order_past(const struct order *order, uint32_t f, bool unobserved);
/* All clocks of the order. */
const struct clocks *order_clocks(const struct order *order);

/* Vector clocks of some events alone, by one walk in memory that does not grow with the
 * trace. `events` is borrowed: ascending, each once. NULL when cancelled. */
struct order_pasts;
struct order_pasts *order_pasts_new(struct trace *t, enum order_kind kind,
                                    const uint32_t *events, uint64_t count,
                                    const struct progress *progress);
void order_pasts_free(struct order_pasts *pasts);
/* Join the vector clock (as order_past) of one of the events, without its own observation, into
 * an array: to[u] := the larger of both. */
void order_pasts_join(const struct order_pasts *pasts, uint32_t event, uint32_t *to);

/* Append one step of a chain as a sentence in the user's names, without a full stop: "T1
 * releases m at bank.c:31 before T2 acquires it at bank.c:30". */
void order_append_sentence(const struct trace *t, const struct step *step, GString *out);
/* The last event of e's thread that is before `f`, or NONE: the reason why e is not before
 * f. */
uint32_t order_last_before(const struct order *order, uint32_t e, uint32_t f);

#endif
