/* running_ranges.c - see running_ranges.h. */
#include "engine/base/hash.h"
#include "engine/record/import/running_ranges.h"
#include "engine/record/import/running.h"

#define NO_PAGE UINT64_MAX /* a page's number that no address has */

__attribute__((noinline)) uint32_t *ranges_page(struct ranges *r, uint64_t number)
{
	gpointer key = GSIZE_TO_POINTER(number);
	uint32_t *at = g_hash_table_lookup(r->pages, key);
	if (at == NULL) {
		at = g_new0(uint32_t, PAGE_BYTES);
		g_hash_table_insert(r->pages, key, at);
	}
	r->page[number % PAGES] = (struct recent_page){ number, at };
	return at;
}

/* The variable at a byte; 0: none yet in this life of the memory. */
static uint32_t variable_at(struct ranges *r, uint64_t address, uint32_t region)
{
	uint32_t variable = *range_byte(r, address);
	const struct variable_range *v = range_at(r, variable);
	bool is =
	        v->region == region && address >= v->address && address - v->address < v->size;
	return is ? variable : 0;
}

static void set_bytes(struct ranges *r, uint32_t variable)
{
	const struct variable_range v = *range_at(r, variable);
	r->renumbered += v.size;
	for (uint32_t i = 0; i < v.size; i++)
		*range_byte(r, v.address + i) = variable;
}

/* The variable is no longer just a place. */
static void forget_place(const struct ranges *r, struct variable_range *v)
{
	struct known_place *known = range_known(r, v->place - 1);
	if (v->place && known->place == v->place)
		known->place = 0;
	v->place = 0;
}

/* A variable for new memory: one from an earlier life is reused if it has the same bytes. */
static uint32_t new_variable(struct ranges *r, struct variable_range range)
{
	uint32_t variable = *range_byte(r, range.address);
	if (variable != 0 && range_at(r, variable)->address == range.address &&
	    range_at(r, variable)->size == range.size) {
		forget_place(r, range_at(r, variable));
		*range_at(r, variable) = range;
		r->sink->renew(r->sink->context, variable);
	} else {
		variable = r->variables->len;
		g_array_append_val(r->variables, range);
	}
	set_bytes(r, variable);
	return variable;
}

/* Splits a variable at an address; returns the numbers of both parts. The smaller one gets a
 * new number: so a byte changes its variable at most log2(size) times, however a large block
 * that was filled at once is accessed afterwards. */
struct parts {
	uint32_t lower, upper;
};
static struct parts split(struct ranges *r, uint32_t variable, uint64_t address)
{
	forget_place(r, range_at(r, variable));
	struct variable_range lower = *range_at(r, variable), upper = lower;
	uint32_t made = r->variables->len;
	lower.size = (uint32_t)(address - lower.address);
	upper.address = address;
	upper.size -= lower.size;
	bool lower_is_new = lower.size < upper.size;
	g_array_append_val(r->variables, upper);
	*range_at(r, made) = lower_is_new ? lower : upper;
	*range_at(r, variable) = lower_is_new ? upper : lower;
	set_bytes(r, made);
	r->sink->split(r->sink->context, variable, made);
	return lower_is_new ? (struct parts){ made, variable }
	                    : (struct parts){ variable, made };
}

/* The variable from an address on of an access: a new one, or one that it covers in part and
 * that is split. */
static __attribute__((noinline)) uint32_t divide(struct ranges *r, struct variable_range access,
                                                 uint64_t at)
{
	uint64_t end = access.address + access.size;
	uint32_t variable = variable_at(r, at, access.region);
	if (variable == 0) {
		uint64_t to = at + 1;
		while (to < end && variable_at(r, to, access.region) == 0)
			to++;
		struct variable_range fresh = { at, (uint32_t)(to - at), access.region,
			                        access.block, 0 };
		variable = new_variable(r, fresh);
	} else if (range_at(r, variable)->address < at) {
		variable = split(r, variable, at).upper;
	}
	const struct variable_range *v = range_at(r, variable);
	return v->address + v->size > end ? split(r, variable, end).lower : variable;
}

const uint32_t *ranges_cover(struct ranges *r, struct variable_range access, uint32_t *count)
{
	uint64_t end = access.address + access.size;
	r->covered.count = 0;
	for (uint64_t at = access.address; at < end;) {
		uint32_t variable = *range_byte(r, at);
		const struct variable_range *v = range_at(r, variable);
		bool whole = v->address == at && v->region == access.region &&
		             v->size - UINT64_C(1) < end - at; /* a size of 0 is too large */
		if (G_UNLIKELY(!whole))
			variable = divide(r, access, at);
		*(uint32_t *)column_push(&r->covered) = variable;
		at += range_at(r, variable)->size;
	}
	*count = (uint32_t)r->covered.count;
	const uint32_t *covered = (const uint32_t *)(void *)r->covered.data;
	if (*count == 1 && access.place) {
		range_at(r, covered[0])->place = access.place;
		*range_known(r, access.place - 1) =
		        (struct known_place){ access.place, covered[0], access.block };
	}
	return covered;
}

void ranges_init(struct ranges *r, const struct running_sink *sink)
{
	r->sink = sink;
	r->pages = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	for (int i = 0; i < PAGES; i++)
		r->page[i].number = NO_PAGE;
	r->variables = g_array_new(FALSE, TRUE, sizeof(struct variable_range));
	g_array_set_size(r->variables, 1);
	r->known = g_new0(struct known_place, KNOWN_PLACES);
	column_init(&r->covered, sizeof(uint32_t), NULL, 0);
}

void ranges_release(struct ranges *r)
{
	g_hash_table_destroy(r->pages);
	g_array_free(r->variables, TRUE);
	g_free(r->known);
	column_free(&r->covered);
}
