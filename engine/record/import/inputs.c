/* inputs.c - see inputs.h. */
#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "engine/record/import/inputs.h"

#define MAX_PACKED (256u << 20) /* bytes: bound on a note */
#define MAX_RAW    (4ull << 30)

/* The input at `at`; false when incomplete. *next: after it. */
static bool input_at(const uint8_t *at, const uint8_t *end, struct log_input *in,
                     const uint8_t **next)
{
	if ((size_t)(end - at) < sizeof(*in))
		return false;
	memcpy(in, at, sizeof(*in));
	uint64_t bytes = sizeof(*in);
	for (unsigned i = 0; i < LOG_PARTS; i++)
		bytes += in->length[i];
	if ((size_t)(end - at) < bytes || in->call >= LOG_INPUT_COUNT)
		return false;
	*next = at + bytes;
	return true;
}

char *inputs_count(const GByteArray *raw)
{
	const uint8_t *at = raw->data, *end = at + raw->len;
	struct log_input in;
	uint64_t calls = 0, bytes = 0;
	while (input_at(at, end, &in, &at)) {
		calls++;
		for (unsigned i = 0; i < LOG_PARTS; i++)
			bytes += in.length[i];
	}
	return g_strdup_printf("%" PRIu64 " calls, %" PRIu64 " bytes", calls, bytes);
}

char *inputs_pack(const GByteArray *raw)
{
	enum { LEVEL = 3 };
	if (raw->len == 0)
		return NULL;
	size_t room = ZSTD_compressBound(raw->len);
	g_autofree uint8_t *packed = g_malloc(room);
	size_t bytes = ZSTD_compress(packed, room, raw->data, raw->len, LEVEL);
	char *text = NULL;
	if (!ZSTD_isError(bytes) && bytes <= MAX_PACKED)
		text = g_base64_encode(packed, bytes);
	return text;
}

static GByteArray *expand(const char *note)
{
	gsize length;
	g_autofree guchar *packed = g_base64_decode(note, &length);
	unsigned long long bytes = ZSTD_getFrameContentSize(packed, length);
	GByteArray *raw = NULL;
	if (bytes != ZSTD_CONTENTSIZE_ERROR && bytes != ZSTD_CONTENTSIZE_UNKNOWN &&
	    bytes <= MIN(MAX_RAW, G_MAXUINT - 1)) {
		raw = g_byte_array_sized_new((guint)bytes);
		g_byte_array_set_size(raw, (guint)bytes);
		size_t got = ZSTD_decompress(raw->data, bytes, packed, length);
		if (ZSTD_isError(got) || got != bytes) {
			g_byte_array_free(raw, TRUE);
			raw = NULL;
		}
	}
	return raw;
}

/* Append an input with its parts padded. */
static void append_filled(GByteArray *out, const uint8_t *at, const struct log_input *in)
{
	static const uint8_t zeros[8];
	g_byte_array_append(out, at, sizeof(*in));
	at += sizeof(*in);
	for (unsigned i = 0; i < LOG_PARTS; i++) {
		g_byte_array_append(out, at, in->length[i]);
		g_byte_array_append(out, zeros, -in->length[i] & 7);
		at += in->length[i];
	}
}

GByteArray *inputs_unpack(const char *note, uint32_t *count)
{
	g_autoptr(GByteArray) raw = expand(note);
	GByteArray *out = NULL;
	*count = 0;
	if (!raw)
		return NULL;
	g_autofree GByteArray **by_thread = g_new0(GByteArray *, LOG_THREADS);
	const uint8_t *at = raw->data, *end = at + raw->len, *next;
	struct log_input in;
	for (; input_at(at, end, &in, &next); at = next) {
		if (in.thread >= LOG_THREADS)
			continue;
		if (!by_thread[in.thread])
			by_thread[in.thread] = g_byte_array_new();
		append_filled(by_thread[in.thread], at, &in);
		++*count;
	}
	out = g_byte_array_new();
	for (unsigned i = 0; i < LOG_THREADS; i++)
		if (by_thread[i]) {
			g_byte_array_append(out, by_thread[i]->data, by_thread[i]->len);
			g_byte_array_free(by_thread[i], TRUE);
		}
	return out;
}
