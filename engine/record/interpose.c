/* interpose.c - see interpose.h. */
#include "engine/record/interpose.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/record/entry.h"
#include "engine/record/interpose_cache.h"
#include "engine/record/layout.h"
#include "engine/record/record.h"

/* The beginning of every generated library: declarations of the runtime's functions
 * (runtime/core/bind.c). */
static const char prelude[] =
        "#define _GNU_SOURCE\n"
        "#include <dlfcn.h>\n"
        "#include <stdint.h>\n"
        "struct heddle_bound { const char *type, *method, *arguments, *result; int makes; };\n"
        "int heddle_bound_begin(const struct heddle_bound *, const void *, const void *,"
        " const void *, const uint64_t *);\n"
        "void heddle_bound_end(int, const uint64_t *);\n"
        "void heddle_bound_patch(const char *, uint64_t, void *, void **);\n"
        "void heddle_bound_missing(const char *);\n"
        "#define CALLER __builtin_return_address(0), __builtin_frame_address(0)\n"
        "static void leave(const int *open)\n"
        "{\n\tif (*open)\n\t\theddle_bound_end(*open, 0);\n}\n";

static const char *c_type(const struct bind_parameter *p)
{
	static const char *const integers[2][4] = {
		{ "int8_t", "int16_t", "int32_t", "int64_t" },
		{ "uint8_t", "uint16_t", "uint32_t", "uint64_t" }
	};
	int power = p->size == 1 ? 0 : p->size == 2 ? 1 : p->size == 4 ? 2 : 3;
	switch (p->type) {
	case BIND_VOID:
		return "void";
	case BIND_BOOL:
		return p->size == 4 ? "int32_t" : "_Bool";
	case BIND_SIGNED:
		return integers[0][power];
	case BIND_UNSIGNED:
		return integers[1][power];
	case BIND_STRING:
		return "const char *";
	default:
		return "void *";
	}
}

/* The letter of a value's type, as in put_value of runtime/core/bind.c. */
static char letter(const struct bind_parameter *p)
{
	static const char letters[] = { [BIND_STRING] = 's',
		                        [BIND_SIGNED] = 'i',
		                        [BIND_UNSIGNED] = 'u',
		                        [BIND_BOOL] = 'b',
		                        [BIND_POINTER] = 'p' };
	return letters[p->type];
}

struct bound {
	unsigned type; /* number of the object's type among the specifications' types */
	const struct spec_method *method;
	const struct spec_bind *bind;
	uint64_t address; /* in the program's file; 0: a library's function */
};

static const struct bind_parameter *parameter_at(const struct spec_bind *b, guint i)
{
	return &g_array_index(b->parameters, struct bind_parameter, i);
}

/* Append the C expression `e` of type `p` as 64 bits. */
static void value(GString *out, const struct bind_parameter *p, const char *e)
{
	if (p->type == BIND_BOOL)
		g_string_append_printf(out, "(%s) != 0", e);
	else
		g_string_append_printf(out, "(uint64_t)%s(%s)",
		                       p->type == BIND_SIGNED     ? "(int64_t)"
		                       : p->type == BIND_UNSIGNED ? ""
		                                                  : "(uintptr_t)",
		                       e);
}

/* Writes the method's names from..to-1: their kinds to `letters`, C expressions to `values`.
 * Arguments are parameters; results are returned or written through parameters. */
static void names(const struct spec_bind *b, uint32_t from, uint32_t to, GString *letters,
                  GString *values)
{
	for (uint32_t k = from; k < to; k++) {
		const struct bind_parameter *p = &b->result;
		char *e = g_strdup("r");
		for (guint i = 0; i < b->parameters->len; i++) {
			const struct bind_parameter *q = parameter_at(b, i);
			if ((q->role != BIND_NAME && q->role != BIND_OUT) || q->index != k)
				continue;
			p = q;
			g_free(e);
			e = q->role == BIND_NAME
			            ? g_strdup_printf("a%u", i)
			            : g_strdup_printf("a%u ? *(%s *)a%u : 0", i, c_type(q), i);
		}
		g_string_append_c(letters, letter(p));
		g_string_append(values, k > from ? ", " : "");
		value(values, p, e);
		g_free(e);
	}
	if (from == to)
		g_string_append_c(values, '0');
}

