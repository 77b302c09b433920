/*
 * test_debuginfo.c - programs compiled on the spot, with each compiler and DWARF flavour
 * at hand, print where their own variables and calls lie; debuginfo must say the same.
 */
#include "debuginfo/private.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;

/*
 * Output of the program: "D name address size" for data, "C line function address" for calls,
 * "F function offset" for a local's place from its frame's CFA, each address less the load
 * bias. here() is called where the line is of interest.
 */
static const char program_text[] =
        "#define _GNU_SOURCE\n"
        "#include <link.h>\n"
        "#include <stdio.h>\n"
        "#include <stdlib.h>\n"
        "struct inner { int x; short s[3]; unsigned a : 3, b : 5; char c; };\n"
        "struct outer { double d; struct inner i[3]; union { int n; float f; char raw[8]; }; "
        "struct outer *next; };\n"
        "typedef struct { const char *name; long balance; } account_t;\n"
        "struct outer gs[4];\n"
        "account_t acct;\n"
        "static account_t *current = &acct;\n"
        "int plain;\n"
        "static int matrix[3][5];\n"
        "enum mood { CALM = -2, IDLE = 0, WILD = 70000 } mood;\n"
        "_Atomic int atomic_counter;\n"
        "const int constant[2] = { 1, 2 };\n"
        "static unsigned long bias;\n"
        "static int find(struct dl_phdr_info *i, size_t s, void *p) { bias = i->dlpi_addr; "
        "return 1; }\n"
        "void __attribute__((noinline)) here(int line, const char *function)\n"
        "{ printf(\"C %d %s %lx\\n\", line, function,\n"
        "  (unsigned long)__builtin_return_address(0) - 1 - bias); }\n"
        "#define DATA(x) printf(\"D %s %lx %zu\\n\", #x, (unsigned long)&(x) - bias, "
        "sizeof(x))\n"
        "static inline __attribute__((always_inline)) void deep(struct outer *o)\n"
        "{ here(__LINE__, \"deep\"); o->d += 1; }\n"
        "static inline __attribute__((always_inline)) void middle(struct outer *o)\n"
        "{\n"
        "  deep(o);\n"
        "}\n"
        "static __attribute__((noinline)) int next_id(void)\n"
        "{ static int last_id; DATA(last_id); return ++last_id; }\n"
        "static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"
        "__attribute__((noinline)) int withdraw(account_t *from, struct outer *log, long "
        "amount)\n"
        "{\n"
        "  struct inner *cursor = &log->i[1];\n"
        "  here(__LINE__, \"withdraw\"); from->balance -= amount; mood = WILD;\n"
        "  middle(log);\n"
        "  return cursor->x;\n"
        "}\n"
        "__attribute__((noinline)) void framed(void)\n"
        "{\n"
        "  struct inner kept[2]; __asm__ volatile(\"\" : : \"r\"(kept) : \"memory\");\n"
        "  printf(\"F %lx %ld\\n\", (unsigned long)framed - bias, (long)&kept[1].c - "
        "(long)__builtin_dwarf_cfa());\n"
        "}\n"
        "int main(int argc, char **argv)\n"
        "{\n"
        "  dl_iterate_phdr(find, 0); framed();\n"
        "  DATA(gs[1].i[2].x); DATA(gs[3].i[0].s[1]); DATA(gs[2].next); DATA(gs[0].n); "
        "DATA(gs[0].d);\n"
        "  DATA(acct.balance); DATA(acct.name); DATA(plain); DATA(matrix[2][3]); "
        "DATA(current);\n"
        "  DATA(atomic_counter); DATA(constant[1]); DATA(gs[2].i[1].c); DATA(gs[1].i[0]);\n"
        "  next_id(); next_id(); qsort(matrix[0], 5, sizeof(int), compare);\n"
        "  withdraw(current, &gs[argc], 5);\n"
        "  return 0;\n"
        "}\n";

static char *in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

static bool run(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *command = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	int status = system(command);
	g_free(command);
	return status == 0;
}

static bool have(const char *tool)
{
	char *path = g_find_program_in_path(tool);
	g_free(path);
	return path != NULL;
}

static void write_file(const char *name, const char *text)
{
	char *path = in_folder(name);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	g_free(path);
}

