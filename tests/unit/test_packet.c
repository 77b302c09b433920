/*
 * test_packet.c - packets of gdb's remote protocol (engine/debug/packet.h): reading returns
 * the packets sent, in whatever pieces they come, and bytes that are no packet are ignored.
 */
#include "engine/debug/packet.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* All packets of the text, each followed by a space; "?" for a bad one, "^" for ^C. */
static char *read_all(const char *text, size_t length, size_t piece)
{
	GString *bytes = g_string_new(NULL), *data = g_string_new(NULL),
	        *out = g_string_new(NULL);
	for (size_t at = 0; at < length; at += piece) {
		enum packet_kind kind;
		g_string_append_len(bytes, text + at, (gssize)MIN(piece, length - at));
		while ((kind = packet_next(bytes, data)) != PACKET_NONE) {
			if (kind == PACKET_DATA)
				g_string_append_printf(out, "%s ", data->str);
			else if (kind == PACKET_BAD || kind == PACKET_INTERRUPT)
				g_string_append(out, kind == PACKET_BAD ? "? " : "^ ");
		}
	}
	g_string_free(bytes, TRUE);
	g_string_free(data, TRUE);
	return g_string_free(out, FALSE);
}

static void check_read(const char *text, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		char *got = read_all(text, strlen(text), piece);
		ck_assert_str_eq(got, expected);
		g_free(got);
	}
}

START_TEST(reads_packets)
{
	check_read("+$OK#9a-$#00", "OK  ");
	check_read("noise$bs#d5+\003$bc#c5", "bs ^ bc ");
	check_read("$OK#9b$OK#zz$OK#9a", "? ? OK ");
	check_read("$broken off$OK#9a", "OK ");
	check_read("$OK#9", "");
	check_read("#9a$$$OK#9A", "OK ");
}
END_TEST

START_TEST(drops_what_is_too_long)
{
	GString *text = g_string_new("$");
	while (text->len < 2 * PACKET_MOST)
		g_string_append(text, "aaaaaaaaaaaaaaaa");
	g_string_append(text, "#00+$OK#9a");
	char *got = read_all(text->str, text->len, 65536);
	ck_assert(g_str_has_prefix(got, "? "));
	ck_assert(g_str_has_suffix(got, " OK "));
	g_free(got);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(what_is_sent_is_read)
{
	GRand *random = g_rand_new_with_seed(7);
	for (int i = 0; i < 2000; i++) {
		GString *data = g_string_new(NULL), *sent = g_string_new(NULL);
		for (int n = g_rand_int_range(random, 0, 60); n > 0; n--) {
			char c = (char)g_rand_int_range(random, 1, 256);
			g_string_append_c(data, c == '#' || c == '$' ? 'x' : c);
		}
		packet_append(data->str, data->len, sent);
		char *got =
		        read_all(sent->str, sent->len, (size_t)g_rand_int_range(random, 1, 20));
		g_string_append_c(data, ' ');
		ck_assert_str_eq(got, data->str);
		g_free(got);
		g_string_free(data, TRUE);
		g_string_free(sent, TRUE);
	}
	g_rand_free(random);
}
END_TEST

/* Any bytes: nothing is left but the beginning of a packet, and nothing crashes. */
START_TEST(any_bytes)
{
	static const char often[] = "$#+-\003*}0a";
	GRand *random = g_rand_new_with_seed(8);
	GString *bytes = g_string_new(NULL), *data = g_string_new(NULL);
	for (int i = 0; i < 200000; i++) {
		char c = g_rand_boolean(random)
		                 ? often[g_rand_int_range(random, 0, sizeof(often) - 1)]
		                 : (char)g_rand_int_range(random, 0, 256);
		g_string_append_c(bytes, c);
		enum packet_kind kind = packet_next(bytes, data);
		if (kind == PACKET_DATA)
			packet_expand(data);
		ck_assert(kind != PACKET_NONE || bytes->len == 0 || bytes->str[0] == '$');
	}
	g_string_free(bytes, TRUE);
	g_string_free(data, TRUE);
	g_rand_free(random);
}
END_TEST

START_TEST(expands)
{
	static const char *const pairs[][2] = {
		{ "0* ", "0000" }, { "a0*\"b", "a000000b" }, { "*", "*" },
		{ "x*", "x*" },    { "}*a*!", "}*aaaaa" },   { "plain", "plain" }
	};
	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
		GString *data = g_string_new(pairs[i][0]);
		packet_expand(data);
		ck_assert_str_eq(data->str, pairs[i][1]);
		g_string_free(data, TRUE);
	}
	unsigned char bytes[4] = { 0 };
	ck_assert_uint_eq(hex_read("00ff1", bytes, sizeof(bytes)), 2);
	ck_assert_uint_eq(bytes[1], 255);
	ck_assert_uint_eq(hex_read("", bytes, sizeof(bytes)), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("packet");
	TCase *c = tcase_create("packet");
	tcase_add_test(c, reads_packets);
	tcase_add_test(c, drops_what_is_too_long);
	tcase_add_test(c, what_is_sent_is_read);
	tcase_add_test(c, any_bytes);
	tcase_add_test(c, expands);
	suite_add_tcase(s, c);
	return suite_run(s);
}