static void list(GString *out, const struct spec_bind *b, bool types)
{
	for (guint i = 0; i < b->parameters->len; i++) {
		const struct bind_parameter *p = parameter_at(b, i);
		const char *type = p->role == BIND_OUT ? "void *" : c_type(p);
		g_string_append_printf(out, "%s%s%sa%u", i ? ", " : "", types ? type : "",
		                       types ? " " : "", i);
	}
	if (b->parameters->len == 0 && types)
		g_string_append(out, "void");
}

/* The object named by C expression `e`, and the condition that it is valid (open()
 * succeeded). */
static void object(const struct bind_parameter *p, const char *e, GString *self,
                   GString *condition)
{
	g_string_printf(self, "(const void *)(uintptr_t)(%s)", e);
	if (p->type == BIND_SIGNED)
		g_string_printf(condition, "(%s) >= 0", e);
	else if (p->type != BIND_UNSIGNED)
		g_string_printf(condition, "(%s) != 0", e);
}

/* The wrapper of function `n`: records the call, calls, records the result. */
static void function(GString *out, const struct bound *x, unsigned n)
{
	const struct spec_bind *b = x->bind;
	bool returns = b->result.type != BIND_VOID, after = b->result.role == BIND_SELF;
	uint32_t arguments = x->method->arguments, total = arguments + x->method->results;
	GString *self = g_string_new("(const void *)0"), *condition = g_string_new("1");
	GString *kinds[2] = { g_string_new(NULL), g_string_new(NULL) };
	GString *values[2] = { g_string_new(NULL), g_string_new(NULL) };
	names(b, 0, arguments, kinds[0], values[0]);
	names(b, arguments, total, kinds[1], values[1]);
	for (guint i = 0; i < b->parameters->len; i++)
		if (parameter_at(b, i)->role == BIND_SELF) {
			g_autofree char *e = g_strdup_printf("a%u", i);
			object(parameter_at(b, i), e, self, condition);
		}
	if (after)
		object(&b->result, "r", self, condition);
	g_string_append_printf(out,
	                       "static const struct heddle_bound bound%u = { type%u, \"%s\", "
	                       "\"%s\", \"%s\", %d };\n"
	                       "static %s (*real%u)(",
	                       n, x->type, x->method->name, kinds[0]->str, kinds[1]->str, after,
	                       c_type(&b->result), n);
	list(out, b, true);
	if (x->address)
		g_string_append_printf(out, ");\nstatic %s bound_%u(", c_type(&b->result), n);
	else
		g_string_append_printf(out,
		                       ");\n__attribute__((visibility(\"default\"))) %s %s(",
		                       c_type(&b->result), b->function);
	list(out, b, true);
	g_string_append(out, ")\n{\n");
	if (!x->address) /* constructors of other libraries may run before ours */
		g_string_append_printf(out,
		                       "\tif (!real%u)\n\t\t*(void **)&real%u = "
		                       "dlsym(RTLD_NEXT, \"%s\");\n",
		                       n, n, b->function);
	g_string_append_printf(out, "\tuint64_t values[] = { %s };\n", values[0]->str);
	GString *begin = g_string_new(NULL);
	g_string_printf(begin, "%s ? heddle_bound_begin(&bound%u, %s, CALLER, values) : 0;\n",
	                condition->str, n, self->str);
	g_string_append_printf(out,
	                       "\tint open __attribute__((cleanup(leave))) = %s\t%s%sreal%u(",
	                       after ? "0;\n" : begin->str, returns ? c_type(&b->result) : "",
	                       returns ? " r = " : "", n);
	list(out, b, false);
	/* a constructor's object is known only after the call */
	g_string_append_printf(out, ");\n%s%s\tif (open) {\n\t\tuint64_t results[] = { %s };\n",
	                       after ? "\topen = " : "", after ? begin->str : "",
	                       values[1]->str);
	g_string_append_printf(
	        out, "\t\theddle_bound_end(open, results);\n\t\topen = 0;\n\t}\n%s}\n",
	        returns ? "\treturn r;\n" : "");
	GString *all[] = { self, condition, kinds[0], kinds[1], values[0], values[1], begin };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_string_free(all[i], TRUE);
}

