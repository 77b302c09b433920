/*
 * test_interpose_cache.c - the cache of compiled bind lines returns the libraries stored in
 * it, and none that is damaged or that another user could have put there.
 */
#include "engine/base/base.h"
#include "engine/record/interpose_cache.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "0123456789abcdef"

static char *home, *folder, *kept, *from, *to;

static void set_up(void)
{
	home = g_dir_make_tmp("heddle-cache-XXXXXX", NULL);
	g_setenv("XDG_CACHE_HOME", home, TRUE);
	folder = g_build_filename(home, "heddle", NULL);
	kept = g_build_filename(folder, "bind-" KEY ".library", NULL);
	from = g_build_filename(home, "from", NULL);
	to = g_build_filename(home, "to", NULL);
	ck_assert(g_file_set_contents(from, "a library\n", -1, NULL));
	ck_assert(g_file_set_contents(to, "", -1, NULL));
}

static void tear_down(void)
{
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", home);
	ck_assert_int_eq(system(command), 0);
	char *all[] = { home, folder, kept, from, to };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_free(all[i]);
}

static bool taken(void)
{
	g_autofree char *text = NULL;
	if (!interpose_cache_take(KEY, to))
		return false;
	ck_assert(g_file_get_contents(to, &text, NULL, NULL));
	ck_assert_str_eq(text, "a library\n");
	return true;
}

START_TEST(gives_back_what_was_kept)
{
	ck_assert(!taken());
	interpose_cache_keep(KEY, from);
	ck_assert(taken());
	ck_assert(!interpose_cache_take("fedcba9876543210", to));
	struct stat st;
	ck_assert_int_eq(stat(kept, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(refuses_what_is_not_whole)
{
	interpose_cache_keep(KEY, from);
	int fd = open(kept, O_RDWR);
	ck_assert_int_eq(pwrite(fd, "A", 1, 0), 1);
	ck_assert(!taken());
	ck_assert_int_eq(pwrite(fd, "a", 1, 0), 1);
	ck_assert(taken());
	for (int length = 0; length < 10 + 16; length++) {
		interpose_cache_keep(KEY, from);
		ck_assert_int_eq(truncate(kept, length), 0);
		ck_assert(!taken());
	}
	close(fd);
}
END_TEST

START_TEST(refuses_what_others_can_write)
{
	interpose_cache_keep(KEY, from);
	ck_assert_int_eq(chmod(kept, 0620), 0);
	ck_assert(!taken());
	ck_assert_int_eq(chmod(kept, 0600), 0);
	ck_assert(taken());
	ck_assert_int_eq(chmod(folder, 0777), 0);
	ck_assert(!taken());
	interpose_cache_keep("other", from);
	g_autofree char *other = g_build_filename(folder, "bind-other.library", NULL);
	ck_assert_int_ne(access(other, F_OK), 0);
	ck_assert_int_eq(chmod(folder, 0700), 0);
	ck_assert(taken());
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
	interpose_cache_keep(KEY, from);
	g_autofree char *moved = g_strconcat(kept, ".moved", NULL);
	ck_assert_int_eq(rename(kept, moved), 0);
	ck_assert_int_eq(symlink(moved, kept), 0);
	ck_assert(!taken());
	ck_assert_int_eq(unlink(kept), 0);
	ck_assert_int_eq(mkfifo(kept, 0600), 0);
	ck_assert(!taken());
	ck_assert_int_eq(unlink(kept), 0);
	ck_assert_int_eq(mkdir(kept, 0700), 0);
	ck_assert(!taken());
	interpose_cache_keep(KEY, from); /* cannot be kept, which is no error */
	ck_assert(!taken());
	g_autofree char *elsewhere = g_build_filename(home, "elsewhere", NULL);
	ck_assert_int_eq(rename(folder, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, folder), 0);
	interpose_cache_keep("other", from);
	ck_assert(!interpose_cache_take("other", to));
}
END_TEST

START_TEST(keeps_some_dozens)
{
	unsigned count = 0;
	for (int i = 0; i < 70; i++) {
		g_autofree char *key = g_strdup_printf("%d", i);
		interpose_cache_keep(key, from);
	}
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	while (g_dir_read_name(dir) != NULL)
		count++;
	ck_assert_uint_eq(count, 64);
	ck_assert(interpose_cache_take("69", to));
}
END_TEST

START_TEST(a_key_is_of_all_that_counts)
{
	char *plain[] = { "sh", "-O1", NULL }, *other[] = { "sh", "-O2", NULL };
	char *joined[] = { "sh", "-O1-x", NULL }, *apart[] = { "sh", "-O1", "-x", NULL };
	char *absent[] = { "no-such-compiler", NULL };
	char *keys[] = { interpose_cache_key("source", plain),
		         interpose_cache_key("other", plain),
		         interpose_cache_key("source", other),
		         interpose_cache_key("source", joined),
		         interpose_cache_key("source", apart) };
	g_autofree char *again = interpose_cache_key("source", plain);
	ck_assert_str_eq(keys[0], again);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(keys[i], keys[k]);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		g_free(keys[i]);
	ck_assert_ptr_null(interpose_cache_key("source", absent));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cache of bind lines");
	TCase *c = tcase_create("cache");

	/* each test in a process of its own: the C library remembers the cache's place */
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, gives_back_what_was_kept);
	tcase_add_test(c, refuses_what_is_not_whole);
	tcase_add_test(c, refuses_what_others_can_write);
	tcase_add_test(c, refuses_what_is_no_file);
	tcase_add_test(c, keeps_some_dozens);
	tcase_add_test(c, a_key_is_of_all_that_counts);
	suite_add_tcase(s, c);
	return suite_run(s);
}
