/*
 * test_inputs.c - input from outside as a note of a trace: packed, counted, sorted by thread
 * for a replay; a damaged note is refused.
 */
#include "engine/record/import/inputs.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static void add(GByteArray *raw, uint32_t thread, int fd, const char *data)
{
	struct log_input in = { .thread = thread, .call = LOG_INPUT_read, .fd = fd };
	in.result = in.length[0] = (uint32_t)strlen(data);
	g_byte_array_append(raw, (const void *)&in, sizeof(in));
	g_byte_array_append(raw, (const void *)data, in.length[0]);
}

static GByteArray *three(void)
{
	GByteArray *raw = g_byte_array_new();
	add(raw, 2, 5, "second thread");
	add(raw, 0, 3, "main");
	add(raw, 2, 6, "");
	return raw;
}

START_TEST(there_and_back)
{
	GByteArray *raw = three();
	char *count = inputs_count(raw), *note = inputs_pack(raw);
	uint32_t n;
	ck_assert_str_eq(count, "3 calls, 17 bytes");
	GByteArray *plan = inputs_unpack(note, &n);
	ck_assert_ptr_nonnull(plan);
	ck_assert_uint_eq(n, 3);
	/* by thread, in its order, parts filled up to 8 bytes */
	const struct log_input *in = (const void *)plan->data;
	ck_assert_uint_eq(in->thread, 0);
	ck_assert_int_eq(memcmp(in + 1, "main\0\0\0", 8), 0);
	in = (const void *)((const char *)(in + 1) + 8);
	ck_assert_int_eq(in->fd, 5);
	in = (const void *)((const char *)(in + 1) + 16);
	ck_assert_int_eq(in->fd, 6);
	ck_assert_uint_eq((const uint8_t *)(in + 1) - plan->data, plan->len);
	g_byte_array_free(plan, TRUE);
	g_byte_array_free(raw, TRUE);
	g_free(count);
	g_free(note);
}
END_TEST

START_TEST(damaged)
{
	GByteArray *raw = three();
	char *note = inputs_pack(raw);
	uint32_t n;
	for (size_t length = strlen(note); length-- > 0;) { /* cut anywhere */
		note[length] = '\0';
		ck_assert_ptr_null(inputs_unpack(note, &n));
	}
	ck_assert_ptr_null(inputs_unpack("not base64 at all", &n));
	/* an incomplete input is left out, with those after it */
	g_byte_array_set_size(raw, raw->len - sizeof(struct log_input) - 1);
	g_free(note);
	note = inputs_pack(raw);
	GByteArray *plan = inputs_unpack(note, &n);
	ck_assert_uint_eq(n, 1);
	g_byte_array_free(plan, TRUE);
	g_byte_array_free(raw, TRUE);
	g_free(note);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inputs");
	TCase *c = tcase_create("note");
	tcase_add_test(c, there_and_back);
	tcase_add_test(c, damaged);
	suite_add_tcase(s, c);
	return suite_run(s);
}
