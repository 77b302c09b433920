/*
 * shadow_memory.c - the shadow of the program's memory: of each word its last accesses, and who
 * made the block that it lies in. In parts of 2 MB of the program's memory, of which the pages
 * that are not touched take no memory.
 */
#include <signal.h>
#include <string.h>

#include "shadow_private.h"

struct shadow_top *shadow_tops;
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
	shadow_tops =
	        rt_pages(sizeof(*shadow_tops) << (SHADOW_ADDRESS_BITS - SHADOW_PART_BITS));
	return shadow_tops != NULL;
}

struct shadow_part *shadow_new_part(struct shadow_top *top)
{
	struct shadow_part *part = top->part = shadow_pages(sizeof(*part));
	for (unsigned i = 0; i < SHADOW_PAGES && top->made; i++)
		part->made[i] = top->made;
	return part;
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
	struct shadow_part *part;
	unsigned page, from, to; /* bytes in the page */
};

static unsigned end_in_page(uintptr_t at, uintptr_t high)
{
	uintptr_t end = (at | (SHADOW_PAGE - 1)) + 1;
	return SHADOW_PAGE - (unsigned)(end > high ? end - high : 0);
}

void shadow_words(uintptr_t low, uintptr_t high, shadow_visit *visit, void *context)
{
	low &= ~(uintptr_t)(SHADOW_WORD - 1);
	for (uintptr_t at = low; at < high;) {
		struct shadow_part *part = shadow_top_at(at)->part;
		if (!part) {
			at = (at | (SHADOW_PART - 1)) + 1;
			continue;
		}
		unsigned in_part = at & (SHADOW_PART - 1), page = in_part >> SHADOW_PAGE_BITS;
		uintptr_t base = at & ~(uintptr_t)(SHADOW_PAGE - 1);
		unsigned from = at % SHADOW_PAGE, to = end_in_page(at, high);
		for (; part->has_words[page] && from < to; from += SHADOW_WORD)
			visit(context,
			      &part->words[(page << SHADOW_PAGE_BITS | from) / SHADOW_WORD],
			      base + from);
		at = base + SHADOW_PAGE;
	}
}

bool shadow_has_words(uintptr_t low, uintptr_t high)
{
	for (uintptr_t at = low; at < high;) {
		const struct shadow_part *part = shadow_top_at(at)->part;
		unsigned page = (at & (SHADOW_PART - 1)) >> SHADOW_PAGE_BITS;
		if (part && part->has_words[page])
			return true;
		at = (at | ((part ? SHADOW_PAGE : SHADOW_PART) - 1)) + 1;
	}
	return false;
}

static void forget(const struct page_part *p)
{
	unsigned from = p->from & ~(SHADOW_WORD - 1u);
	struct shadow_word *first =
	        &p->part->words[(p->page << SHADOW_PAGE_BITS | from) / SHADOW_WORD];
	size_t count = (p->to - from + SHADOW_WORD - 1) / SHADOW_WORD;
	if (!p->part->has_words[p->page])
		return;
	for (size_t i = 0; i < count; i++)
		if (unlikely(first[i].at[0].next | first[i].at[1].next)) {
			forget_more(&first[i]);
			shadow_lock_forget(&first[i]);
		}
	memset(first, 0, count * sizeof(*first));
	if (count == SHADOW_PAGE / SHADOW_WORD)
		p->part->has_words[p->page] = false;
}

static void assign(const struct page_part *p, uint32_t made)
{
	uint32_t *grains = p->part->grains[p->page];
	bool whole = p->from == 0 && p->to == SHADOW_PAGE;
	if (whole) {
		p->part->made[p->page] = made;
		p->part->has_grains[p->page] = false;
		return;
	}
	for (unsigned i = 0; !p->part->has_grains[p->page] && i < SHADOW_GRAINS; i++)
		grains[i] = p->part->made[p->page];
	p->part->has_grains[p->page] = true;
	for (unsigned i = p->from / SHADOW_GRAIN; i < (p->to + SHADOW_GRAIN - 1) / SHADOW_GRAIN;
	     i++)
		grains[i] = made;
}

void shadow_assign(uintptr_t low, uintptr_t high, uint32_t made)
{
	for (uintptr_t at = low; at < high;) {
		struct shadow_top *top = shadow_top_at(at);
		uintptr_t end = (at | (SHADOW_PART - 1)) + 1;
		if (!top->part && at % SHADOW_PART == 0 && end <= high) {
			top->made = made;
			at = end;
			continue;
		}
		if (!top->part && top->made == made) {
			at = end;
			continue;
		}
		struct page_part p = { top->part ? top->part : shadow_new_part(top),
			               (at & (SHADOW_PART - 1)) >> SHADOW_PAGE_BITS,
			               at % SHADOW_PAGE, end_in_page(at, high) };
		forget(&p);
		assign(&p, made);
		at = (at | (SHADOW_PAGE - 1)) + 1;
	}
}
