/* mutate.c - see mutate.h. */
#include "tests/support/mutate.h"

#include "engine/trace/storage.h"

#include <elf.h>
#include <string.h>

static uint64_t state = 1;

void mutate_seed(uint64_t seed)
{
	state = seed ? seed : 1;
	for (int i = 0; i < 8; i++) /* neighbouring seeds part */
		mutate_random();
}

uint64_t mutate_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t mutate_below(uint64_t limit)
{
	return limit ? mutate_random() % limit : 0;
}

static uint64_t extreme_word(void)
{
	static const uint64_t words[] = {
		0,          1,          2,         0x7f,       0x80,       0xff,
		0x7fff,     0x8000,     0xffff,    0x7fffffff, 0x80000000, 0xffffffff,
		1ull << 32, 1ull << 48, INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 7
	};
	return words[mutate_below(G_N_ELEMENTS(words))];
}

const char *mutate_extreme(void)
{
	static const char *const numbers[] = {
		"0",
		"-1",
		"1",
		"00000000000000000000000001",
		"2147483647",
		"2147483648",
		"4294967295",
		"4294967296",
		"-2147483649",
		"9223372036854775807",
		"9223372036854775808",
		"-9223372036854775808",
		"18446744073709551615",
		"18446744073709551616",
		"1e308",
		"1e999",
		"-0",
		"0.5",
		"0x10",
		"nan",
		"99999999999999999999999999999999999999",
	};
	return numbers[mutate_below(G_N_ELEMENTS(numbers))];
}

const char *const mutate_pieces[] = {
	"|",
	"(",
	")",
	"\"",
	"\\",
	"[",
	"]",
	"{",
	"}",
	",",
	";",
	":",
	"=",
	">",
	"/",
	"\n",
	"\r\n",
	"\t",
	"#! ",
	"T|",
	"+4",
	"99999999999999999999",
	"\\x0",
	"\xff",
	"\x1b]0;",
	"\xe2\x80\xae",
	"\xc2\x9b",
	"-",
	"r4(",
	"rmw(",
	"acq",
	"tryacq(",
	"tryfail(",
	"want(",
	"ret(",
	"leave(",
	"stack ",
	"size ",
	"atomic-set ",
	"fork(T)",
	"join(main)",
	"alloc(",
	"free(",
	"call(",
	"p+18446744073709551615",
	"nil",
	"true",
	"null",
	"seq_cst",
	"../",
	"/dev/null",
	"%s%n",
	"$(id)",
	"`id`",
	"' ",
	"commute ",
	"object ",
	"bind ",
	"== result",
	"text",
	"\\u0000",
	"\\ud800",
	NULL,
};

/* ---- text ---- */

/* A token from `at` on: a run of letters and digits, or one other byte. */
static gsize token_length(const GString *s, gsize at)
{
	gsize n = 0;

	while (at + n < s->len && (g_ascii_isalnum(s->str[at + n]) || s->str[at + n] == '_'))
		n++;
	return n ? n : at < s->len;
}

static gsize token_begin(const GString *s)
{
	gsize at = mutate_below(s->len);

	while (at > 0 && g_ascii_isalnum(s->str[at]) && g_ascii_isalnum(s->str[at - 1]))
		at--;
	return at;
}

static void replace(GString *s, gsize at, gsize length, const char *by, gssize by_length)
{
	g_string_erase(s, (gssize)at, (gssize)length);
	g_string_insert_len(s, (gssize)at, by, by_length);
}

/* The nearest number behind a random place. */
static void number_to_extreme(GString *s)
{
	for (gsize at = mutate_below(s->len); at < s->len; at++) {
		if (!g_ascii_isdigit(s->str[at]) || (at > 0 && g_ascii_isalnum(s->str[at - 1])))
			continue;
		gsize n = 0;
		while (at + n < s->len && g_ascii_isdigit(s->str[at + n]))
			n++;
		replace(s, at, n, mutate_extreme(), -1);
		return;
	}
}

