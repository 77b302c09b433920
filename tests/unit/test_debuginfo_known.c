/*
 * test_debuginfo_known.c - a module's debug information comes from the cache unchanged, and
 * is read anew when the module, or a separate debug file of it, is another.
 */
#include "debuginfo/private.h"
#include "engine/base/kept.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *program;

static void run(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void run(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *command = g_strdup_vprintf(format, ap);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

/* Each program has its own path, so that no test finds the cache entry of an earlier one.
 * Nothing is kept while the file could still change unnoticed: wait until then. */
static void compile(const char *function)
{
	static int count;
	g_free(program);
	program = g_strdup_printf("%s/p%d", folder, ++count);
	run("echo 'struct pair { int first, second; } pair; int %s(int x) { return pair.first + "
	    "x; } int main(void) { return %s(1); }' >%s.c && gcc -g -O0 %s.c -o %s",
	    function, function, program, program, program);
}
static void settle(void)
{
	char *key;
	while ((key = known_key(program, READ_NAMES)) == NULL)
		g_usleep(10000);
	g_free(key);
}

static unsigned kept(void)
{
	g_autofree char *cache = g_build_filename(folder, "cache", "heddle", NULL);
	g_autoptr(GDir) dir = g_dir_open(cache, 0, NULL);
	unsigned count = 0;
	for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;)
		count += g_str_has_suffix(name, ".module");
	return count;
}

/* All that the module's tables say. */
static char *told(void)
{
	struct error error;
	struct debuginfo *d = debuginfo_open(program, NULL, &error);
	GString *text = g_string_new(NULL);
	ck_assert_ptr_nonnull(d);
	g_string_printf(text, "%s %d %d\n", debuginfo_build_id(d), debuginfo_has_dwarf(d),
	                (int)debuginfo_reads(d));
	for (guint i = 0; i < d->code_symbols->len; i++) {
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, i);
		struct debug_place place = { 0 };
		size_t places = debuginfo_code(d, s->address, &place, 1);
		g_string_append_printf(text, "%s %s %" G_GINT64_MODIFIER "x %s:%u %s\n",
		                       s->name, s->shown, s->address, places ? place.file : "",
		                       place.line, places ? place.function : "");
	}
	for (uint32_t v = 0; v < debuginfo_variable_count(d); v++) {
		debuginfo_data_name(d, debuginfo_variable(d, v)->address + 4, 4, text);
		g_string_append_c(text, '\n');
	}
	for (uint32_t i = 0; i < debuginfo_type_count(d); i++) {
		debuginfo_type_name(d, i, text);
		g_string_append_c(text, '\n');
	}
	g_string_append_printf(text, "%" G_GINT64_MODIFIER "x\n",
	                       debuginfo_atomic_instruction(d));
	debuginfo_close(d);
	return g_string_free(text, FALSE);
}

START_TEST(the_same_as_read)
{
	compile("balance");
	settle();
	unsigned before = kept();
	g_autofree char *first = told();
	ck_assert_uint_eq(kept(), before + 1);
	g_autofree char *second = told();
	ck_assert_str_eq(first, second);
	ck_assert_ptr_nonnull(strstr(first, "balance"));
	ck_assert_ptr_nonnull(strstr(first, "pair.second"));
}
END_TEST

/* Where the first one lies there is no room for the second, whose pointers are changed. */
START_TEST(twice_at_once)
{
	struct error error;
	compile("balance");
	settle();
	g_autofree char *alone = told();
	struct debuginfo *first = debuginfo_open(program, NULL, &error);
	ck_assert_ptr_nonnull(first);
	g_autofree char *beside = told();
	ck_assert_str_eq(alone, beside);
	debuginfo_close(first);
}
END_TEST

