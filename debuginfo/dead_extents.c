/* dead_extents.c - the extents of functions, from .eh_frame (System V ABI for x86-64, 4.2.4).
 */
#include "debuginfo/dead_private.h"

#include "engine/base/search.h"

#include <string.h>

static uint64_t read_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return number;
}

/* A common information entry of .eh_frame: the form of the entries that name it. */
struct common {
	bool known;    /* addresses are four bytes, relative to their own place */
	bool augments; /* with data of a given length */
	bool excepts;  /* with the landing pads' table in that data */
};

static struct common read_common(const uint8_t *entry, const uint8_t *end)
{
	struct common c = { false };
	const uint8_t *at = entry + 9; /* length, 0, version */
	const char *augmentation = (const char *)at;
	const uint8_t *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
	if (stop == NULL || augmentation[0] != 'z')
		return c;
	at = stop + 1;
	read_number(&at, end); /* of code */
	read_number(&at, end); /* of data */
	at += entry[8] == 1;   /* the register of return addresses */
	if (entry[8] != 1)
		read_number(&at, end);
	read_number(&at, end); /* the length */
	c.augments = true;
	for (const char *kind = augmentation + 1; *kind != '\0' && at < end; kind++) {
		if (*kind == 'R') {
			c.known = *at++ == 0x1b; /* signed, four bytes, relative */
		} else if (*kind == 'L') {
			c.excepts = true;
			at++;
		} else if (*kind == 'P') {
			uint8_t form = *at++;
			at += (form & 7) == 4 || (form & 7) == 0 ? 8 : (form & 7) == 2 ? 2 : 4;
		} else if (*kind != 'S' && *kind != 'B') {
			return (struct common){ false };
		}
	}
	return c;
}

static int by_low(gconstpointer a, gconstpointer b)
{
	const struct extent *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

bool dead_read_extents(struct code *c, const GElf_Shdr *header, const Elf_Data *data)
{
	const uint8_t *begin = data->d_buf, *end = begin + data->d_size;
	for (const uint8_t *entry = begin; entry + 8 <= end;) {
		uint32_t length, back;
		int32_t offset;
		memcpy(&length, entry, 4);
		memcpy(&back, entry + 4, 4);
		if (length == 0)
			break;
		const uint8_t *next = entry + 4 + length;
		if (length < 4 || length > (size_t)(end - entry) - 4)
			return false;
		if (back != 0) {
			if (back > (size_t)(entry + 4 - begin) || length < 13)
				return false;
			struct common common = read_common(entry + 4 - back, end);
			if (!common.known || !common.augments)
				return false;
			struct extent e = { 0 };
			uint32_t size;
			memcpy(&offset, entry + 8, 4);
			memcpy(&size, entry + 12, 4);
			e.low = header->sh_addr + (uint64_t)(entry + 8 - begin) +
			        (uint64_t)(int64_t)offset;
			e.high = e.low + size;
			const uint8_t *at = entry + 16;
			uint64_t count = read_number(&at, next);
			for (; common.excepts && count > 0 && at < next; count--)
				e.excepted |= *at++ != 0;
			g_array_append_val(c->extents, e);
		}
		entry = next;
	}
	g_array_sort(c->extents, by_low);
	return true;
}

const struct extent *dead_extent_at(const struct code *c, uint64_t address)
{
	const struct extent *all = (const void *)c->extents->data;
	guint i = search_end(k, 0u, c->extents->len, all[k].low <= address);
	return i > 0 && address < all[i - 1].high ? &all[i - 1] : NULL;
}