/* At load time: jumps at the entries of the program's own functions. */
static void constructor(GString *out, const GArray *bounds)
{
	g_string_append(out, "__attribute__((constructor)) static void begin(void)\n{\n");
	for (guint i = 0; i < bounds->len; i++) {
		const struct bound *x = &g_array_index(bounds, struct bound, i);
		if (x->address)
			g_string_append_printf(out,
			                       "\theddle_bound_patch(\"%s\", 0x%" PRIx64
			                       ", bound_%u, (void **)&real%u);\n",
			                       x->bind->function, x->address, i, i);
		else
			g_string_append_printf(out,
			                       "\tif (!dlsym(RTLD_NEXT, \"%s\"))\n"
			                       "\t\theddle_bound_missing(\"%s\");\n",
			                       x->bind->function, x->bind->function);
	}
	g_string_append(out, "}\n");
}

static char *source_of(const struct specs *specs, const GArray *bounds)
{
	GString *out = g_string_new(prelude);
	for (guint i = 0; i < specs->objects->len; i++)
		g_string_append_printf(out, "static const char type%u[] = \"%s\";\n", i,
		                       ((struct spec_object *)specs->objects->pdata[i])->name);
	for (guint i = 0; i < bounds->len; i++)
		function(out, &g_array_index(bounds, struct bound, i), i);
	constructor(out, bounds);
	return g_string_free(out, FALSE);
}

static bool can_forward(const struct bound *x, const char *path, struct error *error)
{
	const struct spec_bind *b = x->bind;
	if (strstr(b->text, "...") != NULL)
		return error_set(error, b->function,
		                 "name the parameters that it is called with, or use heddle.h "
		                 "around its calls",
		                 "expected a C function with a fixed list of parameters in a "
		                 "bind line, found %s",
		                 b->text);
	if (x->address == 0 && strchr(b->function, ':') != NULL)
		return error_set(error, b->function,
		                 "name a C function, or one of the program itself",
		                 "%s has no such function", path);
	return true;
}

/* Find all bind lines, with addresses of the program's own functions. */
static bool find_bounds(const struct specs *specs, const char *path, GArray *bounds,
                        struct error *error)
{
	struct program *program = program_open(path, error);
	bool ok = program != NULL;
	for (guint i = 0; ok && i < specs->objects->len; i++) {
		const struct spec_object *o = specs->objects->pdata[i];
		for (guint m = 0; ok && m < o->methods->len; m++) {
			struct bound x = { .type = i, .method = spec_method_at(o, m) };
			for (guint k = 0; ok && k < x.method->binds->len; k++) {
				x.bind = x.method->binds->pdata[k];
				ok = program_entry(program, x.bind->function, &x.address,
				                   error) &&
				     can_forward(&x, path, error);
				if (ok)
					g_array_append_val(bounds, x);
			}
		}
	}
	program_close(program);
	return ok;
}

/* The command that compiles the source beside `path` into it; words of $CC, or cc, are in
 * `words`.
 */
