/*
 * prop_dead.c - random programs with atomics and locks, compiled in several ways: registers and
 * stack bytes that are said to be dead (debuginfo/dead.h) may hold any value. Each program runs
 * twice, the second time with random bytes there (tests/e2e/programs/scramble.c), and must do
 * the same. HEDDLE_TRACES sets the number of programs, HEDDLE_SEED the first seed.
 */
#include "debuginfo/dead.h"
#include "tests/property/mix.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 10, LOCALS = 6, DEPTH = 3 };

static const char *folder; /* of the program */

struct making {
	GRand *random;
	GString *text;
	bool cpp;
	uint32_t function; /* functions before it may be called */
	uint32_t limits;
};

static uint32_t below(struct making *m, uint32_t n)
{
	return (uint32_t)g_rand_int_range(m->random, 0, (gint32)n);
}

static char *expression(struct making *m, int depth)
{
	static const char *const operators[] = { "+", "-", "*", "^", "&", "|", "%", "<" };
	if (depth == 0 || below(m, 4) == 0)
		return below(m, 3) == 0 ? g_strdup_printf("%uu", below(m, 50))
		                        : g_strdup_printf("v%u", below(m, LOCALS));
	g_autofree char *a = expression(m, depth - 1), *b = expression(m, depth - 1);
	const char *with = operators[below(m, G_N_ELEMENTS(operators))];
	if (with[0] == '%')
		return g_strdup_printf("(%s %% (%s | 1u))", a, b);
	return g_strdup_printf("(%s %s %s)", a, with, b);
}

static void statements(struct making *m, int depth, uint32_t most);

static void compare_loop(struct making *m)
{
	uint32_t g = below(m, 4), v = below(m, LOCALS), e = below(m, 2);
	const char *type = g == 2 ? "b" : g == 3 ? "w" : "e";
	g_autofree char *made = expression(m, 2), *until = expression(m, 1);
	GString *s = m->text;
	switch (below(m, 5)) {
	case 0:
		g_string_append_printf(
		        s, "%s%u = LOAD(g%u); while (!CAS(g%u, %s%u, %s + %s%u)) ;\n", type, e,
		        g, g, type, e, made, type, e);
		break;
	case 1:
		g_string_append_printf(s,
		                       "do { %s%u = LOAD(g%u); v%u = %s; } "
		                       "while (!CAS(g%u, %s%u, v%u));\n",
		                       type, e, g, v, made, g, type, e, v);
		break;
	case 2:
		g_string_append_printf(s,
		                       "for (;;) { %s%u = LOAD(g%u); if (%s%u == (%s)) break; "
		                       "if (CAS(g%u, %s%u, v%u)) { v%u = %s; break; } }\n",
		                       type, e, g, type, e, until, g, type, e, v, v, made);
		break;
	case 3:
		g_string_append_printf(
		        s,
		        "%s%u = %s; while (!CAS(g%u, %s%u, 42)) "
		        "if (LOAD(g%u) != 0) { v%u = (unsigned)%s%u; %s%u = %s; }\n",
		        type, e, until, g, type, e, (g + 1) % 4, v, type, e, type, e, made);
		break;
	default:
		g_string_append_printf(s,
		                       "do { v%u = LOAD(g%u); } while ((v%u & 3) == %u && "
		                       "--v%u %% 7 != 0);\n",
		                       v, g, v, below(m, 4), (v + 1) % LOCALS);
		break;
	}
}

static void tries(struct making *m)
{
	uint32_t v = below(m, LOCALS), w = below(m, LOCALS), own = below(m, 4) == 0;
	const char *lock = own ? "own" : "m0";
	g_autofree char *made = expression(m, 2);
	switch (below(m, 4)) {
	case 0:
		g_string_append_printf(m->text, "v%u = (unsigned)TRY(%s);\n", v, lock);
		break;
	case 1:
		g_string_append_printf(m->text,
		                       "for (;;) { LOCK(m1); v%u = (unsigned)TRY(%s); "
		                       "if (v%u == 0) break; UNLOCK(m1); }\n",
		                       v, lock, v);
		break;
	case 2:
		g_string_append_printf(m->text,
		                       "while ((v%u = (unsigned)TRY(%s)) != 0) v%u = %s;\n", v,
		                       lock, w, made);
		break;
	default:
		g_string_append_printf(m->text, "LOCK(%s); v%u = %s; UNLOCK(%s);\n", lock, v,
		                       made, lock);
		break;
	}
}

static void choice(struct making *m, int depth)
{
	g_autofree char *on = expression(m, 2);
	if (below(m, 3) == 0) {
		g_string_append_printf(m->text, "switch (%s & 7) {\n", on);
		for (unsigned k = 0; k < 6; k++) {
			g_string_append_printf(m->text, "case %u:\n", k);
			statements(m, depth - 1, 2);
			g_string_append(m->text, below(m, 4) ? "break;\n" : "/* on */\n");
		}
		g_string_append(m->text, "default: ;\n}\n");
		return;
	}
	g_string_append_printf(m->text, "if (%s & 1) {\n", on);
	statements(m, depth - 1, 3);
	g_string_append(m->text, "} else {\n");
	statements(m, depth - 1, 3);
	g_string_append(m->text, "}\n");
}

