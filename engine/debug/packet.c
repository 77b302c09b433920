/* packet.c - see packet.h. */
#include "engine/debug/packet.h"

#include <string.h>

static unsigned sum(const char *data, size_t length)
{
	unsigned s = 0;
	for (size_t i = 0; i < length; i++)
		s += (unsigned char)data[i];
	return s & 255;
}

/* The packet at the beginning of `bytes`. */
static enum packet_kind take_packet(GString *bytes, GString *data)
{
	char *hash = memchr(bytes->str, '#', bytes->len);
	size_t end = hash ? (size_t)(hash - bytes->str) : bytes->len;
	if (end > PACKET_MOST) {
		g_string_erase(bytes, 0, (gssize)end);
		return PACKET_BAD;
	}
	if (!hash || bytes->len - end < 3)
		return PACKET_NONE;
	/* a packet that broke off is followed by another one */
	char *start = memrchr(bytes->str, '$', end);
	size_t from = (size_t)(start - bytes->str) + 1;
	int high = g_ascii_xdigit_value(hash[1]), low = g_ascii_xdigit_value(hash[2]);
	bool good = high >= 0 && low >= 0 &&
	            sum(bytes->str + from, end - from) == (unsigned)(high << 4 | low);
	g_string_truncate(data, 0);
	if (good)
		g_string_append_len(data, bytes->str + from, (gssize)(end - from));
	g_string_erase(bytes, 0, (gssize)end + 3);
	return good ? PACKET_DATA : PACKET_BAD;
}

enum packet_kind packet_next(GString *bytes, GString *data)
{
	size_t skip = 0;
	enum packet_kind kind = PACKET_NONE;
	for (; skip < bytes->len && kind == PACKET_NONE; skip++) {
		switch (bytes->str[skip]) {
		case '+':
			kind = PACKET_ACK;
			break;
		case '-':
			kind = PACKET_NAK;
			break;
		case '\003':
			kind = PACKET_INTERRUPT;
			break;
		case '$':
			g_string_erase(bytes, 0, (gssize)skip);
			return take_packet(bytes, data);
		default: /* noise between packets */
			break;
		}
	}
	g_string_erase(bytes, 0, (gssize)skip);
	return kind;
}

void packet_append(const char *data, size_t length, GString *out)
{
	g_string_append_c(out, '$');
	g_string_append_len(out, data, (gssize)length);
	g_string_append_printf(out, "#%02x", sum(data, length));
}

void packet_expand(GString *data)
{
	if (!memchr(data->str, '*', data->len))
		return;
	GString *out = g_string_sized_new(2 * data->len);
	for (size_t i = 0; i < data->len; i++) {
		char c = data->str[i];
		if (c == '}' && i + 1 < data->len) { /* escaped: binary data */
			g_string_append_len(out, data->str + i++, 2);
			continue;
		}
		if (c != '*' || i == 0 || i + 1 >= data->len || data->str[i + 1] < 32) {
			g_string_append_c(out, c);
			continue;
		}
		for (int n = data->str[++i] - 29; n > 0; n--)
			g_string_append_c(out, out->str[out->len - 1]);
	}
	g_string_assign(data, "");
	g_string_append_len(data, out->str, (gssize)out->len);
	g_string_free(out, TRUE);
}

void hex_append(const void *bytes, size_t length, GString *out)
{
	for (size_t i = 0; i < length; i++)
		g_string_append_printf(out, "%02x", ((const unsigned char *)bytes)[i]);
}

size_t hex_read(const char *text, void *bytes, size_t room)
{
	size_t n = 0;
	for (; n < room; n++, text += 2) {
		int high = g_ascii_xdigit_value(text[0]);
		int low = high < 0 ? -1 : g_ascii_xdigit_value(text[1]);
		if (low < 0)
			break;
		((unsigned char *)bytes)[n] = (unsigned char)(high << 4 | low);
	}
	return n;
}
