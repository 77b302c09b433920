/*
 * dead.c - see dead.h.
 *
 * By function (an entry of .eh_frame): a walk over its instructions, along direct jumps.
 * Forward (dead_walk.c) it finds which registers hold addresses of the frame, so that each
 * access of the frame is known by its place; then backward which places are read before they
 * are overwritten. When an address of the frame goes anywhere else than into an access or
 * ThreadSanitizer's hooks, any code may read the frame: all of it is live. The same holds
 * where jumps or exceptions lead to unknown places.
 */
#include "debuginfo/dead.h"

#include "debuginfo/dead_private.h"

#include <string.h>

static void mark(uint64_t *frame, struct bytes bytes, bool live)
{
	for (int32_t b = bytes.at; b < bytes.at + bytes.count; b++) {
		if (b < -WINDOW || b >= 0)
			continue;
		uint64_t bit = (uint64_t)1 << (b + WINDOW) % 64;
		if (live)
			frame[(b + WINDOW) / 64] |= bit;
		else
			frame[(b + WINDOW) / 64] &= ~bit;
	}
}

/* Updates the live set before a node; true when it has grown. */
static bool look_back(struct function *f, struct node *n)
{
	uint8_t live = 0;
	uint64_t frame[WINDOW / 64] = { 0 };
	uint32_t after[2] = { n->next, n->target };
	for (int k = 0; k < 2; k++) {
		if (after[k] == NONE)
			continue;
		live |= f->nodes[after[k]].live;
		for (int w = 0; w < WINDOW / 64; w++)
			frame[w] |= f->nodes[after[k]].live_frame[w];
	}
	live = n->anything ? ALL_REGISTERS : (uint8_t)((live & ~n->overwrites) | n->reads);
	mark(frame, n->written, false);
	mark(frame, n->read[0], true);
	mark(frame, n->read[1], true);
	if (n->anything || n->frame)
		memset(frame, 0xff, sizeof frame);
	bool more = live != n->live || memcmp(frame, n->live_frame, sizeof frame) != 0;
	n->live = live;
	memcpy(n->live_frame, frame, sizeof frame);
	return more;
}

/* The dead bytes of the frame above the stack pointer. */
static void find_ranges(const struct node *n, struct dead_site *site)
{
	int32_t from = n->before[RSP];
	if (!dead_is_known(from) || from < -WINDOW)
		return;
	for (int32_t b = from; b < 0; b++) {
		if (n->live_frame[(b + WINDOW) / 64] >> (b + WINDOW) % 64 & 1)
			continue;
		int32_t end = b + 1;
		while (end < 0 &&
		       !(n->live_frame[(end + WINDOW) / 64] >> (end + WINDOW) % 64 & 1))
			end++;
		if (site->count == DEAD_RANGES)
			return;
		site->range[site->count].from = (uint16_t)(b - from);
		site->range[site->count++].bytes = (uint16_t)(end - b);
		b = end;
	}
}

static void find_sites(struct function *f, GArray *sites)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t k = f->count; k-- > 0;)
			more |= look_back(f, &f->nodes[k]);
	}
	for (uint32_t k = 0; k < f->count; k++) {
		const struct node *n = &f->nodes[k];
		struct dead_site site = { .address = n->address + n->i->size,
			                  .registers = (uint8_t)(ALL_REGISTERS & ~n->live) };
		if (!n->looks || n->address < f->extent->low || n->address >= f->extent->high)
			continue;
		if (!f->escapes && !f->extent->excepted)
			find_ranges(n, &site);
		if (site.registers != 0 || site.count > 0)
			g_array_append_val(sites, site);
	}
}

static void take_function(struct code *c, const struct extent *e, GArray *sites)
{
	struct function f = { .code = c,
		              .by_address = g_hash_table_new(NULL, NULL),
		              .open = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		              .extent = e };
	dead_walk(&f, e->low);
	if (!f.unknown)
		find_sites(&f, sites);
	for (uint32_t k = 0; k < f.count; k++)
		capstone.free(f.nodes[k].i, 1);
	g_free(f.nodes);
	g_hash_table_unref(f.by_address);
	g_array_free(f.open, TRUE);
}

/* Collects the functions with calls of atomic operations and locks: possible ones are found
 * without following code. */
static void find_functions(struct code *c, uint64_t base, const Elf_Data *data,
                           GHashTable *functions)
{
	const uint8_t *p = data->d_buf;
	for (size_t i = 0; i + 6 <= data->d_size; i++) {
		bool direct = p[i] == 0xe8, by_word = p[i] == 0xff && p[i + 1] == 0x15;
		int32_t distance;
		if (!direct && !by_word)
			continue;
		memcpy(&distance, p + i + (direct ? 1 : 2), 4);
		uint64_t to = base + i + (direct ? 5 : 6) + (uint64_t)(int64_t)distance;
		const char *name =
		        direct ? dead_linkage_at(c, to)
		               : g_hash_table_lookup(c->slots, (gpointer)(uintptr_t)to);
		const struct extent *e = dead_is_lock(name) || dead_is_atomic_hook(name)
		                                 ? dead_extent_at(c, base + i)
		                                 : NULL;
		if (e != NULL)
			g_hash_table_add(functions, (gpointer)e);
	}
}

static int by_address(gconstpointer a, gconstpointer b)
{
	const struct dead_site *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void take_code(struct code *c, GArray *sites)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	bool known = true;
	elf_getshdrstrndx(c->m.elf, &names);
	dead_read_linkage(c);
	GHashTable *functions = g_hash_table_new(NULL, NULL);
	for (int pass = 0; pass < 2; pass++)
		while ((section = elf_nextscn(c->m.elf, section)) != NULL) {
			GElf_Shdr header;
			Elf_Data *data;
			if (gelf_getshdr(section, &header) == NULL ||
			    header.sh_type == SHT_NOBITS ||
			    (data = elf_getdata(section, NULL)) == NULL || data->d_buf == NULL)
				continue;
			const char *name = elf_strptr(c->m.elf, names, header.sh_name);
			if (pass == 0 && name != NULL && strcmp(name, ".eh_frame") == 0)
				known = dead_read_extents(c, &header, data);
			else if (pass == 1 && known && header.sh_flags & SHF_EXECINSTR)
				find_functions(c, header.sh_addr, data, functions);
		}
	GHashTableIter each;
	gpointer extent;
	g_hash_table_iter_init(&each, functions);
	while (g_hash_table_iter_next(&each, &extent, NULL))
		take_function(c, extent, sites);
	g_hash_table_unref(functions);
	g_array_sort(sites, by_address);
}

GArray *debuginfo_dead(const char *path)
{
	GArray *sites = g_array_new(FALSE, FALSE, sizeof(struct dead_site));
	struct code c = { .slots = g_hash_table_new(NULL, NULL),
		          .linkage = g_hash_table_new(NULL, NULL),
		          .extents = g_array_new(FALSE, FALSE, sizeof(struct extent)) };
	if (machine_open(&c.m, path, true))
		take_code(&c, sites);
	machine_close(&c.m);
	g_hash_table_unref(c.slots);
	g_hash_table_unref(c.linkage);
	g_array_free(c.extents, TRUE);
	return sites;
}