static void exchange_tokens(GString *s)
{
	gsize a = token_begin(s), b = token_begin(s);
	gsize first = MIN(a, b), second = MAX(a, b);
	gsize first_length = token_length(s, first), second_length = token_length(s, second);

	if (first + first_length > second)
		return;
	char *one = g_strndup(s->str + first, first_length);
	char *two = g_strndup(s->str + second, second_length);
	replace(s, second, second_length, one, -1);
	replace(s, first, first_length, two, -1);
	g_free(one);
	g_free(two);
}

struct line {
	gsize at, length; /* with the line's end */
};
static struct line line_of(const GString *s)
{
	gsize at = mutate_below(s->len), end;

	while (at > 0 && s->str[at - 1] != '\n')
		at--;
	for (end = at; end < s->len && s->str[end] != '\n';)
		end++;
	return (struct line){ at, MIN(end + 1, s->len) - at };
}

static void damage_lines(GString *s, const GString *other)
{
	const GString *from = other && other->len && mutate_below(2) ? other : s;
	struct line taken = line_of(from), here = line_of(s);
	char *text = g_strndup(from->str + taken.at, taken.length);

	switch (mutate_below(4)) {
	case 0: /* one again, or of the other file */
		g_string_insert(s, (gssize)here.at, text);
		break;
	case 1:
		g_string_erase(s, (gssize)here.at, (gssize)here.length);
		break;
	case 2: /* one in the place of another */
		replace(s, here.at, here.length, text, -1);
		break;
	default: { /* two neighbours change places */
		char *moved = g_strndup(s->str + here.at, here.length);
		gsize next = here.at + here.length;

		g_string_erase(s, (gssize)here.at, (gssize)here.length);
		for (next = here.at; next < s->len && s->str[next] != '\n';)
			next++;
		g_string_insert(s, (gssize)MIN(next + 1, s->len), moved);
		g_free(moved);
	}
	}
	g_free(text);
}

/* Many of a piece at once: deep nesting, long names. */
static void swell(GString *s, gssize at, const char *piece)
{
	size_t count = 1u << (4 + mutate_below(13));

	for (size_t i = 0; i < count; i++)
		g_string_insert(s, at, *piece ? piece : "x");
}

static void mutate_once(GString *s, const char *piece, const GString *other)
{
	gssize at = (gssize)mutate_below(s->len + 1);

	switch (mutate_below(12)) {
	case 0:
		g_string_insert(s, at, piece);
		break;
	case 1:
		g_string_erase(s, at, (gssize)mutate_below(MIN(40, s->len - (gsize)at + 1)));
		break;
	case 2:
		s->str[mutate_below(s->len)] = (char)mutate_random();
		break;
	case 3: { /* a range again, elsewhere */
		gsize from = mutate_below(s->len + 1),
		      length = mutate_below(MIN(200, s->len - from + 1));
		char *copy = g_memdup2(s->str + from, length + 1);
		g_string_insert_len(s, at, copy, (gssize)length);
		g_free(copy);
		break;
	}
	case 4:
		if (mutate_below(3) == 0)
			g_string_truncate(s, (gsize)at);
		break;
	case 5:
		g_string_overwrite(s, (gsize)at, piece);
		break;
	case 6:
	case 7:
		number_to_extreme(s);
		break;
	case 8: {
		gsize token = token_begin(s);
		replace(s, token, token_length(s, token), piece, -1);
		break;
	}
	case 9:
		exchange_tokens(s);
		break;
	case 10:
		if (mutate_below(40) == 0)
			swell(s, at, piece);
		break;
	default:
		damage_lines(s, other);
	}
}

void mutate_text(GString *s, const char *const *pieces, const GString *other)
{
	size_t count = g_strv_length((char **)pieces);

	for (size_t n = 1 + mutate_below(4); n > 0; n--) {
		if (s->len == 0)
			g_string_assign(s, pieces[mutate_below(count)]);
		mutate_once(s, pieces[mutate_below(count)], other);
	}
}

/* ---- bytes ---- */

