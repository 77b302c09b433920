/*
 * cmd_doctor.c - heddle doctor: tests the machine for everything Heddle needs, and says how
 * to get the rest. Every check is tried out.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/base/home.h"
#include "engine/record/session.h"
#include "tui/batch/command.h"
#include "tui/batch/print/print.h"

enum need { NEEDED, USEFUL };

static const struct command_option options[] = {
	OPTION_FORMAT,
	{ 0 },
};

static int missing;
static json_t *checks; /* results for --format json; NULL: print at once */

static void line(bool well, enum need need, const char *what, const char *detail,
                 const char *remedy)
{
	if (!well && need == NEEDED)
		missing++;
	if (checks != NULL) {
		json_t *check = json_pack("{ss sb sb}", "what", what, "ok", well, "needed",
		                          need == NEEDED);
		if (detail)
			json_object_set_new(check, "detail", json_text(detail));
		if (!well && remedy)
			json_object_set_new(check, "remedy", json_text(remedy));
		json_array_append_new(checks, check);
		return;
	}
	printf("%-7s %-32s %s\n",
	       well             ? "ok"
	       : need == NEEDED ? "MISSING"
	                        : "-",
	       what, detail ? detail : "");
	if (!well && remedy)
		printf("%-7s %-32s -> %s\n", "", "", remedy);
}

/* First line of a command's output; NULL when it cannot be run. */
static char *first_line(const char *command)
{
	g_auto(GStrv) argv = NULL;
	char *out = NULL;
	int status = 0;
	if (!g_shell_parse_argv(command, NULL, &argv, NULL))
		return NULL;
	bool ran =
	        g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
	                     NULL, NULL, &out, NULL, &status, NULL) &&
	        status == 0;
	if (!ran) {
		g_free(out);
		return NULL;
	}
	char *end = strchr(out, '\n');
	if (end)
		*end = '\0';
	return out;
}

static void check_command(const char *name, const char *what, enum need need,
                          const char *remedy)
{
	g_autofree char *command = g_strconcat(name, " --version", NULL);
	g_autofree char *says = first_line(command);
	line(says != NULL, need, what, says, remedy);
}

/* Compile, record and analyse a program. */
static void check_recording(const char *self)
{
	g_autofree char *folder =
	        g_build_filename(g_get_tmp_dir(), "heddle-doctor-XXXXXX", NULL);
	if (!g_mkdtemp(folder)) {
		line(false, NEEDED, "a recording", g_strerror(errno),
		     "make the folder for temporary files ($TMPDIR, /tmp) writable");
		return;
	}
	g_autofree char *source = g_build_filename(folder, "t.c", NULL);
	g_autofree char *program = g_build_filename(folder, "t", NULL);
	g_autofree char *output = g_build_filename(folder, "t.hdl", NULL);
	g_file_set_contents(source,
	                    "#include <pthread.h>\nint x;\n"
	                    "void *f(void *p) { x++; return p; }\n"
	                    "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n"
	                    "x++; pthread_join(t, 0); return 0; }\n",
	                    -1, NULL);
	char *quoted[] = { g_shell_quote(self), g_shell_quote(source), g_shell_quote(program) };
	g_autofree char *command =
	        g_strdup_printf("%s cc -O1 %s -o %s -pthread", quoted[0], quoted[1], quoted[2]);
	g_autofree char *says = first_line(command);
	line(says != NULL, NEEDED, "heddle cc", says ? "compiles and links" : "fails",
	     "apt install gcc libc6-dev");
	if (says) {
		struct session_options o = { .argv = (char *[]){ program, NULL },
			                     .output = output,
			                     .strategy.seed = 1 };
		struct recording s;
		struct error error;
		bool ok = session_record(&o, &s, NULL, &error);
		line(ok && s.facts.instrumented, NEEDED, "heddle record",
		     ok ? "records it" : error.what, ok ? NULL : error.remedy);
		if (ok)
			line(s.result.aslr_off, USEFUL, "address randomisation",
			     s.result.aslr_off ? "can be switched off"
			                       : "cannot be switched off",
			     "allow personality(2) (in a container: --security-opt "
			     "seccomp=unconfined); traces have addresses of their own until "
			     "then");
		session_release(&s);
	}
	unlink(source);
	unlink(program);
	unlink(output);
	rmdir(folder);
	for (size_t i = 0; i < G_N_ELEMENTS(quoted); i++)
		g_free(quoted[i]);
}

static void check_room(void)
{
	struct statvfs fs;
	if (statvfs(".", &fs) != 0)
		return;
	double gigabytes = (double)fs.f_bavail * fs.f_frsize / 1e9;
	char text[64];
	snprintf(text, sizeof(text), "%.1f GB free in this folder", gigabytes);
	line(gigabytes > 1, USEFUL, "room for recordings", text,
	     "a recording takes about 20 bytes an event: --max-size limits it");
	line(access(".", W_OK) == 0, USEFUL, "this folder", "is writable",
	     "name another with -o");
}

static void check_compilers(void)
{
	const char *cc = g_getenv("CC"), *cxx = g_getenv("CXX");
#ifdef __x86_64__
	line(true, NEEDED, "architecture", "x86-64", NULL);
#else
	line(false, NEEDED, "architecture", "recording needs x86-64", "use another machine");
#endif
	check_command(cc && *cc ? cc : "cc", cc && *cc ? "C compiler ($CC)" : "C compiler",
	              NEEDED, "apt install gcc");
	check_command(cxx && *cxx ? cxx : "c++",
	              cxx && *cxx ? "C++ compiler ($CXX)" : "C++ compiler", USEFUL,
	              "apt install g++");
	check_command("clang", "clang", USEFUL, "apt install clang, if you build with it");
	check_command("gdb", "gdb (replay --gdb, --dap)", USEFUL, "apt install gdb");
	check_command("gdbserver", "gdbserver (--gdb-server, --dap)", USEFUL,
	              "apt install gdbserver");
}

static void check_installed(void)
{
	struct error error;
	g_autofree char *runtime = record_runtime_path(&error);
	line(runtime != NULL, NEEDED, "recording runtime", runtime ? runtime : error.what,
	     runtime ? NULL : error.remedy);
	g_autofree char *stub = record_stub_folder(&error);
	line(stub != NULL, NEEDED, "what programs link with", stub ? stub : error.what,
	     stub ? NULL : error.remedy);
	g_autofree char *specs = home_find("specs");
	line(specs != NULL, USEFUL, "specifications", specs ? specs : "not found",
	     "install Heddle again");
}

static void check_debug_information(void)
{
	bool separate = g_file_test("/usr/lib/debug/.build-id", G_FILE_TEST_IS_DIR);
	line(separate, USEFUL, "debug information",
	     separate ? "separate files in /usr/lib/debug" : "only what programs carry",
	     "apt install PACKAGE-dbgsym for lines in libraries");
}

static int run_doctor(struct arguments *a)
{
	argument_words(a, 0, 0);
	missing = 0;
	checks = argument_format(a, false) == FORMAT_JSON ? json_array() : NULL;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	check_compilers();
	check_installed();
	check_recording(self);
	check_debug_information();
	check_room();
	if (checks != NULL) {
		json_auto_t *j = json_pack("{ss sb so}", "heddle", HEDDLE_VERSION, "complete",
		                           missing == 0, "checks", checks);
		json_dumpf(j, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		printf("%s\n", missing ? "Something that is needed is missing."
		                       : "All that is needed is here.");
	}
	return missing ? EXIT_FOUND : EXIT_NOTHING;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "",
	.summary = "what this machine lacks for recording, and how to get it",
	.options = options,
	.run = run_doctor,
};