static struct debuginfo *open_in_folder(const char *name)
{
	struct error error = { 0 };
	char *path = in_folder(name);
	struct debuginfo *d = debuginfo_open(path, NULL, &error);
	ck_assert_msg(d != NULL, "%s: %s", path, error.what);
	ck_assert_msg(debuginfo_damage(d) == NULL, "%s", debuginfo_damage(d));
	g_free(path);
	return d;
}

static void setup(void)
{
	folder = g_dir_make_tmp("heddle-debuginfo-XXXXXX", NULL);
	ck_assert_ptr_nonnull(folder);
	char *sources = in_folder("src");
	g_mkdir(sources, 0755);
	g_free(sources);
	write_file("src/bank.c", program_text);
}

static void teardown(void)
{
	run("rm -rf '%s'", folder);
	g_free(folder);
}

/* Compiles src/bank.c into `out`, runs it into `out`.txt; false when there is no compiler. */
static bool build(const char *compiler, const char *flags, const char *out)
{
	if (!have(compiler))
		return false;
	ck_assert_msg(run("cd '%s' && %s %s -w -o %s src/bank.c && ./%s > %s.txt", folder,
	                  compiler, flags, out, out, out),
	              "%s %s", compiler, flags);
	return true;
}

static char **printed(const char *out)
{
	char *name = g_strconcat(out, ".txt", NULL), *path = in_folder(name), *text;
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	char **lines = g_strsplit(g_strchomp(text), "\n", -1);
	g_free(text);
	g_free(path);
	g_free(name);
	return lines;
}

static void check_data(struct debuginfo *d, const char *name, uint64_t address, uint64_t size)
{
	GString *found = g_string_new(NULL);
	ck_assert_msg(debuginfo_data_name(d, address, size, found), "%s unknown", name);
	ck_assert_str_eq(found->str, name);
	g_string_free(found, TRUE);
}

static void check_code(struct debuginfo *d, const char *function, uint32_t line,
                       uint64_t address)
{
	struct debug_place places[8];
	size_t count = debuginfo_code(d, address, places, G_N_ELEMENTS(places));
	ck_assert_uint_gt(count, 0);
	ck_assert_str_eq(places[0].function, function);
	ck_assert_str_eq(places[0].file, "src/bank.c");
	ck_assert_uint_eq(places[0].line, line);
	ck_assert(g_str_has_prefix(places[0].path, folder));
	if (strcmp(function, "deep") != 0) {
		ck_assert_uint_eq(count, 1);
		return;
	}
	ck_assert_uint_eq(count, 3); /* deep in middle in withdraw */
	ck_assert_str_eq(places[1].function, "middle");
	ck_assert_str_eq(places[2].function, "withdraw");
	ck_assert_str_eq(places[1].file, "src/bank.c");
	ck_assert_uint_eq(places[1].line, line + 3);
	ck_assert_uint_gt(places[2].line, places[1].line);
}

static void check_frame(struct debuginfo *d, uint64_t address, int64_t offset)
{
	GString *found = g_string_new(NULL);
	ck_assert(debuginfo_frame_name(d, address, offset, 1, found, NULL));
	ck_assert_str_eq(found->str, "framed::kept[1].c");
	g_string_truncate(found, 0);
	ck_assert(!debuginfo_frame_name(d, address, -4096, 1, found, NULL)); /* nobody's */
	ck_assert_str_eq(found->str, "");
	g_string_free(found, TRUE);
}

static unsigned check_printed(struct debuginfo *d, const char *out)
{
	char **lines = printed(out);
	unsigned checked = 0;
	for (char **line = lines; *line != NULL; line++, checked++) {
		char **words = g_strsplit(*line, " ", -1);
		int place = *line[0] == 'D' ? 2 : *line[0] == 'F' ? 1 : 3;
		uint64_t address = g_ascii_strtoull(words[place], NULL, 16);
		if (*line[0] == 'F')
			check_frame(d, address, g_ascii_strtoll(words[2], NULL, 10));
		else if (*line[0] == 'D')
			check_data(d, words[1], address, g_ascii_strtoull(words[3], NULL, 10));
		else
			check_code(d, words[2], atoi(words[1]), address);
		g_strfreev(words);
	}
	g_strfreev(lines);
	return checked;
}