static void put_word(char *at, size_t room)
{
	uint64_t w = mutate_below(3) ? extreme_word() : mutate_random();
	static const size_t sizes[] = { 1, 2, 4, 8 };

	memcpy(at, &w, MIN(room, sizes[mutate_below(4)]));
}

void mutate_bytes(GString *s, size_t from, bool keep_length)
{
	for (size_t n = 1 + mutate_below(4); n > 0 && s->len > from; n--) {
		size_t at = from + mutate_below(s->len - from), aligned = at & ~(size_t)3;
		size_t other = from + mutate_below(s->len - from);
		size_t length = mutate_below(MIN(64, s->len - MAX(at, other)) + 1);

		aligned = MAX(aligned, from);
		switch (mutate_below(keep_length ? 5 : 8)) {
		case 0:
			s->str[at] = (char)mutate_random();
			break;
		case 1:
			s->str[at] ^= (char)(1u << mutate_below(8));
			break;
		case 2:
			s->str[at] = (char)(s->str[at] + (mutate_below(2) ? 1 : -1));
			break;
		case 3:
			put_word(s->str + aligned, s->len - aligned);
			break;
		case 4:
			memmove(s->str + at, s->str + other, length);
			break;
		case 5:
			g_string_erase(s, (gssize)at, (gssize)length);
			break;
		case 6: {
			char *copy = g_memdup2(s->str + other, length + 1);
			g_string_insert_len(s, (gssize)at, copy, (gssize)length);
			g_free(copy);
			break;
		}
		default:
			if (mutate_below(4) == 0)
				g_string_truncate(s, at);
		}
	}
}

/* ---- binary traces ---- */

struct trace_header {
	char magic[8];
	uint32_t version, mark, flags, sections;
	uint64_t length, sum;
	char zero[24];
};
struct trace_section {
	char name[24];
	uint32_t element, zero;
	uint64_t offset, count, sum;
};

static bool binary_parts(GString *s, struct trace_header **h, struct trace_section **table)
{
	*h = (struct trace_header *)(void *)s->str;
	if (s->len < sizeof **h || memcmp((*h)->magic, "\x89HDLT\r\n\n", 8) != 0 ||
	    (*h)->sections > 100 || s->len < sizeof **h + (*h)->sections * sizeof **table)
		return false;
	*table = (struct trace_section *)(void *)(s->str + s->len -
	                                          (*h)->sections * sizeof **table);
	return true;
}

static void sum_again(GString *s)
{
	struct trace_header *h;
	struct trace_section *table;

	if (!binary_parts(s, &h, &table))
		return;
	for (uint32_t i = 0; i < h->sections; i++) {
		uint64_t length;
		if (__builtin_mul_overflow(table[i].count, table[i].element, &length) ||
		    table[i].offset > s->len || length > s->len - table[i].offset)
			continue;
		table[i].sum = sum_bytes(s->str + table[i].offset, length);
	}
	/* the header's sum covers the header, with 0 in its place, and the table */
	h->sum = 0;
	h->sum = sum_bytes(h, sizeof *h) + 3 * sum_bytes(table, h->sections * sizeof *table);
}

void mutate_binary_trace(GString *s)
{
	struct trace_header *h;
	struct trace_section *table;

	if (!binary_parts(s, &h, &table))
		return;
	for (size_t n = 1 + mutate_below(3); n > 0; n--) {
		struct trace_section *x = &table[mutate_below(h->sections)];
		char *at;

		if (mutate_below(30) == 0) { /* an entry of the table: a length, an offset */
			at = (char *)x + 24 + mutate_below((sizeof(*x) - 24 - 8) / 4 + 1) * 4;
			put_word(at, 8);
			continue;
		}
		if (mutate_below(60) == 0) { /* flags, sections, length */
			at = (char *)h + 8 + mutate_below(6) * 4;
			put_word(at, 4);
			if (h->sections > 100)
				h->sections = 3;
			continue;
		}
		uint64_t bytes = x->count * x->element;
		if (bytes == 0 || x->offset > s->len || bytes > s->len - x->offset)
			continue;
		at = s->str + x->offset + mutate_below(bytes);
		if (mutate_below(2))
			*at = (char)(mutate_below(2) ? mutate_random()
			                             : (unsigned char)*at + 1);
		else {
			at = s->str + x->offset + (mutate_below(bytes) & ~UINT64_C(3));
			put_word(at, MIN(4, (size_t)(s->str + x->offset + bytes - at)));
		}
	}
	sum_again(s);
}