static GPtrArray *compiler_words(const char *path, const char *file, char ***words)
{
	const char *compiler = g_getenv("CC");
	GPtrArray *argv = g_ptr_array_new();
	const char *rest[] = { "-shared",      "-fPIC",        "-O1",
		               "-fno-builtin", "-fexceptions", "-fvisibility=hidden",
		               "-w",           "-o",           path,
		               file,           "-ldl",         NULL };
	if (compiler == NULL || *compiler == 0 ||
	    !g_shell_parse_argv(compiler, NULL, words, NULL))
		*words = g_strsplit("cc", " ", -1);
	for (char **w = *words; *w; w++)
		g_ptr_array_add(argv, *w);
	for (const char **r = rest; *r; r++)
		g_ptr_array_add(argv, (char *)*r);
	g_ptr_array_add(argv, NULL);
	return argv;
}

/* Compiles into `path`, or copies the same library from the cache. */
static bool compile(const char *source, const char *path, struct error *error)
{
	g_auto(GStrv) words = NULL, of_any_path = NULL;
	g_autofree char *file = g_strdup_printf("%s.c", path), *messages = NULL;
	g_autoptr(GPtrArray) argv = compiler_words(path, file, &words);
	g_autoptr(GPtrArray) same = compiler_words("", "", &of_any_path);
	g_autofree char *key = interpose_cache_key(source, (char *const *)same->pdata);
	int status = 1;
	g_autoptr(GError) g = NULL;
	if (key && interpose_cache_take(key, path))
		return true;
	bool ok = g_file_set_contents(file, source, -1, &g) &&
	          g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL,
	                       NULL, NULL, &messages, &status, &g) &&
	          status == 0;
	if (!ok)
		error_set(error, argv->pdata[0],
		          "see that a C compiler is there (heddle doctor)",
		          "expected the functions of the bind lines to compile, found: %s",
		          g          ? g->message
		          : messages ? messages
		                     : "an error");
	else if (key)
		interpose_cache_keep(key, path);
	unlink(file);
	return ok;
}

/* Remove libraries older than an hour whose maker, by the process number in the name, is
 * dead. */
#define PID_DIGITS 7

static void remove_stale(const char *folder)
{
	const gint64 old = 3600;
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
		if (!g_str_has_prefix(name, LOG_BIND_LIBRARY))
			continue;
		const char *digits = name + strlen(LOG_BIND_LIBRARY);
		char *end;
		g_autofree char *path = g_build_filename(folder, name, NULL);
		long pid = strtol(digits, &end, 10);
		struct stat status;
		if (end == digits + PID_DIGITS && *end == '-' && pid > 0 &&
		    lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    status.st_uid == geteuid() && time(NULL) - status.st_mtime > old &&
		    kill((pid_t)pid, 0) != 0 && errno == ESRCH)
			unlink(path);
	}
}

/* Compile with $CC (or cc) into a new temporary file, unlinked and freed by the caller.
 * `program` will load it. NULL and `error` without a compiler or bind line, or for a function
 * that cannot be bound. */
static char *interposer_build(const struct specs *specs, const char *program,
                              struct error *error)
{
	g_autoptr(GArray) bounds = g_array_new(FALSE, FALSE, sizeof(struct bound));
	char *path = NULL;
	if (find_bounds(specs, program, bounds, error)) {
		g_autofree char *source = source_of(specs, bounds);
		/* constant length, as it is in the environment */
		path = g_strdup_printf("%s/" LOG_BIND_LIBRARY "%0*d-XXXXXX.so", g_get_tmp_dir(),
		                       PID_DIGITS, (int)getpid());
		remove_stale(g_get_tmp_dir());
		int fd = bounds->len > 0 ? g_mkstemp(path) : -1;
		if (bounds->len == 0)
			error_set(error, "", "add bind METHOD = \"PROTOTYPE\" lines",
			          "expected a bind line in the specifications, found none");
		else if (fd < 0)
			error_set(error, path, "make room there, or set TMPDIR",
			          "expected to make a file");
		if (fd >= 0)
			close(fd);
		if (fd < 0 || !compile(source, path, error)) {
			if (fd >= 0)
				unlink(path);
			g_clear_pointer(&path, g_free);
		}
	}
	return path;
}

