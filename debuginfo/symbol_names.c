/*
 * symbol_names.c - symbols as people write them: `P::go` for _ZN1P2goEv, `work` for
 * work.isra.0, `main::omp` for main._omp_fn.0.
 *
 * Runs in the child process that reads a module (guard.c): a short mangled name may expand to
 * gigabytes, and the library's demangler writes them, or goes on after it has run out of
 * memory. So memory is bounded, and time: one name that takes too long ends the process.
 */
#include "debuginfo/private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	LONGEST_MANGLED = 2000, /* bytes */
	LONGEST_SHOWN = 20000,
	MOST_MEMORY = 32 << 20, /* bytes, in addition to the present use */
	MOST_SECONDS = 1,       /* of processor time; twice that for a name */
};

/* AddressSanitizer's allocator reports a fault where malloc would return NULL; there the bound
 * on time alone ends a name. */
#ifdef __SANITIZE_ADDRESS__
enum { BOUNDS_MEMORY = 0 };
#else
enum { BOUNDS_MEMORY = 1 };
#endif

/* libstdc++'s demangler, by the common C++ ABI: the name in memory of malloc, or NULL. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* The parenthesis that belongs to the closing one at `end`; NULL: none. */
static char *opening(char *text, char *end)
{
	int depth = 0;

	for (char *c = end; c >= text; c--) {
		depth += *c == ')' ? 1 : *c == '(' ? -1 : 0;
		if (depth == 0)
			return c;
	}
	return NULL;
}

/* "f(int) const" becomes "f"; true when the name had parameters. */
static bool cut_parameters(char *text)
{
	static const char *const after[] = { " const", " volatile", " &", " &&" };
	bool cut = true;

	while (cut) {
		cut = false;
		for (size_t i = 0; i < G_N_ELEMENTS(after); i++) {
			if (!g_str_has_suffix(text, after[i]))
				continue;
			text[strlen(text) - strlen(after[i])] = '\0';
			cut = true;
		}
	}
	size_t length = strlen(text);
	char *open =
	        length > 0 && text[length - 1] == ')' ? opening(text, text + length - 1) : NULL;
	if (open == NULL || open == text)
		return false;
	*open = '\0';
	return true;
}

/* The type that a template's function returns comes before its name: "void f<int>". */
static const char *without_result(const char *text)
{
	const char *name = text, *stop = strstr(text, "operator");
	int depth = 0;

	for (const char *c = text; *c && c != stop; c++) {
		depth += strchr("<({", *c) ? 1 : strchr(">)}", *c) ? -1 : 0;
		if (*c == ' ' && depth == 0)
			name = c + 1;
	}
	return name;
}

/* Appends a name without the parts inside of it: parameters of the functions around it,
 * "main(int)::x"; parameters of lambdas, "{lambda(int)#1}"; ABI tags, "[abi:cxx11]". */
static void append_scopes(GString *out, const char *text)
{
	static const char unnamed[] = "(anonymous namespace)";

	while (*text) {
		size_t length = strcspn(text, "({[");
		g_string_append_len(out, text, (gssize)length);
		text += length;
		if (g_str_has_prefix(text, unnamed)) {
			g_string_append(out, unnamed);
			text += strlen(unnamed);
		} else if (g_str_has_prefix(text, "()") &&
		           g_str_has_suffix(out->str, "operator")) {
			g_string_append(out, "()");
			text += 2;
		} else if (*text == '(') {
			int depth = 0;
			do
				depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
			while (*text++ && depth > 0 && *text);
			text += strncmp(text, " const::", 8) == 0 ? 6 : 0;
		} else if (g_str_has_prefix(text, "{lambda(")) {
			g_string_append(out, "lambda");
			text += strcspn(text, "}");
			text += *text != '\0';
		} else if (g_str_has_prefix(text, "[abi:")) {
			text += strcspn(text, "]");
			text += *text != '\0';
		} else if (*text) {
			g_string_append_c(out, *text++);
		}
	}
}

static void append_demangled(GString *out, const char *mangled)
{
	int status = -1;
	char *text =
	        mangled[0] == '_' && mangled[1] == 'Z' && strlen(mangled) <= LONGEST_MANGLED
	                ? __cxa_demangle(mangled, NULL, NULL, &status)
	                : NULL;

	if (text == NULL || strlen(text) > LONGEST_SHOWN) {
		free(text);
		g_string_append(out, mangled);
		return;
	}
	append_scopes(out, cut_parameters(text) ? without_result(text) : text);
	free(text);
}

/* Suffixes that the compiler adds begin with a dot: ".isra.0", ".part.0", ".cold",
 * "._omp_fn.1". */
const char *debuginfo_shown(struct debuginfo *d, const char *symbol)
{
	static const char *const regions[] = { "._omp_fn", ".omp_outlined" };
	const char *dot = symbol[0] ? strchr(symbol + 1, '.') : NULL, *region = NULL;
	bool mangled = symbol[0] == '_' && symbol[1] == 'Z';

	if (symbol[0] == '.' || (dot == NULL && !mangled))
		return symbol;
	for (size_t i = 0; dot != NULL && i < G_N_ELEMENTS(regions) && region == NULL; i++) {
		region = strstr(dot, regions[i]);
		region = region ? region + strlen(regions[i]) : NULL;
	}
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *base =
	        dot ? g_strndup(symbol, (gsize)(dot - symbol)) : g_strdup(symbol);
	append_demangled(out, base);
	if (region != NULL) {
		int number = *region == '.' ? atoi(region + 1) : 0;

		g_string_append(out, "::omp");
		if (number > 0)
			g_string_append_printf(out, "#%d", number + 1);
	}
	return debuginfo_intern(d, out->str);
}

static void show_all(struct debuginfo *d, GArray *symbols, GHashTable *described, clock_t end)
{
	for (guint i = 0; i < symbols->len; i++) {
		struct elf_symbol *s = AT(symbols, struct elf_symbol, i);

		if (clock() < end && !g_hash_table_contains(described, &s->address))
			s->shown = debuginfo_shown(d, s->name);
	}
}

/* The soft limits of address space and time, lowered to the present use and a reserve. */
static void limit(struct rlimit *memory, struct rlimit *time)
{
	g_autofree char *text = NULL;

	getrlimit(RLIMIT_AS, memory);
	getrlimit(RLIMIT_CPU, time);
	if (BOUNDS_MEMORY && g_file_get_contents("/proc/self/statm", &text, NULL, NULL)) {
		rlim_t most =
		        strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + MOST_MEMORY;
		struct rlimit now = { MIN(most, memory->rlim_cur), memory->rlim_max };

		setrlimit(RLIMIT_AS, &now);
	}
	rlim_t seconds = (rlim_t)(clock() / CLOCKS_PER_SEC) + 2 * MOST_SECONDS;
	struct rlimit now = { MIN(seconds, time->rlim_cur), time->rlim_max };
	setrlimit(RLIMIT_CPU, &now);
}

void debuginfo_show_symbols(struct debuginfo *d)
{
	struct rlimit memory, time;
	g_autoptr(GHashTable) described = g_hash_table_new(g_int64_hash, g_int64_equal);
	clock_t end = clock() + MOST_SECONDS * CLOCKS_PER_SEC;

	for (guint i = 0; i < d->functions->len; i++) {
		struct debug_function *f = &AT(d->functions, struct function_record, i)->public;

		if (f->low != 0)
			g_hash_table_add(described, &f->low);
	}
	limit(&memory, &time);
	show_all(d, d->code_symbols, described, end);
	g_hash_table_remove_all(described);
	show_all(d, d->data_symbols, described, end);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CPU, &time);
}