static const struct {
	const char *compiler, *flags;
} flavours[] = {
	{ "gcc", "-g -O0" },
	{ "gcc", "-g -O1" },
	{ "gcc", "-g -O2 -gdwarf-4" },
	{ "gcc", "-g -O1 -no-pie -gdwarf-5" },
	{ "gcc", "-g -O1 -gz" },
	{ "gcc", "-g -O1 -fdebug-types-section" },
	{ "gcc", "-g -O1 -gdwarf-3" },
	{ "gcc", "-g -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections" },
	{ "clang", "-g -O0" },
	{ "clang", "-g -O1" },
	{ "clang", "-g -O2 -gdwarf-4" },
	{ "clang", "-g -O1 -gdwarf-5 -no-pie" },
};

START_TEST(names_and_places)
{
	if (!build(flavours[_i].compiler, flavours[_i].flags, "bank"))
		return;
	struct debuginfo *d = open_in_folder("bank");
	ck_assert(debuginfo_has_dwarf(d));
	ck_assert_uint_ge(check_printed(d, "bank"), 18);
	debuginfo_close(d);
}
END_TEST

START_TEST(types)
{
	if (!build(flavours[_i].compiler, flavours[_i].flags, "bank"))
		return;
	struct debuginfo *d = open_in_folder("bank");
	GString *path = g_string_new(NULL);
	uint32_t outer = debuginfo_type_named(d, "struct outer");
	ck_assert_uint_ne(outer, NONE);
	ck_assert_uint_eq(debuginfo_type_named(d, "outer"), outer);
	ck_assert_uint_eq(debuginfo_size(d, outer), 64);
	struct debug_part part = debuginfo_part(d, outer, 8 + 12 + 4, 2, path);
	ck_assert_str_eq(path->str, ".i[1].s[0]");
	ck_assert(part.exact);
	ck_assert_uint_eq(part.owner, debuginfo_type_named(d, "struct inner"));
	g_string_truncate(path, 0);
	part = debuginfo_part(d, outer, 56, 8, path);
	ck_assert_str_eq(path->str, ".next");
	ck_assert_uint_eq(debuginfo_pointee(d, part.type), outer);
	g_string_truncate(path, 0);
	part = debuginfo_part(d, outer, 45, 1, path);
	ck_assert_str_eq(path->str, ".raw[1]");
	g_string_truncate(path, 0);
	debuginfo_part(d, outer, 8 + 10, 1, path);
	ck_assert_str_eq(path->str, ".i[0].a/b");
	g_string_truncate(path, 0);
	debuginfo_part(d, outer, 0, 64, path);
	ck_assert_str_eq(path->str, "");
	debuginfo_part(d, outer, 4, 8, path); /* across two members */
	ck_assert_str_eq(path->str, "+4");
	g_string_truncate(path, 0);
	debuginfo_type_name(d, debuginfo_type_named(d, "account_t"), path);
	ck_assert_str_eq(path->str, "account_t");
	g_string_free(path, TRUE);
	debuginfo_close(d);
}
END_TEST

static const struct debug_variable *variable_named(struct debuginfo *d, const char *name)
{
	for (uint32_t i = 0; i < debuginfo_variable_count(d); i++)
		if (strcmp(debuginfo_variable(d, i)->name, name) == 0)
			return debuginfo_variable(d, i);
	return NULL;
}

START_TEST(forms)
{
	static const struct {
		const char *variable, *form;
	} expected[] = {
		{ "mood", "enum:CALM=-2,IDLE=0,WILD=70000" },
		{ "plain", "int" },
		{ "current", "pointer" },
		{ "acct", "" },
	};
	if (!build(flavours[_i].compiler, flavours[_i].flags, "bank"))
		return;
	struct debuginfo *d = open_in_folder("bank");
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		g_autoptr(GString) form = g_string_new(NULL);
		const struct debug_variable *v = variable_named(d, expected[i].variable);
		ck_assert_msg(v != NULL, "%s", expected[i].variable);
		debuginfo_form(d, v->type, form);
		ck_assert_str_eq(form->str, expected[i].form);
	}
	debuginfo_close(d);
}
END_TEST

