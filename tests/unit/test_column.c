/*
 * test_column.c - columns (engine/base/column.h): elements stay when a column grows, and when
 * it moves from memory to a file; where the disk is full, the column is as before.
 */
#include "engine/base/column.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void fill(struct column *c, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		uint64_t *element = column_push(c);
		if (element == NULL)
			ck_abort_msg("no room for element %" PRIu64, i);
		*element = i * i;
	}
}

/* One assertion alone: Check writes each to a file. */
static void check_elements(const struct column *c, uint64_t count)
{
	uint64_t wrong = 0;
	ck_assert_uint_eq(c->count, count);
	for (uint64_t i = 0; i < count; i++)
		wrong += *(const uint64_t *)column_at(c, i) != i * i;
	ck_assert_uint_eq(wrong, 0);
}

enum { MANY = 3 << 20, SOME = 20000, LIMIT = 1 << 16 };

/* Descriptor 0 is nothing of a column that was never made. */
START_TEST(of_zeroes_has_nothing)
{
	struct column none = { 0 };
	int input = open("/dev/null", O_RDONLY);
	ck_assert_int_ge(dup2(input, STDIN_FILENO), 0);
	column_free(&none);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

START_TEST(grows_in_memory)
{
	struct column c;
	column_init(&c, sizeof(uint64_t), NULL, LIMIT);
	fill(&c, 0, MANY);
	ck_assert_int_eq(c.file, -1);
	check_elements(&c, MANY);
	column_free(&c);
	ck_assert_uint_eq(c.count, 0);
	fill(&c, 0, 3);
	check_elements(&c, 3);
	column_free(&c);
}
END_TEST

START_TEST(moves_to_a_file)
{
	struct column c;
	column_init(&c, sizeof(uint64_t), g_get_tmp_dir(), LIMIT);
	fill(&c, 0, LIMIT / sizeof(uint64_t) / 2);
	ck_assert_int_eq(c.file, -1);
	fill(&c, c.count, SOME);
	ck_assert_int_ge(c.file, 0);
	check_elements(&c, SOME);
	column_free(&c);
	ck_assert_int_eq(c.file, -1);
}
END_TEST

START_TEST(stays_in_memory_without_a_folder)
{
	struct column c;
	column_init(&c, sizeof(uint64_t), "/nowhere/at/all", LIMIT);
	fill(&c, 0, SOME);
	ck_assert_int_eq(c.file, -1);
	check_elements(&c, SOME);
	column_free(&c);
}
END_TEST

/* A limit on the size of files simulates a full disk; Check runs each test in a process. */
START_TEST(keeps_its_elements_on_a_full_disk)
{
	struct rlimit limit = { 4 * LIMIT, RLIM_INFINITY };
	struct column c;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	column_init(&c, sizeof(uint64_t), g_get_tmp_dir(), LIMIT);
	uint64_t count = 0;
	for (uint64_t *element; (element = column_push(&c)) != NULL; count++)
		*element = count * count;
	ck_assert_int_ge(c.file, 0);
	ck_assert_int_eq(c.failure, EFBIG);
	check_elements(&c, count);
	column_free(&c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("column");
	TCase *c = tcase_create("column");
	tcase_add_test(c, of_zeroes_has_nothing);
	tcase_add_test(c, grows_in_memory);
	tcase_add_test(c, moves_to_a_file);
	tcase_add_test(c, stays_in_memory_without_a_folder);
	tcase_add_test(c, keeps_its_elements_on_a_full_disk);
	suite_add_tcase(s, c);
	return suite_run(s);
}
