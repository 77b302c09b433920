/*
 * archive.c - see archive.h.
 */
#include "engine/base/archive.h"

#include <string.h>

struct archive {
	GByteArray *bytes;       /* writing; or NULL */
	const uint8_t *at, *end; /* reading */
	bool failed;
};

struct archive *archive_writer(void)
{
	struct archive *a = g_new0(struct archive, 1);
	a->bytes = g_byte_array_new();
	return a;
}

struct archive *archive_reader(const void *bytes, size_t length)
{
	struct archive *a = g_new0(struct archive, 1);
	a->at = bytes;
	a->end = a->at + length;
	return a;
}

void archive_free(struct archive *a)
{
	if (a == NULL)
		return;
	if (a->bytes)
		g_byte_array_unref(a->bytes);
	g_free(a);
}

const GByteArray *archive_bytes(const struct archive *a)
{
	return a->bytes;
}

bool archive_reads(const struct archive *a)
{
	return a->bytes == NULL;
}

void archive_fail(struct archive *a)
{
	a->failed = true;
	a->at = a->end;
}

bool archive_ended(const struct archive *a)
{
	return !a->failed && a->at == a->end;
}

size_t archive_left(const struct archive *a)
{
	return (size_t)(a->end - a->at);
}

static uint64_t read_number(struct archive *a)
{
	uint64_t number = 0;
	for (unsigned shift = 0; shift < 64 && a->at < a->end; shift += 7) {
		uint8_t byte = *a->at++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (shift == 63 && byte > 1)
			break;
		if (byte < 0x80)
			return number;
	}
	archive_fail(a);
	return 0;
}

uint64_t archive_number(struct archive *a, uint64_t number)
{
	if (archive_reads(a))
		return read_number(a);
	uint8_t bytes[10];
	guint length = 0;
	for (uint64_t rest = number; length == 0 || rest > 0; rest >>= 7)
		bytes[length++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
	g_byte_array_append(a->bytes, bytes, length);
	return number;
}

uint64_t archive_below(struct archive *a, uint64_t number, uint64_t limit)
{
	number = archive_number(a, number);
	if (number < limit)
		return number;
	archive_fail(a);
	return 0;
}

uint32_t archive_index(struct archive *a, uint32_t index, uint32_t limit)
{
	uint64_t coded = index == NONE ? 0 : index + 1ull;
	return (uint32_t)archive_below(a, coded, limit + 1ull) - 1;
}

size_t archive_count(struct archive *a, size_t count, size_t least)
{
	count = archive_number(a, count);
	if (!archive_reads(a) || count <= (size_t)(a->end - a->at) / MAX(least, 1))
		return count;
	archive_fail(a);
	return 0;
}

void archive_raw(struct archive *a, void *bytes, size_t length)
{
	if (length == 0)
		return; /* an empty array may have no address */
	if (!archive_reads(a)) {
		g_byte_array_append(a->bytes, bytes, (guint)length);
	} else if (length <= (size_t)(a->end - a->at)) {
		memcpy(bytes, a->at, length);
		a->at += length;
	} else {
		memset(bytes, 0, length);
		archive_fail(a);
	}
}

void archive_text(struct archive *a, char **text)
{
	bool given = !archive_reads(a) && *text != NULL;
	given = archive_below(a, given, 2);
	if (!given) {
		if (archive_reads(a))
			*text = NULL;
		return;
	}
	size_t length = archive_count(a, archive_reads(a) ? 0 : strlen(*text), 1);
	if (archive_reads(a))
		*text = g_malloc0(length + 1);
	archive_raw(a, *text, length);
	if (memchr(*text, '\0', length)) /* a text with a NUL would be shorter when it is
	                                  * written again */
		archive_fail(a);
}

void archive_bytes_of(struct archive *a, GBytes **bytes)
{
	bool given = archive_below(a, !archive_reads(a) && *bytes != NULL, 2);
	if (archive_reads(a))
		*bytes = NULL;
	if (!given)
		return;
	gsize length = 0;
	const void *data = archive_reads(a) ? NULL : g_bytes_get_data(*bytes, &length);
	length = archive_count(a, length, 1);
	if (archive_reads(a)) {
		uint8_t *read = g_malloc0(length + 1);
		archive_raw(a, read, length);
		*bytes = g_bytes_new_take(read, length);
	} else {
		g_byte_array_append(a->bytes, data, (guint)length);
	}
}

void archive_array(struct archive *a, GArray *array, size_t element)
{
	BUG_ON(g_array_get_element_size(array) != element);
	size_t old = archive_reads(a) ? array->len : 0;
	size_t count = archive_count(a, array->len, element);
	if (archive_reads(a))
		g_array_set_size(array, (guint)(old + count));
	archive_raw(a, array->data + old * element, count * element);
}

void archive_texts(struct archive *a, GPtrArray **texts)
{
	bool given = !archive_reads(a) && *texts != NULL;
	given = archive_below(a, given, 2);
	if (archive_reads(a))
		*texts = given ? g_ptr_array_new_with_free_func(g_free) : NULL;
	if (!given)
		return;
	archive_list(a, *texts, 0);
}

void archive_list(struct archive *a, GPtrArray *list, guint from)
{
	size_t count = archive_count(a, archive_reads(a) ? 0 : list->len - from, 1);
	for (size_t i = 0; i < count; i++) {
		char *text = archive_reads(a) ? NULL : list->pdata[from + i];
		archive_text(a, &text);
		if (archive_reads(a))
			g_ptr_array_add(list, text ? text : g_strdup(""));
	}
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(a, b);
}

void archive_set(struct archive *a, GHashTable *set, guint from)
{
	bool more = !archive_reads(a) && g_hash_table_size(set) > from;
	GList *keys = more ? g_hash_table_get_keys(set) : NULL;
	keys = g_list_sort(keys, by_text);
	size_t count = archive_count(a, g_list_length(keys), 1);
	GList *at = keys;
	for (size_t i = 0; i < count; i++) {
		char *text = archive_reads(a) ? NULL : at->data;
		archive_text(a, &text);
		if (!archive_reads(a))
			at = at->next;
		else if (text)
			g_hash_table_add(set, text);
	}
	g_list_free(keys);
}