START_TEST(functions)
{
	if (!build(flavours[_i].compiler, flavours[_i].flags, "bank"))
		return;
	struct debuginfo *d = open_in_folder("bank");
	GString *name = g_string_new(NULL);
	uint32_t id = debuginfo_function_named(d, "withdraw");
	ck_assert_uint_ne(id, NONE);
	const struct debug_function *f = debuginfo_function(d, id);
	ck_assert_uint_eq(f->parameter_count, 3);
	ck_assert_uint_ge(f->variable_count, 4);
	ck_assert_str_eq(debuginfo_local(d, f->variables).name, "from");
	ck_assert_str_eq(debuginfo_local(d, f->variables + 1).name, "log");
	ck_assert_str_eq(debuginfo_local(d, f->variables + 3).name, "cursor");
	debuginfo_type_name(d, debuginfo_pointee(d, debuginfo_local(d, f->variables + 1).type),
	                    name);
	ck_assert_str_eq(name->str, "struct outer");
	ck_assert(f->external && !f->address_taken);
	const struct debug_function *own =
	        debuginfo_function(d, debuginfo_function_named(d, "next_id"));
	ck_assert(!own->external);
	if (strstr(flavours[_i].flags, "no-pie") == NULL)
		ck_assert(debuginfo_function(d, debuginfo_function_named(d, "compare"))
		                  ->address_taken);
	const struct debug_variable *last = variable_named(d, "last_id");
	ck_assert_ptr_nonnull(last);
	ck_assert_str_eq(debuginfo_function(d, last->function)->name, "next_id");
	const struct debug_variable *current = variable_named(d, "current");
	ck_assert_ptr_nonnull(current);
	ck_assert_uint_eq(debuginfo_strip(d, debuginfo_pointee(d, current->type)),
	                  debuginfo_strip(d, debuginfo_type_named(d, "account_t")));
	ck_assert_uint_eq(debuginfo_qualifiers(d, variable_named(d, "plain")->type), 0);
	if (!strstr(flavours[_i].flags, "dwarf-3") && !strstr(flavours[_i].flags, "dwarf-4"))
		ck_assert_uint_eq(
		        debuginfo_qualifiers(d, variable_named(d, "atomic_counter")->type),
		        1u << TYPE_ATOMIC);
	g_string_free(name, TRUE);
	debuginfo_close(d);
}
END_TEST

START_TEST(stripped)
{
	if (!have("strip") || !build("gcc", "-g -O1", "bank"))
		return;
	ck_assert(run("cd '%s' && strip -g -o symbols bank && strip -o bare bank", folder));
	struct debuginfo *d = open_in_folder("symbols");
	ck_assert(!debuginfo_has_dwarf(d));
	char **lines = printed("bank");
	bool data = false, code = false;
	for (char **line = lines; *line != NULL; line++) {
		char **words = g_strsplit(*line, " ", -1);
		GString *name = g_string_new(NULL);
		struct debug_place place;
		if (g_str_has_prefix(*line, "D acct.balance")) {
			uint64_t address = g_ascii_strtoull(words[2], NULL, 16);
			data = debuginfo_data_name(d, address, 8, name);
			ck_assert_str_eq(name->str, "acct+8");
		} else if (strcmp(words[0], "C") == 0 && strcmp(words[2], "withdraw") == 0) {
			uint64_t address = g_ascii_strtoull(words[3], NULL, 16);
			ck_assert_uint_eq(debuginfo_code(d, address, &place, 1), 1);
			ck_assert_str_eq(place.function, "withdraw");
			ck_assert_str_eq(place.file, "");
			ck_assert_uint_gt(place.offset, 0);
			code = true;
		}
		g_string_free(name, TRUE);
		g_strfreev(words);
	}
	ck_assert(data && code);
	g_strfreev(lines);
	debuginfo_close(d);
	d = open_in_folder("bare");
	ck_assert(!debuginfo_has_dwarf(d));
	debuginfo_close(d);
}
END_TEST

START_TEST(separate_debug_file)
{
	if (!have("objcopy") || !build("gcc", "-g -O1", "bank"))
		return;
	ck_assert(run("cd '%s' && objcopy --only-keep-debug bank bank.debug && strip bank && "
	              "objcopy --add-gnu-debuglink=bank.debug bank",
	              folder));
	struct debuginfo *d = open_in_folder("bank");
	ck_assert(debuginfo_has_dwarf(d));
	ck_assert_uint_ge(check_printed(d, "bank"), 18);
	debuginfo_close(d);
}
END_TEST

