/*
 * test_debuginfo_guard.c - damaged modules, and readers that die: the module opens with the
 * undamaged parts, or is refused with the reason; this process goes on.
 */
#include "debuginfo/debuginfo.h"
#include "tests/support/mutate.h"
#include "tests/support/suite.h"

#include <elf.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static char *folder;

static char *in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

/* A program with range lists: code of a function in two sections, an inlined body in parts. */
static const char program_text[] =
        "#include <stdlib.h>\n"
        "struct pair { int first, second; } pair;\n"
        "static inline __attribute__((always_inline)) int twice(int x)\n"
        "{ if (__builtin_expect(x > 99, 0)) abort(); int y = x * 2; if (y > 7) y -= rand(); "
        "return y; }\n"
        "__attribute__((noinline)) int f(int x) { for (int i = 0; i < x; i++) { int k = "
        "twice(i); pair.first += k; } return pair.first; }\n"
        "int main(int argc, char **argv) { int a = f(argc) + twice(argc); return a + "
        "pair.second; }\n";

static char *program(void)
{
	char *source = in_folder("p.c"), *path = in_folder("p");
	char *command = g_strdup_printf("gcc -g -gdwarf-5 -O2 %s -o %s", source, path);

	ck_assert(g_file_set_contents(source, program_text, -1, NULL));
	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(source);
	return path;
}

/* Ask about everything. */
static void ask(struct debuginfo *d)
{
	struct debug_place places[4];
	GString *name = g_string_new(NULL);

	for (uint64_t a = 0x1000; a < 0x1400; a += 3)
		debuginfo_code(d, a, places, G_N_ELEMENTS(places));
	for (uint32_t v = 0; v < debuginfo_variable_count(d); v++)
		debuginfo_data_name(d, debuginfo_variable(d, v)->address, 4, name);
	for (uint32_t i = 0; i < debuginfo_type_count(d); i++)
		debuginfo_type_name(d, i, name);
	g_string_free(name, TRUE);
}

/* The contents of a section of an ELF file in memory. */
static char *section(GString *file, const char *name, size_t *length)
{
	const Elf64_Ehdr *e = (const void *)file->str;
	const Elf64_Shdr *all = (const void *)(file->str + e->e_shoff);
	const char *names = file->str + all[e->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < e->e_shnum; i++) {
		if (strcmp(names + all[i].sh_name, name) == 0) {
			*length = all[i].sh_size;
			return file->str + all[i].sh_offset;
		}
	}
	ck_abort_msg("the compiler made no %s", name);
}

static GString *contents(const char *path)
{
	char *bytes;
	gsize length;

	ck_assert(g_file_get_contents(path, &bytes, &length, NULL));
	GString *s = g_string_new_len(bytes, (gssize)length);
	g_free(bytes);
	return s;
}

/* Range lists with each byte wrong in turn: libdwarf of Debian 12 frees twice on some. */
START_TEST(damaged_range_lists)
{
	char *path = program(), *damaged = in_folder("damaged");
	GString *whole = contents(path);
	size_t length;
	unsigned opened = 0;

	section(whole, ".debug_rnglists", &length);
	for (size_t i = 0; i < MIN(length, 60); i++) {
		GString *file = g_string_new_len(whole->str, (gssize)whole->len);
		struct error error = { .what = "" };

		section(file, ".debug_rnglists", &length)[i] ^= (char)(i % 2 ? 0xff : 0x05);
		ck_assert(g_file_set_contents(damaged, file->str, (gssize)file->len, NULL));
		struct debuginfo *d = debuginfo_open(damaged, NULL, &error);
		ck_assert_msg(d != NULL, "%s", error.what); /* its symbols are whole */
		ask(d);
		ck_assert_uint_ne(debuginfo_function_named(d, "main") == NONE &&
		                          debuginfo_damage(d) == NULL,
		                  1);
		opened++;
		debuginfo_close(d);
		g_string_free(file, TRUE);
	}
	ck_assert_uint_gt(opened, 20);
	g_string_free(whole, TRUE);
	g_free(damaged);
	g_free(path);
}
END_TEST

/* The reader cannot hand over what it has read: the reason is said. */
START_TEST(reader_without_room)
{
	char *path = program();
	struct rlimit small = { 1000, 1000 };
	struct error error = { .what = "" };

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert(debuginfo_open(path, NULL, &error) == NULL);
	ck_assert_msg(strstr(error.what, "could not write what it had read: File too large"),
	              "%s", error.what);
	ck_assert(*error.remedy);
	g_free(path);
}
END_TEST

/* The reader dies (here: of a limit on files' sizes), with the DWARF and without. */
START_TEST(reader_that_dies)
{
	char *path = program();
	struct rlimit small = { 1000, 1000 };
	struct error error = { .what = "" };

	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert(debuginfo_open(path, NULL, &error) == NULL);
	ck_assert_msg(strstr(error.what, "the process that reads it was ended by signal 25"),
	              "%s", error.what);
	ck_assert(*error.remedy);
	g_free(path);
}
END_TEST

START_TEST(no_module)
{
	char *path = in_folder("none");
	struct error error = { .what = "" };

	ck_assert(debuginfo_open(path, NULL, &error) == NULL);
	ck_assert(strstr(error.what, "No such file") != NULL);
	g_free(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("debug information under guard");
	TCase *c = tcase_create("guard");

	folder = g_dir_make_tmp("heddle-guard-XXXXXX", NULL);
	g_setenv("XDG_CACHE_HOME", "/dev/null", TRUE); /* each is read */
	tcase_add_test(c, damaged_range_lists);
	tcase_add_test(c, reader_that_dies);
	tcase_add_test(c, reader_without_room);
	tcase_add_test(c, no_module);
	suite_add_tcase(s, c);
	int status = suite_run(s);
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);
	if (system(command) != 0)
		status = 1;
	return status;
}