static void call(struct making *m)
{
	uint32_t v = below(m, LOCALS);
	g_autofree char *a = expression(m, 1), *b = expression(m, 1);
	switch (below(m, 5)) {
	case 3: /* an address that comes back from elsewhere */
		g_string_append_printf(
		        m->text,
		        "{ unsigned *q = pass(&v%u); v%u += (unsigned)LOAD(g%u); "
		        "v%u = *q + %s; }\n",
		        v, (v + 1) % LOCALS, below(m, 4), v, a);
		break;
	case 0:
		g_string_append_printf(m->text, "v%u = away(&v%u);\n", v, below(m, LOCALS));
		break;
	case 1:
		g_string_append_printf(m->text,
		                       "v%u = (unsigned)((double)v%u * 1.25) + many(%s, "
		                       "2, 3, %s, 5, 6, v%u, v0);\n",
		                       v, below(m, LOCALS), a, b, v);
		break;
	case 2:
		if (m->cpp)
			g_string_append_printf(m->text,
			                       "try { v%u = throws(%s); } catch (int i) "
			                       "{ v%u += (unsigned)i; }\n",
			                       v, a, v);
		break;
	default:
		if (m->function > 0)
			g_string_append_printf(m->text, "v%u = f%u(%s, %s);\n", v,
			                       below(m, m->function), a, b);
		break;
	}
}

static void statement(struct making *m, int depth)
{
	uint32_t v = below(m, LOCALS), g = below(m, 4);
	g_autofree char *x = expression(m, 2), *y = expression(m, 1);
	if (below(m, 8) == 0) {
		tries(m);
		return;
	}
	switch (below(m, depth > 0 ? 12 : 9)) {
	case 0:
		g_string_append_printf(m->text, "v%u = (unsigned)LOAD(g%u);\n", v, g);
		break;
	case 1:
		g_string_append_printf(
		        m->text, "v%u = (unsigned)__atomic_fetch_add(&g%u, %s, 5);\n", v, g, x);
		break;
	case 2:
		g_string_append_printf(m->text, "__atomic_store_n(&g%u, %s, 5);\n", g, x);
		break;
	case 3:
		g_string_append_printf(m->text, "v%u = %s;\n", v, x);
		break;
	case 4:
		g_string_append_printf(m->text, "a[%s & 3] = %s; v%u = a[v%u & 3];\n", y, x, v,
		                       below(m, LOCALS));
		break;
	case 5:
		if (below(m, 2) == 0)
			call(m);
		break;
	case 6:
	case 7:
	case 8:
		compare_loop(m);
		break;
	case 9:
		g_string_append_printf(m->text, "for (unsigned i%u = 0; i%u < %u; i%u++) {\n",
		                       m->limits, m->limits, 1 + below(m, 3), m->limits);
		m->limits++;
		statements(m, depth - 1, 3);
		g_string_append(m->text, "}\n");
		break;
	default:
		choice(m, depth);
		break;
	}
}

static void statements(struct making *m, int depth, uint32_t most)
{
	for (uint32_t k = 1 + below(m, most); k > 0; k--)
		statement(m, depth);
}

static char *make_program(struct making *m)
{
	m->text = g_string_new(
	        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	        "#define LOCK(l) pthread_mutex_lock(&l)\n#define TRY(l) pthread_mutex_trylock(&l)\n"
	        "#define UNLOCK(l) pthread_mutex_unlock(&l)\n"
	        "pthread_mutex_t m0, m1;\n"
	        "#define LOAD(g) __atomic_load_n(&g, 5)\n"
	        "#define CAS(g, e, v) __atomic_compare_exchange_n(&g, &e, v, 0, 5, 5)\n"
	        "#define APART __attribute__((noipa))\n"
	        "unsigned g0 = 1, g1 = 2; unsigned char g2 = 3; unsigned long g3 = 4;\n"
	        "APART unsigned away(unsigned *p) { return *p += 3; }\n"
	        "APART unsigned *pass(unsigned *p) { return p; }\n"
	        "APART unsigned many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, "
	        "unsigned f, unsigned g, unsigned h) { return a + b * c + d - e + f * g + h; }\n");
	if (m->cpp)
		g_string_append(m->text, "APART unsigned throws(unsigned a) "
		                         "{ if (a & 1) throw (int)a; return a / 2; }\n");
	for (m->function = 0; m->function < FUNCTIONS; m->function++) {
		g_string_append_printf(
		        m->text,
		        "%sunsigned f%u(unsigned v0, unsigned v1) {\n"
		        "unsigned v2 = v0 + 1, v3 = v1 * 3, v4 = 7, v5 = v0 ^ v1;\n"
		        "unsigned e0 = 0, e1 = 1; unsigned char b0 = 0, b1 = 1; "
		        "unsigned long w0 = 0, w1 = 1; unsigned a[4] = { 1, 2, 3, 4 "
		        "}; pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;\n",
		        below(m, 3) ? "__attribute__((noinline)) " : "static ", m->function);
		statements(m, below(m, DEPTH + 1), 6);
		g_string_append(m->text,
		                "return v0 + v1 + v2 + v3 + v4 + v5 + e0 + e1 + b0 + b1 + "
		                "(unsigned)w0 + (unsigned)w1 + a[v0 & 3];\n}\n");
	}
	g_string_append(m->text, "int main(void) {\nunsigned sum = 0;\n");
	for (unsigned k = 0; k < FUNCTIONS; k++)
		for (unsigned n = 0; n < 3; n++)
			g_string_append_printf(m->text,
			                       "sum += f%u(%u, sum); printf(\"%%u\\n\", "
			                       "sum);\n",
			                       k, n);
	g_string_append(m->text, "return 0;\n}\n");
	return g_string_free(m->text, FALSE);
}