/* ---- indexes ---- */

struct index_header {
	char magic[8];
	uint32_t version, parts;
	uint64_t trace[6], length;
	struct {
		uint64_t offset, count, sum;
	} arrays[24];
	char path[4096];
	uint64_t sum;
};

void mutate_index(GString *s)
{
	struct index_header *h = (struct index_header *)(void *)s->str;

	if (s->len < sizeof *h || mutate_below(3) == 0) {
		mutate_bytes(s, mutate_below(2) ? 0 : offsetof(struct index_header, path),
		             false);
		return;
	}
	for (size_t n = 1 + mutate_below(3); n > 0; n--) {
		size_t i = mutate_below(G_N_ELEMENTS(h->arrays)), j = mutate_below(14);

		switch (mutate_below(8)) {
		case 0:
			h->parts = (uint32_t)(mutate_below(2) ? mutate_random()
			                                      : mutate_below(256));
			break;
		case 1: /* the end is cut off, with the length adjusted */
			g_string_truncate(s, sizeof *h + mutate_below(s->len - sizeof *h + 1));
			h->length = s->len;
			break;
		case 2: /* an array shorter, longer */
			h->arrays[i].count += mutate_below(2) ? 1 : -1;
			break;
		case 3: /* moved */
			h->arrays[i].offset += 64 * (mutate_below(9) - 4);
			break;
		case 4:
			memset(&h->arrays[i], 0, sizeof h->arrays[i]);
			break;
		case 5:
			h->arrays[i].offset = h->arrays[j].offset;
			break;
		default: {
			uint64_t *at = &h->arrays[i].offset + mutate_below(2);

			*at = extreme_word();
			break;
		}
		}
	}
	h->sum = sum_bytes(h, offsetof(struct index_header, sum));
}

/* ---- ELF ---- */

static void damage_section(GString *s, const Elf64_Ehdr *e, uint64_t i)
{
	Elf64_Shdr *x = (Elf64_Shdr *)(void *)(s->str + e->e_shoff) + i;

	if (mutate_below(8) == 0) { /* its header: name, flags, offset, size, link, entries */
		put_word((char *)x + mutate_below(16) * 4, 4);
		return;
	}
	if (x->sh_type == SHT_NOBITS || x->sh_offset > s->len ||
	    x->sh_size > s->len - x->sh_offset || x->sh_size == 0)
		return;
	GString *inside = g_string_new_len(s->str + x->sh_offset, (gssize)x->sh_size);
	mutate_bytes(inside, 0, true);
	memcpy(s->str + x->sh_offset, inside->str, x->sh_size);
	g_string_free(inside, TRUE);
}

void mutate_elf(GString *s)
{
	Elf64_Ehdr e;

	if (s->len < sizeof e)
		return;
	memcpy(&e, s->str, sizeof e);
	if (mutate_below(20) == 0 || e.e_shoff > s->len ||
	    e.e_shnum > (s->len - e.e_shoff) / sizeof(Elf64_Shdr)) {
		mutate_bytes(s, mutate_below(4) ? 0 : 64, mutate_below(2));
		return;
	}
	const Elf64_Shdr *all = (const Elf64_Shdr *)(const void *)(s->str + e.e_shoff);
	for (size_t n = 1 + mutate_below(3); n > 0; n--) {
		uint64_t i = mutate_below(e.e_shnum);
		/* code and data of the program say nothing to a reader of debug information */
		for (int tries = 0; tries < 8 && (all[i].sh_flags & SHF_ALLOC); tries++)
			i = mutate_below(e.e_shnum);
		damage_section(s, &e, i);
	}
}
