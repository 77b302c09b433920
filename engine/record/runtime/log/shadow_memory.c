/*
 * shadow_memory.c - the shadow of the program's memory: of each word its last accesses, and who
 * made the block that it lies in. In parts of 2 MB of the program's memory, of which the pages
 * that are not touched take no memory.
 */
#include <signal.h>
#include <string.h>

#include "shadow_private.h"

enum {
	PART_BITS = 21,
	PART = 1 << PART_BITS,
	PAGE_BITS = 12,
	PAGE = 1 << PAGE_BITS,
	PAGES = PART / PAGE,
	GRAIN = 16, /* blocks begin at multiples of it */
	GRAINS = PAGE / GRAIN,
	WORD = 8,
	ADDRESS_BITS = 47,
};

struct part {
	struct shadow_word words[PART / WORD];
	uint32_t grains[PAGES][GRAINS]; /* who made them, where has_grains, */
	uint32_t made[PAGES];           /* else of the whole page */
	bool has_grains[PAGES];
	bool has_words[PAGES]; /* accesses */
};
struct top {
	struct part *part; /* NULL: no accesses, */
	uint32_t made;     /* and this of all of it */
};
static struct top *tops; /* by address */
struct shadow_access **shadow_mores;
static uint32_t more_count = 1, more_free; /* those in use and free; first of the free ones */

void *shadow_pages(size_t bytes)
{
	void *p = rt_pages(bytes);
	if (!p) {
		rt_say("no memory for --no-trace: 'heddle record' keeps the run as a trace");
		rt_die(SIGABRT);
	}
	return p;
}

bool shadow_begin(void)
{
	tops = rt_pages(sizeof(*tops) << (ADDRESS_BITS - PART_BITS));
	return tops != NULL;
}

static struct top *top_at(uintptr_t address)
{
	return &tops[(address & ((UINT64_C(1) << ADDRESS_BITS) - 1)) >> PART_BITS];
}

static __attribute__((noinline)) struct part *new_part(struct top *top)
{
	struct part *part = top->part = shadow_pages(sizeof(*part));
	for (unsigned i = 0; i < PAGES && top->made; i++)
		part->made[i] = top->made;
	return part;
}

struct shadow_place shadow_at(uintptr_t address)
{
	struct top *top = top_at(address);
	struct part *part = likely(top->part) ? top->part : new_part(top);
	unsigned in_part = address & (PART - 1), page = in_part >> PAGE_BITS;
	part->has_words[page] = true;
	return (struct shadow_place){ &part->words[in_part / WORD],
		                      part->has_grains[page]
		                              ? part->grains[page][in_part % PAGE / GRAIN]
		                              : part->made[page] };
}

/* ---- accesses beside a word's own ---- */

uint32_t shadow_more_new(void)
{
	uint32_t number = more_free;
	if (number) {
		more_free = shadow_more(number)->next;
		return number;
	}
	number = more_count++;
	if (!shadow_mores)
		shadow_mores = shadow_pages(sizeof(*shadow_mores) << (32 - MORE_BITS));
	struct shadow_access **block = &shadow_mores[number >> MORE_BITS];
	if (!*block)
		*block = shadow_pages(sizeof(**block) << MORE_BITS);
	return number;
}

uint32_t shadow_more_end(uint32_t number)
{
	struct shadow_access *a = shadow_more(number);
	uint32_t next = a->next;
	*a = (struct shadow_access){ .next = more_free };
	more_free = number;
	return next;
}

static void forget_more(const struct shadow_word *w)
{
	for (uint32_t i = w->at[0].next; i;)
		i = shadow_more_end(i);
}

/* ---- ranges ---- */

/* The part of a range in one page. */
struct page_part {
	struct part *part;
	unsigned page, from, to; /* bytes in the page */
};

static unsigned end_in_page(uintptr_t at, uintptr_t high)
{
	uintptr_t end = (at | (PAGE - 1)) + 1;
	return PAGE - (unsigned)(end > high ? end - high : 0);
}

void shadow_words(uintptr_t low, uintptr_t high, shadow_visit *visit, void *context)
{
	low &= ~(uintptr_t)(WORD - 1);
	for (uintptr_t at = low; at < high;) {
		struct part *part = top_at(at)->part;
		if (!part) {
			at = (at | (PART - 1)) + 1;
			continue;
		}
		unsigned in_part = at & (PART - 1), page = in_part >> PAGE_BITS;
		uintptr_t base = at & ~(uintptr_t)(PAGE - 1);
		unsigned from = at % PAGE, to = end_in_page(at, high);
		for (; part->has_words[page] && from < to; from += WORD)
			visit(context, &part->words[(page << PAGE_BITS | from) / WORD],
			      base + from);
		at = base + PAGE;
	}
}

static void forget(const struct page_part *p)
{
	unsigned from = p->from & ~(WORD - 1u);
	struct shadow_word *first = &p->part->words[(p->page << PAGE_BITS | from) / WORD];
	size_t count = (p->to - from + WORD - 1) / WORD;
	if (!p->part->has_words[p->page])
		return;
	for (size_t i = 0; i < count; i++)
		if (unlikely(first[i].at[0].next | first[i].at[1].next)) {
			forget_more(&first[i]);
			shadow_lock_forget(&first[i]);
		}
	memset(first, 0, count * sizeof(*first));
	if (count == PAGE / WORD)
		p->part->has_words[p->page] = false;
}

static void assign(const struct page_part *p, uint32_t made)
{
	uint32_t *grains = p->part->grains[p->page];
	bool whole = p->from == 0 && p->to == PAGE;
	if (whole) {
		p->part->made[p->page] = made;
		p->part->has_grains[p->page] = false;
		return;
	}
	for (unsigned i = 0; !p->part->has_grains[p->page] && i < GRAINS; i++)
		grains[i] = p->part->made[p->page];
	p->part->has_grains[p->page] = true;
	for (unsigned i = p->from / GRAIN; i < (p->to + GRAIN - 1) / GRAIN; i++)
		grains[i] = made;
}

void shadow_assign(uintptr_t low, uintptr_t high, uint32_t made)
{
	for (uintptr_t at = low; at < high;) {
		struct top *top = top_at(at);
		uintptr_t end = (at | (PART - 1)) + 1;
		if (!top->part && at % PART == 0 && end <= high) {
			top->made = made;
			at = end;
			continue;
		}
		if (!top->part && top->made == made) {
			at = end;
			continue;
		}
		struct page_part p = { top->part ? top->part : new_part(top),
			               (at & (PART - 1)) >> PAGE_BITS, at % PAGE,
			               end_in_page(at, high) };
		forget(&p);
		assign(&p, made);
		at = (at | (PAGE - 1)) + 1;
	}
}