static bool run(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *command = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	return system(command) == 0;
}

static char *contents(const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	char *text = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		text = g_strdup("");
	return text;
}

static void write_sites(const GArray *sites)
{
	g_autofree char *path = g_build_filename(folder, "sites", NULL);
	FILE *f = fopen(path, "w");
	for (guint i = 0; f != NULL && i < sites->len; i++) {
		const struct dead_site *s = &g_array_index(sites, struct dead_site, i);
		fprintf(f, "%lx %x %u", (unsigned long)s->address, s->registers, s->count);
		for (unsigned k = 0; k < s->count; k++)
			fprintf(f, " %u %u", s->range[k].from, s->range[k].bytes);
		fputc('\n', f);
	}
	if (f != NULL)
		fclose(f);
}

static uint64_t registers_in_all, bytes_in_all;

/* Compile it; false: it cannot be. */
static bool compile(struct making *m, const char **flags, const char **more)
{
	static const char *const optimisations[] = { "-O0", "-O1", "-O2", "-O3", "-Os" };
	static const char *const others[] = { "", "-fno-omit-frame-pointer",
		                              "-fno-plt -fcf-protection",
		                              "-fno-pie -fstack-protector-all" };
	m->cpp = below(m, 4) == 0;
	*flags = optimisations[below(m, G_N_ELEMENTS(optimisations))];
	*more = others[below(m, G_N_ELEMENTS(others))];
	g_autofree char *text = make_program(m);
	g_autofree char *source = g_build_filename(folder, m->cpp ? "p.cc" : "p.c", NULL);
	const char *compiler = m->cpp ? "g++" : "gcc";
	return g_file_set_contents(source, text, -1, NULL) &&
	       run("cd %s && %s -fsanitize=thread %s %s -w -c %s -o p.o && %s %s p.o ./hooks.so "
	           "-Wl,-rpath,%s -o p",
	           folder, compiler, *flags, *more, source, compiler,
	           strstr(*more, "-fno-pie") ? "-no-pie" : "", folder);
}

static bool check_program(uint64_t seed)
{
	struct making m = { .random = g_rand_new_with_seed((guint32)seed) };
	const char *flags, *more;
	bool compiled = compile(&m, &flags, &more);
	g_autofree char *program = g_build_filename(folder, "p", NULL);
	g_rand_free(m.random);
	if (!compiled) {
		fprintf(stderr, "seed %" PRIu64 ": not compiled\n", seed);
		return false;
	}
	GArray *sites = debuginfo_dead(program);
	write_sites(sites);
	g_array_free(sites, TRUE);
	bool ran = run("cd %s && ./p >one 2>/dev/null; SCRAMBLE=sites timeout 120 ./p >two "
	               "2>wrote; true",
	               folder);
	g_autofree char *one = contents("one"), *two = contents("two"),
	                *wrote = contents("wrote");
	uint64_t registers = 0, bytes = 0;
	bool same = ran && one[0] != '\0' && strcmp(one, two) == 0 &&
	            sscanf(wrote, "%" SCNu64 " %" SCNu64, &registers, &bytes) == 2;
	registers_in_all += registers;
	bytes_in_all += bytes;
	if (!same)
		fprintf(stderr,
		        "seed %" PRIu64 " (%s %s%s): what is said to be dead is looked at\n",
		        seed, flags, more, m.cpp ? ", C++" : "");
	return same;
}

int main(int argc, char **argv)
{
	g_autofree char *made = g_dir_make_tmp("heddle-dead-XXXXXX", NULL);
	folder = made;
	if (made == NULL || !run("gcc -O1 -w -shared -fPIC tests/e2e/programs/scramble.c "
	                         "-o %s/hooks.so",
	                         made))
		return 1;
	int status = mix_main(argc, argv, "prop_dead", 10, check_program);
	if (status == 0 || getenv("HEDDLE_KEEP") == NULL)
		run("rm -r %s", made);
	printf("rubbish in %" PRIu64 " registers and %" PRIu64 " bytes\n", registers_in_all,
	       bytes_in_all);
	return status != 0 || registers_in_all == 0 || bytes_in_all == 0;
}