static const char cxx_text[] =
        "namespace bank {\n"
        "struct base { int tag; virtual ~base() {} };\n"
        "struct account : base { long balance; static int total; void add(long n); };\n"
        "int account::total;\n"
        "account first;\n"
        "void account::add(long n)\n"
        "{ balance += n; total++; }\n"
        "}\n"
        "int main() { bank::first.add(3); return bank::account::total - 1; }\n";

START_TEST(c_plus_plus)
{
	const char *compiler = _i ? "clang++" : "g++";
	if (!have(compiler))
		return;
	write_file("bank.cc", cxx_text);
	ck_assert(run("cd '%s' && %s -g -O0 -o cxx bank.cc", folder, compiler));
	struct debuginfo *d = open_in_folder("cxx");
	GString *name = g_string_new(NULL);
	ck_assert_ptr_nonnull(variable_named(d, "bank::account::total"));
	const struct debug_variable *first = variable_named(d, "bank::first");
	ck_assert_ptr_nonnull(first);
	ck_assert(debuginfo_data_name(d, first->address + 16, 8, name));
	ck_assert_str_eq(name->str, "bank::first.balance");
	g_string_truncate(name, 0);
	ck_assert(debuginfo_data_name(d, first->address + 8, 4, name));
	ck_assert_str_eq(name->str, "bank::first.tag");
	uint32_t add = debuginfo_function_named(d, "bank::account::add");
	ck_assert_uint_ne(add, NONE);
	struct debug_place place;
	ck_assert_uint_eq(debuginfo_code(d, debuginfo_function(d, add)->low, &place, 1), 1);
	ck_assert_str_eq(place.function, "bank::account::add");
	ck_assert(g_str_has_suffix(place.file, "bank.cc"));
	ck_assert_uint_ge(place.line, 6);
	g_string_free(name, TRUE);
	debuginfo_close(d);
}
END_TEST

/* A function of a header, in a section of its own, begins a sequence of the line table that
 * need not name its file; functions of the unit's source stand before and behind it. */
static const char in_header_text[] =
        "static inline int __attribute__((noinline)) of_static(int n)\n"
        "{ __asm__ volatile(\"\"); return n + 1; }\n"
        "struct box { int n; int __attribute__((noinline)) get() { __asm__ volatile(\"\"); return n; } "
        "};\n"
        "inline int __attribute__((noinline)) of_header(int n)\n"
        "{ __asm__ volatile(\"\"); return n + 2; }\n";
static const char beside_header_text[] =
        "#include \"header.h\"\n"
        "int __attribute__((noinline)) of_source(int n)\n"
        "{ __asm__ volatile(\"\"); return n + 3; }\n"
        "int main() { box b = { -6 }; return of_static(0) + of_header(0) + of_source(0) + b.get(); }\n";
static const char *const header_flags[] = {
	"-O0",
	"-O1",
	"-O0 -gdwarf-4",
	"-O1 -gz",
	"-O0 -ffunction-sections",
	"-O0 -gdwarf64",
	"-O2 -ffunction-sections -Wl,--gc-sections",
	"-O0 -gdwarf-5 -no-pie",
};

static void check_file(struct debuginfo *d, const char *function, const char *file,
                       const char *flags)
{
	uint32_t id = debuginfo_function_named(d, function);
	struct debug_place place;

	ck_assert_msg(id != NONE, "%s unknown", function);
	ck_assert_uint_eq(debuginfo_code(d, debuginfo_function(d, id)->low, &place, 1), 1);
	ck_assert_str_eq(place.function, function);
	ck_assert_msg(g_str_has_suffix(place.file, file), "%s in %s, not in %s (%s)", function,
	              place.file, file, flags);
}

START_TEST(files_of_functions)
{
	const char *compiler = _i % 2 ? "clang++" : "g++";

	if (!have(compiler))
		return;
	write_file("src/header.h", in_header_text);
	write_file("src/beside.cc", beside_header_text);
	ck_assert(run("cd '%s' && %s -g %s -o beside src/beside.cc", folder, compiler,
	              header_flags[_i / 2]));
	struct debuginfo *d = open_in_folder("beside");
	check_file(d, "of_static", "header.h", header_flags[_i / 2]);
	check_file(d, "of_header", "header.h", header_flags[_i / 2]);
	check_file(d, "box::get", "header.h", header_flags[_i / 2]);
	check_file(d, "of_source", "beside.cc", header_flags[_i / 2]);
	check_file(d, "main", "beside.cc", header_flags[_i / 2]);
	debuginfo_close(d);
}
END_TEST