/* Nothing of it is read again: a name in the cache is changed. */
START_TEST(from_the_cache)
{
	static const struct kept_kind modules = { "debug-", ".module", 64, 256 << 20 };
	size_t length;
	compile("balance");
	settle();
	g_free(told());
	g_autofree char *key = known_key(program, READ_NAMES);
	const char *bytes = kept_take(&modules, key, &length);
	ck_assert_ptr_nonnull(bytes);
	g_autofree char *changed = g_memdup2(bytes, length);
	kept_release(bytes, length);
	for (char *at; (at = memmem(changed, length, "balance", 7)) != NULL;)
		memcpy(at, "changed", 7);
	kept_keep(&modules, key, &(struct kept_part){ changed, length }, 1);
	g_autofree char *second = told();
	ck_assert_ptr_nonnull(strstr(second, "changed"));
	ck_assert_ptr_null(strstr(second, "balance"));
}
END_TEST

START_TEST(another_module)
{
	compile("balance");
	settle();
	g_free(told());
	run("sed -i s/balance/another/g %s.c && gcc -g -O0 %s.c -o %s", program, program,
	    program);
	g_autofree char *at_once = told();
	ck_assert_ptr_nonnull(strstr(at_once, "another"));
	settle();
	g_autofree char *later = told();
	ck_assert_str_eq(at_once, later);
}
END_TEST

/* One that lies where .gnu_debuglink and the build-id say. */
START_TEST(separate_debug_files)
{
	compile("balance");
	run("cd %s && objcopy --only-keep-debug %s %s.debug && strip %s && "
	    "objcopy --add-gnu-debuglink=%s.debug %s && mv %s.debug aside",
	    folder, program, program, program, program, program, program);
	settle();
	unsigned before = kept();
	g_autofree char *without = told();
	ck_assert_ptr_null(strstr(without, "balance"));
	ck_assert_uint_eq(kept(), before + 1);
	run("mv %s/aside %s.debug", folder, program);
	g_autofree char *with = told();
	ck_assert_ptr_nonnull(strstr(with, "balance"));
	ck_assert_ptr_nonnull(strstr(with, "pair.second"));
	g_autofree char *again = told();
	ck_assert_str_eq(again, with);
	run("mkdir %s/.debug && mv %s.debug %s/.debug", folder, program, folder);
	g_autofree char *moved = told();
	ck_assert_str_eq(moved, with);
	run("rm -r %s/.debug", folder);
	g_autofree char *gone = told();
	ck_assert_str_eq(gone, without);
}
END_TEST

START_TEST(only_when_settled)
{
	struct stat st = { .st_ctim = { 100, 500000000 }, .st_mtim = { 50, 0 } };
	ck_assert(!known_settled(&st, (struct timespec){ 100, 500000000 }));
	ck_assert(!known_settled(&st, (struct timespec){ 100, 600000000 }));
	ck_assert(known_settled(&st, (struct timespec){ 100, 600000001 }));
	ck_assert(known_settled(&st, (struct timespec){ 102, 0 }));
	ck_assert(!known_settled(&st, (struct timespec){ 99, 0 })); /* in the future */
	st.st_ctim.tv_nsec = 0;
	ck_assert(!known_settled(&st, (struct timespec){ 102, 0 }));
	ck_assert(known_settled(&st, (struct timespec){ 102, 1 }));
	ck_assert_ptr_null(known_key(folder, READ_NAMES));
	ck_assert_ptr_null(known_key("/no/such/program", READ_NAMES));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("modules that are known");
	TCase *c = tcase_create("known");
	folder = g_dir_make_tmp("heddle-known-XXXXXX", NULL);
	g_autofree char *cache = g_build_filename(folder, "cache", NULL);
	g_setenv("XDG_CACHE_HOME", cache, TRUE);
	tcase_add_test(c, the_same_as_read);
	tcase_add_test(c, twice_at_once);
	tcase_add_test(c, from_the_cache);
	tcase_add_test(c, another_module);
	tcase_add_test(c, separate_debug_files);
	tcase_add_test(c, only_when_settled);
	tcase_set_timeout(c, 120);
	suite_add_tcase(s, c);
	int status = suite_run(s);
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);
	if (system(command) != 0)
		status = 1;
	return status;
}
