/*
 * cmd_cc.c - heddle cc, heddle c++: the user's compiler with instrumentation for recording.
 *
 * Adds thread instrumentation and, when linking, a stub instead of the sanitizer's library. All
 * else, including the exit status, is the compiler's.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/record/record.h"
#include "tui/batch/command.h"

/* Environment variable set for compilers that heddle cc calls. */
#define INSIDE "HEDDLE_INSIDE_CC"

/* Options after which the compiler does not link. */
static const char *const no_link[] = { "-c",           "-S",         "-E",
	                               "-M",           "-MM",        "-fsyntax-only",
	                               "-r",           "--version",  "-dumpversion",
	                               "-dumpmachine", "-dumpspecs", "-dumpfullversion",
	                               "--help",       "-###" };
/* Options whose argument is the next word. */
static const char *const takes_word[] = { "-o",  "-x",  "-I",       "-L",
	                                  "-D",  "-U",  "-include", "-isystem",
	                                  "-MF", "-MT", "-MQ",      "-Xlinker",
	                                  "-T",  "-u",  "-l",       "-B" };

static bool among(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

static bool has_word(char *const *argv, const char *word)
{
	while (*argv && strcmp(*argv, word) != 0)
		argv++;
	return *argv != NULL;
}

static bool links(char **argv)
{
	bool inputs = false;
	for (; *argv; argv++) {
		if (among(*argv, no_link, G_N_ELEMENTS(no_link)) ||
		    g_str_has_prefix(*argv, "-print-") || g_str_has_prefix(*argv, "--print-"))
			return false;
		if (among(*argv, takes_word, G_N_ELEMENTS(takes_word)) && argv[1])
			argv++;
		else if ((*argv)[0] != '-' || strcmp(*argv, "-") == 0)
			inputs = true;
	}
	return inputs;
}

/* Is it ThreadSanitizer's own runtime as an archive, which rustc names? The stub replaces
 * it. */
static bool is_sanitizer_runtime(const char *word)
{
	return g_str_has_suffix(word, "_rt.tsan.a");
}

/* Is the compiler clang, by its name or its output? */
static bool is_clang(char **compiler)
{
	g_autofree char *base = g_path_get_basename(compiler[0]);
	bool clang = strstr(base, "clang") != NULL;
	if (clang)
		return true;
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	for (char **w = compiler; *w; w++)
		g_ptr_array_add(words, *w);
	g_ptr_array_add(words, "--version");
	g_ptr_array_add(words, NULL);
	g_autofree char *out = NULL;
	if (g_spawn_sync(NULL, (char **)words->pdata, NULL,
	                 G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out,
	                 NULL, NULL, NULL))
		clang = strstr(out, "clang") != NULL;
	return clang;
}

static bool instruments_otherwise(char **argv)
{
	for (; *argv; argv++)
		if (g_str_has_prefix(*argv, "-fsanitize=") && strstr(*argv, "address"))
			return true;
	return false;
}

/* GNU ld needs the script beside the stub, others do not, and a second one is refused. */
static bool wants_script(char **argv, const char *option)
{
	for (; *argv; argv++)
		if (strcmp(*argv, option) == 0 || (g_str_has_prefix(*argv, "-fuse-ld=") &&
		                                   strcmp(*argv, "-fuse-ld=bfd") != 0))
			return false;
	return true;
}

static const char *const every_compiler[] = {
	"-g",
	/* Space at the entry of each function, for bind lines (engine/record/interpose.h). */
	"-fpatchable-function-entry=5",
	NULL,
};
static const char *const gcc_before[] = {
	/* A patched function may change registers that gcc knows it preserves, and merged
	 * functions share a name. */
	"-fno-ipa-ra",
	"-fno-ipa-icf",
	/* gcc would leave out reads whose values are not used, and writes that no read of the
	 * same thread sees */
	"-fno-tree-dce",
	"-fno-tree-dse",
	/* volatile accesses have hooks of their own */
	"--param=tsan-distinguish-volatile=1",
	/* gcc warns so of fences; the recorder handles them */
	"-Wno-tsan",
	NULL,
};
/* After the user's own arguments, which these overrule. */
static const char *const hooks_in[] = {
	"-fsanitize=thread",
	"-fno-builtin",
	/* Fortified headers call builtins by name, and inlined copies would be missed. */
	"-U_FORTIFY_SOURCE",
	NULL,
};
static const char *const clang_after[] = {
	"-mllvm",
	"-tsan-instrument-read-before-write=1",
	"-mllvm",
	"-tsan-distinguish-volatile=1",
	/* shows recordings that no read was left out (debuginfo.h) */
	"-grecord-command-line",
	NULL,
};

static void add(GPtrArray *words, const char *const *list)
{
	for (; *list; list++)
		g_ptr_array_add(words, g_strdup(*list));
}

/* Owned words of the compiler to run: the variable's, unless it names Heddle or runs inside of
 * it: CC="heddle cc", or a script that calls it, must not recurse. */
static char **compiler_words(const char *variable, const char *otherwise)
{
	char **compiler = NULL;
	const char *text = g_getenv(variable);
	if (!text || !*text || !g_shell_parse_argv(text, NULL, &compiler, NULL))
		return g_strsplit(otherwise, " ", -1);
	g_autofree char *base = g_path_get_basename(compiler[0]);
	if (strcmp(base, "heddle") == 0 || g_getenv(INSIDE)) {
		g_strfreev(compiler);
		return g_strsplit(otherwise, " ", -1);
	}
	return compiler;
}

/* The runtime's stub, instead of the sanitizer's runtime. */
static void add_stub(GPtrArray *words, char **arguments, const char *stub, bool clang)
{
	if (clang)
		g_ptr_array_add(words, g_strdup("-fno-sanitize-link-runtime"));
	/* A preceding -x would make it a source file. */
	add(words, (const char *const[]){ "-x", "none", NULL });
	g_ptr_array_add(words, g_build_filename(stub, "libheddle-stub.a", NULL));
	/* gcc adds this file by itself, to executables. */
	if (clang && !has_word(arguments, "-shared"))
		g_ptr_array_add(words, g_build_filename(stub, "libtsan_preinit.o", NULL));
	g_autofree char *script = g_strconcat("-Wl,-T,", stub, "/discard.ld", NULL);
	if (wants_script(arguments, script))
		g_ptr_array_add(words, g_steal_pointer(&script));
}

static int compile(struct arguments *a, const char *variable, const char *otherwise)
{
	struct error error;
	g_auto(GStrv) compiler = compiler_words(variable, otherwise);
	g_setenv(INSIDE, "1", TRUE);
	g_autofree char *stub = record_stub_folder(&error);
	if (!stub)
		return fail(&error);
	if (instruments_otherwise(a->rest)) {
		error_set(&error, a->command->name, "leave out -fsanitize=address",
		          "the thread and address sanitizers' instrumentation exclude each "
		          "other");
		return fail(&error);
	}
	bool clang = is_clang(compiler);
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	add(words, (const char *const *)compiler);
	add(words, every_compiler);
	if (!clang)
		add(words, gcc_before);
	if (strcmp(variable, "CXX") == 0) { /* headers before those of libstdc++ */
		g_ptr_array_add(words, g_strdup("-isystem"));
		g_ptr_array_add(words, g_build_filename(stub, "include", "c++", NULL));
	}
	for (char **w = a->rest; *w; w++)
		if (!is_sanitizer_runtime(*w))
			g_ptr_array_add(words, g_strdup(*w));
	add(words, hooks_in);
	if (clang)
		add(words, clang_after);
	else
		g_ptr_array_add(words, g_strconcat("-B", stub, NULL));
	if (links(a->rest))
		add_stub(words, a->rest, stub, clang);
	g_ptr_array_add(words, NULL);
	execvp(words->pdata[0], (char **)words->pdata);
	error_set(&error, words->pdata[0],
	          "install it, or name another compiler in $CC or $CXX ('heddle doctor' looks)",
	          "cannot run the compiler: %s", g_strerror(errno));
	return fail(&error);
}

static int run_cc(struct arguments *a)
{
	return compile(a, "CC", "cc");
}

static int run_cxx(struct arguments *a)
{
	return compile(a, "CXX", "c++");
}

/* Help that comes before the compiler's own. */
#define DETAILS(variable, otherwise, example) \
	"Runs the compiler that $" variable " names, else '" otherwise \
	"', with these arguments and options of Heddle's\n" \
	"own: debug information, ThreadSanitizer's hook at each access, and, when it links, a\n" \
	"small library in place of the sanitizer's. The exit status is the compiler's.\n\n" \
	"    " example "\n" \
	"    heddle record -- ./bank\n" \
	"    make CC=\"heddle cc\" CXX=\"heddle c++\"\n\n" \
	"The program runs alone as ever; under 'heddle record', 'check', 'explore' and the\n" \
	"others, which need no other build, its accesses are seen. -fsanitize=address cannot be\n" \
	"used with it. 'heddle doctor' looks whether a compiler is there and fit."

const struct command command_cc = {
	.name = "cc",
	.usage = "ARGUMENTS OF THE COMPILER",
	.summary = "compile and link C with recording built in ($CC, else cc)",
	.details = DETAILS("CC", "cc", "heddle cc -g -O1 bank.c -o bank -pthread"),
	.run = run_cc,
	.passes_through = true,
};

const struct command command_cxx = {
	.name = "c++",
	.usage = "ARGUMENTS OF THE COMPILER",
	.summary = "compile and link C++ with recording built in ($CXX, else c++)",
	.details = DETAILS("CXX", "c++", "heddle c++ -g -O1 bank.cc -o bank -pthread"),
	.run = run_cxx,
	.passes_through = true,
};