/* The line table of `first` has a row at its end, as gcc writes some: it is no row of `second`,
 * which follows and has no debug information. */
static const char row_at_end_text[] = "\t.file\t\"a.c\"\n"
                                      "\t.text\n"
                                      "\t.file 1 \"a.c\"\n"
                                      "\t.globl\tfirst\n"
                                      "\t.type\tfirst, @function\n"
                                      "first:\n"
                                      ".LFB0:\n"
                                      "\t.loc 1 3 1 view -0\n"
                                      "\t.cfi_startproc\n"
                                      "\tnop\n"
                                      "\t.loc 1 4 1 view .LVU1\n"
                                      "\tret\n"
                                      "\t.loc 1 200 9 is_stmt 1 view .LVU2\n"
                                      "\t.cfi_endproc\n"
                                      ".LFE0:\n"
                                      "\t.size\tfirst, .-first\n"
                                      ".Letext0:\n"
                                      "\t.section\t.debug_info,\"\",@progbits\n"
                                      "\t.long\t.Lend-.Lbegin\n"
                                      ".Lbegin:\n"
                                      "\t.value\t0x4\n"
                                      "\t.long\t.Labbrev\n"
                                      "\t.byte\t0x8\n"
                                      "\t.uleb128 0x1\n"
                                      "\t.string\t\"a.c\"\n"
                                      "\t.quad\t.LFB0\n"
                                      "\t.quad\t.LFE0-.LFB0\n"
                                      "\t.long\t.Ldebug_line0\n"
                                      ".Lend:\n"
                                      "\t.section\t.debug_abbrev,\"\",@progbits\n"
                                      ".Labbrev:\n"
                                      "\t.uleb128 0x1\n"
                                      "\t.uleb128 0x11\n"
                                      "\t.byte\t0\n"
                                      "\t.uleb128 0x3\n"
                                      "\t.uleb128 0x8\n"
                                      "\t.uleb128 0x11\n"
                                      "\t.uleb128 0x1\n"
                                      "\t.uleb128 0x12\n"
                                      "\t.uleb128 0x7\n"
                                      "\t.uleb128 0x10\n"
                                      "\t.uleb128 0x17\n"
                                      "\t.byte\t0\n"
                                      "\t.byte\t0\n"
                                      "\t.byte\t0\n"
                                      "\t.section\t.debug_line,\"\",@progbits\n"
                                      ".Ldebug_line0:\n"
                                      "\t.section\t.note.GNU-stack,\"\",@progbits\n";

START_TEST(row_at_end)
{
	struct debug_place place;

	write_file("first.s", row_at_end_text);
	write_file("second.c", "void second(void) {}\n"
	                       "int main(void) { second(); return 0; }\n");
	ck_assert(run(
	        "cd '%s' && gcc -c first.s && gcc -O0 -c second.c && gcc -o ends first.o second.o",
	        folder));
	struct debuginfo *d = open_in_folder("ends");
	const struct elf_symbol *second = NULL;
	for (guint i = 0; i < d->code_symbols->len; i++) {
		const struct elf_symbol *s =
		        &g_array_index(d->code_symbols, struct elf_symbol, i);
		if (strcmp(s->shown, "second") == 0)
			second = s;
		else if (strcmp(s->shown, "first") == 0) {
			ck_assert_uint_eq(debuginfo_code(d, s->address, &place, 1), 1);
			ck_assert_uint_eq(place.line, 3);
		}
	}
	ck_assert_ptr_nonnull(second);
	ck_assert_uint_eq(debuginfo_code(d, second->address, &place, 1), 1);
	ck_assert_str_eq(place.function, "second");
	ck_assert_uint_eq(place.line, 0);
	debuginfo_close(d);
}
END_TEST

static void refused(const char *name, const char *build_id, const char *expected)
{
	struct error error = { 0 };
	char *path = in_folder(name);
	ck_assert_ptr_null(debuginfo_open(path, build_id, &error));
	ck_assert_msg(strstr(error.what, expected) != NULL, "%s", error.what);
	ck_assert_msg(strstr(error.where, name) != NULL, "%s", error.where);
	g_free(path);
}