static bool load_all(struct specs *specs, const GPtrArray *files, struct error *error)
{
	bool ok = true;
	for (guint i = 0; ok && i < files->len; i++)
		ok = specs_load(specs, files->pdata[i], error);
	return ok;
}

static bool has_binds(const struct specs *specs)
{
	bool any = false;
	for (guint i = 0; i < specs->objects->len; i++) {
		const struct spec_object *o = specs->objects->pdata[i];
		for (guint m = 0; m < o->methods->len; m++)
			any |= spec_method_at(o, m)->binds->len > 0;
	}
	return any;
}

bool interposer_binds(const GPtrArray *files, bool *binds, struct error *error)
{
	struct specs *specs = specs_new();
	bool ok = load_all(specs, files, error);
	*binds = has_binds(specs);
	specs_free(specs);
	return ok;
}

bool interposer_of(const GPtrArray *files, const char *program, char **library,
                   struct error *error)
{
	g_autofree char *path = NULL;
	bool instrumented, clang_name;
	*library = NULL;
	if (files == NULL || files->len == 0)
		return true;
	if (!record_check_program(program, &path, &instrumented, &clang_name, error))
		return false;
	struct specs *specs = specs_new();
	bool ok = load_all(specs, files, error);
	/* Specifications of missing code only need no library. */
	if (ok && (has_binds(specs) || specs->missing->len == 0)) {
		*library = interposer_build(specs, path, error);
		ok = *library != NULL;
	}
	specs_free(specs);
	return ok;
}

/* Is the function in the program, with an entry that can be bound, or named there as a
 * library's? */
static bool has_function(struct program *p, const char *function)
{
	uint64_t address = 0;
	struct error error;

	return program_entry(p, function, &address, &error) &&
	       (address != 0 || program_names(p, function));
}

/* All bind lines (struct spec_bind, borrowed); the caller frees the list. */
static GPtrArray *all_binds(const struct specs *specs)
{
	GPtrArray *all = g_ptr_array_new();
	for (guint i = 0; i < specs->objects->len; i++) {
		const struct spec_object *o = specs->objects->pdata[i];
		for (guint m = 0; m < o->methods->len; m++) {
			const GPtrArray *binds = spec_method_at(o, m)->binds;
			for (guint k = 0; k < binds->len; k++)
				g_ptr_array_add(all, binds->pdata[k]);
		}
	}
	return all;
}

static bool any_function(const struct specs *specs, struct program *p)
{
	g_autoptr(GPtrArray) binds = all_binds(specs);
	bool any = false;
	for (guint i = 0; i < binds->len && !any; i++) {
		const struct spec_bind *b = binds->pdata[i];
		any = has_function(p, b->function);
	}
	return any;
}

static bool binds_twice(const struct specs *specs)
{
	g_autoptr(GPtrArray) binds = all_binds(specs);
	g_autoptr(GHashTable) functions = g_hash_table_new(g_str_hash, g_str_equal);
	bool twice = false;
	for (guint i = 0; i < binds->len; i++) {
		const struct spec_bind *b = binds->pdata[i];
		twice |= !g_hash_table_add(functions, b->function);
	}
	return twice;
}

enum truth interposer_fits(const GPtrArray *others, const char *file, const char *program,
                           struct error *error)
{
	struct specs *specs = specs_new(), *together = specs_new();
	struct error unimportant;
	struct program *p = program_open(program, &unimportant);
	enum truth fits = TRUTH_NO;

	if (!specs_load(specs, file, error))
		fits = TRUTH_UNKNOWN;
	else if (p != NULL && any_function(specs, p) &&
	         load_all(together, others, &unimportant) &&
	         specs_load(together, file, &unimportant) && !binds_twice(together))
		fits = TRUTH_YES; /* a file that names an object again is refused */
	program_close(p);
	specs_free(specs);
	specs_free(together);
	return fits;
}

void interposer_remove(char *library)
{
	if (library != NULL)
		unlink(library);
	g_free(library);
}