static const char *const shown[][2] = {
	{ "work", "work" },
	{ "work.isra.0", "work" },
	{ "work.constprop.1.cold", "work" },
	{ "work.part.0.isra.0", "work" },
	{ "counter.0", "counter" },
	{ "main._omp_fn.0", "main::omp" },
	{ "main._omp_fn.2", "main::omp#3" },
	{ "main.omp_outlined", "main::omp" },
	{ ".L12", ".L12" },
	{ "_ZN1P2goEv", "P::go" },
	{ "_ZN1P2goEv._omp_fn.0", "P::go::omp" },
	{ "_ZNK1P2goEi.part.0", "P::go" },
	{ "_Z1fIiEvT_", "f<int>" },
	{ "_ZN4bankplERKNS_4acctE", "bank::operator+" },
	{ "_ZN1PclEi", "P::operator()" },
	{ "_ZN1PcviEv", "P::operator int" },
	{ "_ZnwmPv", "operator new" },
	{ "_ZZ4mainE1x", "main::x" },
	{ "_ZZ1fiE1y", "f::y" },
	{ "_ZN12_GLOBAL__N_15totalE", "(anonymous namespace)::total" },
	{ "_ZTV1P", "vtable for P" },
	{ "_ZZ4mainENKUlvE_clEv", "main::lambda::operator()" },
	{ "_Z", "_Z" },
	{ "_Znonsense", "_Znonsense" },
};

START_TEST(symbols_as_people_write_them)
{
	struct debuginfo d = { .strings = g_string_chunk_new(64) };

	ck_assert_str_eq(debuginfo_shown(&d, shown[_i][0]), shown[_i][1]);
	g_string_chunk_free(d.strings);
}
END_TEST

/* pair<pair<...>, pair<...>>, each twice the one before: some hundred bytes expand to more
 * than any memory holds. Symbols then stay as they are. */
START_TEST(a_symbol_that_stands_for_too_much)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	GString *symbol = g_string_new("_Z1f4pairIiiES_IS0_S0_E");
	for (int i = 1; i < 35; i++)
		g_string_append_printf(symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	char *text = g_strdup_printf(".globl %s, _ZN1P2goEv\n.type %s,@function\n"
	                             ".type _ZN1P2goEv,@function\n%s: ret\n"
	                             "_ZN1P2goEv: ret\n",
	                             symbol->str, symbol->str, symbol->str);
	write_file("src/many.s", text);
	ck_assert(run("cd '%s' && gcc -shared -nostdlib -o many.so src/many.s", folder));
	struct debuginfo *d = open_in_folder("many.so");
	struct debug_place place;
	unsigned found = 0;
	for (guint i = 0; i < d->code_symbols->len; i++) {
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, i);
		bool large = strcmp(s->name, symbol->str) == 0;
		if (!large && strcmp(s->name, "_ZN1P2goEv") != 0)
			continue;
		ck_assert_uint_eq(debuginfo_code(d, s->address, &place, 1), 1);
		ck_assert_str_eq(place.function, s->name);
		found |= large ? 1 : 2;
	}
	ck_assert_uint_eq(found, 3);
	debuginfo_close(d);
	g_free(text);
	g_string_free(symbol, TRUE);
}
END_TEST

/* gcc writes an inlined call of which nothing is left without saying whose it was. */
START_TEST(an_inlined_call_without_an_origin)
{
	static const char text[] =
	        ".globl spin\n.type spin, @function\nspin:\n"
	        ".Lb: nop\n.Lc: ret\n.Le: .size spin, .-spin\n"
	        ".section .debug_abbrev,\"\",@progbits\n" /* unit, function, inlined call */
	        ".uleb128 1, 0x11\n.byte 1\n"
	        ".uleb128 0x03, 0x08, 0x13, 0x0b, 0x11, 1, 0x12, 7, 0, 0\n"
	        ".uleb128 2, 0x2e\n.byte 1\n"
	        ".uleb128 0x03, 0x08, 0x3f, 0x19, 0x11, 1, 0x12, 7, 0, 0\n"
	        ".uleb128 3, 0x1d\n.byte 0\n.uleb128 0x11, 1, 0x12, 7, 0x59, 0x0b, 0, 0\n"
	        ".byte 0\n"
	        ".section .debug_info,\"\",@progbits\n.long .Li-.Ls\n"
	        ".Ls: .value 4\n.long .debug_abbrev\n.byte 8\n"
	        ".uleb128 1\n.string \"spin.c\"\n.byte 12\n.quad .Lb, .Le-.Lb\n"
	        ".uleb128 2\n.string \"spin\"\n.quad .Lb, .Le-.Lb\n"
	        ".uleb128 3\n.quad .Lc, 0\n.byte 1, 0, 0\n.Li:\n";
	write_file("src/origin.s", text);
	ck_assert(run("cd '%s' && gcc -shared -nostdlib -o origin.so src/origin.s", folder));
	struct debuginfo *d = open_in_folder("origin.so");
	struct debug_entries e = debuginfo_entries(d, "spin");
	ck_assert_uint_eq(e.count, 1);
	ck_assert_uint_eq(e.inlined, 0);
	debuginfo_close(d);
}
END_TEST

START_TEST(bad_files)
{
	refused("absent", NULL, "No such file");
	write_file("text", "#!/bin/sh\necho not a program\n");
	refused("text", NULL, "ELF");
	write_file("empty", "");
	refused("empty", NULL, "ELF");
	refused("src", NULL, "regular file");
	if (!build("gcc", "-g -Wl,--build-id=0x1234abcd", "bank"))
		return;
	refused("bank", "99", "1234abcd");
	/* the same program for another machine: e_machine is at byte 18 */
	ck_assert(run("cd '%s' && cp bank foreign && printf '\\267\\000' | dd of=foreign bs=1 "
	              "seek=18 "
	              "conv=notrunc 2>/dev/null",
	              folder));
	refused("foreign", NULL, "AArch64");
	ck_assert(run("cd '%s' && gcc -g -c -w -o object.o src/bank.c", folder));
	refused("object.o", NULL, "object file");
}
END_TEST

/* Whatever is in the bytes: an answer or an error, never a crash or a hang. */
START_TEST(damaged_files)
{
	if (!build("gcc", "-g -O1", "bank"))
		return;
	char *path = in_folder("bank"), *bytes;
	gsize length;
	ck_assert(g_file_get_contents(path, &bytes, &length, NULL));
	g_free(path);
	GRand *random = g_rand_new_with_seed(7);
	path = in_folder("hurt");
	for (int i = 0; i < 60; i++) {
		char *copy = g_memdup2(bytes, length);
		gsize kept = i % 3 == 0 ? (gsize)g_rand_int_range(random, 0, length) : length;
		for (int n = 0; n < 40; n++)
			copy[g_rand_int_range(random, i % 2 ? length / 3 : 64, length)] =
			        (char)g_rand_int(random);
		ck_assert(g_file_set_contents(path, copy, kept, NULL));
		struct error error = { 0 };
		struct debuginfo *d = debuginfo_open(path, NULL, &error);
		if (d != NULL) {
			struct debug_place places[4];
			GString *name = g_string_new(NULL);
			for (uint64_t address = 0; address < 0x6000; address += 37) {
				debuginfo_code(d, address, places, 4);
				debuginfo_data_name(d, address, 4, name);
				g_string_truncate(name, 0);
			}
			g_string_free(name, TRUE);
		} else
			ck_assert_str_ne(error.what, "");
		debuginfo_close(d);
		g_free(copy);
	}
	g_rand_free(random);
	g_free(path);
	g_free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debuginfo");
	TCase *cases = tcase_create("modules");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, names_and_places, 0, G_N_ELEMENTS(flavours));
	tcase_add_loop_test(cases, types, 0, G_N_ELEMENTS(flavours));
	tcase_add_loop_test(cases, forms, 0, G_N_ELEMENTS(flavours));
	tcase_add_loop_test(cases, functions, 0, G_N_ELEMENTS(flavours));
	tcase_add_test(cases, stripped);
	tcase_add_test(cases, separate_debug_file);
	tcase_add_loop_test(cases, c_plus_plus, 0, 2);
	tcase_add_loop_test(cases, files_of_functions, 0, 2 * G_N_ELEMENTS(header_flags));
	tcase_add_test(cases, row_at_end);
	tcase_add_loop_test(cases, symbols_as_people_write_them, 0, G_N_ELEMENTS(shown));
	tcase_add_test(cases, a_symbol_that_stands_for_too_much);
	tcase_add_test(cases, an_inlined_call_without_an_origin);
	tcase_add_test(cases, bad_files);
	tcase_add_test(cases, damaged_files);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
