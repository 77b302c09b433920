/*
 * screen_page.c - `:export NAME.html`: the page is well-formed, needs no network, has the
 * witness as steps with what the engine says of each, and names from a hostile trace are text
 * in it.
 */
#include "engine/witness/witness.h"
#include "tests/support/tui.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const char hostile[] = "#! heddle 1\n"
                              "main|fork(T1)|s.c:1\n"
                              "main|fork(T2)|s.c:2\n"
                              "T1|acq(m)|s.c:10\n"
                              "T1|w(\"</td><script>alert(1)</script>&'x\")=1|s.c:11\n"
                              "T1|rel(m)|s.c:12\n"
                              "T2|acq(m)|s.c:20\n"
                              "T2|w(n)=1|s.c:21\n"
                              "T2|rel(m)|s.c:22\n"
                              "T2|r(\"</td><script>alert(1)</script>&'x\")=1|s.c:23\n"
                              "T2|w(quiet)=1|s.c:24\n";
static const char plain[] = "#! heddle 1\n"
                            "main|fork(T1)|s.c:1\n"
                            "main|fork(T2)|s.c:2\n"
                            "T1|acq(m)|s.c:10\n"
                            "T1|w(total)=1|s.c:11\n"
                            "T1|rel(m)|s.c:12\n"
                            "T2|acq(m)|s.c:20\n"
                            "T2|w(n)=1|s.c:21\n"
                            "T2|rel(m)|s.c:22\n"
                            "T2|r(total)=1|s.c:23\n";

/* What a reader of the page sees of its structure. */
struct page {
	guint scripts, steps, recorded, sections;
	GPtrArray *what; /* char *, owned: data-what of each step */
	GArray *events;  /* uint32_t: of the steps */
	GArray *was;     /* uint32_t: of the recorded order beside them */
	GString *text;   /* contents outside of script and style */
	guint silent;    /* depth inside of script or style */
	bool outward;    /* an attribute that would load or lead elsewhere */
	char *policy;    /* owned */
};

static void begin(GMarkupParseContext *context, const char *name, const char **names,
                  const char **values, void *data, GError **error)
{
	struct page *p = data;
	const char *class = "";
	bool handler = false;
	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], "class") == 0)
			class = values[i];
		if (strcmp(names[i], "src") == 0 || strcmp(names[i], "xlink:href") == 0 ||
		    (strcmp(names[i], "href") == 0 && *values[i] != '#'))
			p->outward = true;
		handler |= g_str_has_prefix(names[i], "on");
		if (strcmp(names[i], "content") == 0 && strstr(values[i], "default-src"))
			p->policy = g_strdup(values[i]);
	}
	ck_assert(!handler);
	p->scripts += strcmp(name, "script") == 0;
	p->silent += strcmp(name, "script") == 0 || strcmp(name, "style") == 0;
	p->sections += strcmp(name, "section") == 0;
	bool recorded = strcmp(name, "tr") == 0 && g_str_has_prefix(class, "was");
	p->recorded += recorded;
	for (int i = 0; recorded && names[i]; i++)
		if (strcmp(names[i], "data-event") == 0) {
			uint32_t event = (uint32_t)g_ascii_strtoull(values[i], NULL, 10);
			g_array_append_val(p->was, event);
		}
	if (strcmp(name, "tr") != 0 || !g_str_has_prefix(class, "step"))
		return;
	p->steps++;
	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], "data-what") == 0)
			g_ptr_array_add(p->what, g_strdup(values[i]));
		if (strcmp(names[i], "data-event") == 0) {
			uint32_t event = (uint32_t)g_ascii_strtoull(values[i], NULL, 10);
			g_array_append_val(p->events, event);
		}
	}
}

static void end(GMarkupParseContext *context, const char *name, void *data, GError **error)
{
	struct page *p = data;
	p->silent -= strcmp(name, "script") == 0 || strcmp(name, "style") == 0;
}

static void text(GMarkupParseContext *context, const char *text, gsize length, void *data,
                 GError **error)
{
	struct page *p = data;
	if (p->silent == 0)
		g_string_append_len(p->text, text, (gssize)length);
}

static struct page read_page(struct app *app, const char *before)
{
	static const GMarkupParser parser = { begin, end, text, NULL, NULL };
	struct page p = { .text = g_string_new(NULL) };
	char *path = g_strdup_printf("%s/heddle-page-%d.html", g_get_tmp_dir(), (int)getpid());
	char *line = g_strdup_printf("export %s", path), *contents;
	gsize length;
	GError *error = NULL;
	p.what = g_ptr_array_new_with_free_func(g_free);
	p.events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	p.was = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_remove(path);
	tui_keys(app, before);
	tui_command(app, line);
	ck_assert(g_file_get_contents(path, &contents, &length, NULL));
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &p, NULL);
	bool good = g_markup_parse_context_parse(context, contents, (gssize)length, &error) &&
	            g_markup_parse_context_end_parse(context, &error);
	ck_assert_msg(good, "%s", error ? error->message : "");
	g_markup_parse_context_free(context);
	g_remove(path);
	g_free(contents);
	g_free(line);
	g_free(path);
	return p;
}

static void page_release(struct page *p)
{
	g_ptr_array_unref(p->what);
	g_array_unref(p->events);
	g_array_unref(p->was);
	g_string_free(p->text, TRUE);
	g_free(p->policy);
}

/* The steps are the engine's witness, event by event, and say what the screen says. */
START_TEST(a_page_walks_the_witness)
{
	struct app *app = tui_open(plain, &(struct tui_options){ .analyse = true });
	const GArray *witness = session_selected(app->session)->finding->witness;
	struct page p = read_page(app, "w");
	ck_assert_uint_eq(p.scripts, 1);
	ck_assert(!p.outward);
	ck_assert_uint_eq(p.steps, witness->len);
	ck_assert_uint_eq(p.recorded, witness->len);
	ck_assert_int_eq(memcmp(p.events->data, witness->data, witness->len * sizeof(uint32_t)),
	                 0);
	ck_assert_str_eq(p.what->pdata[0], "main: create T1");
	const char *last = p.what->pdata[p.what->len - 1];
	ck_assert_msg(strcmp(last, "T2 is about to do: total reads 1") == 0, "%s", last);
	ck_assert(strstr(p.text->str, "T2 can read total while T1 is about to write it"));
	ck_assert(p.policy && strstr(p.policy, "default-src 'none'") &&
	          strstr(p.policy, "script-src 'sha256-") && !strstr(p.policy, "unsafe"));
	page_release(&p);
	tui_close(app);
}
END_TEST

static int by_number(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Of a long witness the last steps are shown, and beside them these same events as recorded. */
START_TEST(a_long_witness_is_cut_on_both_sides)
{
	GString *trace = g_string_new("#! heddle 1\nmain|fork(T1)|s.c:1\nmain|fork(T2)|s.c:2\n"
	                              "T1|acq(m)|s.c:3\n");
	for (int i = 0; i < 1700; i++)
		g_string_append(trace, "T1|w(a)=1|s.c:4\n");
	g_string_append(trace, "T1|w(x)=1|s.c:5\nT1|rel(m)|s.c:6\nT2|acq(m)|s.c:7\n"
	                       "T2|w(b)=1|s.c:8\nT2|rel(m)|s.c:9\nT2|w(x)=2|s.c:10\n");
	struct app *app = tui_open(trace->str, &(struct tui_options){ .analyse = true });
	guint all = session_selected(app->session)->finding->witness->len;
	struct page p = read_page(app, "w");
	ck_assert_uint_gt(all, 1700);
	ck_assert_uint_eq(p.steps, 1500);
	ck_assert_uint_eq(p.recorded, 1500);
	g_array_sort(p.events, by_number);
	ck_assert_int_eq(memcmp(p.events->data, p.was->data, 1500 * sizeof(uint32_t)), 0);
	page_release(&p);
	tui_close(app);
	g_string_free(trace, TRUE);
}
END_TEST

START_TEST(a_report_has_all_findings)
{
	struct app *app = tui_open(plain, &(struct tui_options){ .analyse = true });
	struct page p = read_page(app, "F");
	ck_assert_uint_eq(p.sections, app->session->entries->len);
	ck_assert(strstr(p.text->str, "1 can happen"));
	page_release(&p);
	tui_close(app);
}
END_TEST

START_TEST(hostile_names_are_text)
{
	struct app *app = tui_open(hostile, &(struct tui_options){ .analyse = true });
	tui_command(app, "just-my-code off"); /* which would fold what is in angle brackets */
	struct page p = read_page(app, "F");
	ck_assert_uint_eq(p.scripts, 1);
	ck_assert(!p.outward);
	ck_assert_msg(strstr(p.text->str, "<script>alert(1)</script>") != NULL, "%s",
	              p.text->str);
	page_release(&p);
	tui_close(app);
}
END_TEST

START_TEST(a_proof_stands_on_its_page)
{
	struct app *app = tui_open("#! heddle 1\n"
	                           "T1|acq(m)|s.c:1\nT1|w(x)=1|s.c:2\nT1|rel(m)|s.c:3\n"
	                           "T2|acq(m)|s.c:4\nT2|w(x)=2|s.c:5\nT2|rel(m)|s.c:6\n",
	                           &(struct tui_options){ .analyse = true });
	tui_command(app, "pair 1 4");
	struct page p = read_page(app, "F");
	ck_assert_uint_eq(p.steps, 0);
	ck_assert(strstr(p.text->str, "one holder"));
	page_release(&p);
	tui_close(app);
}
END_TEST

/* The outcomes as in the explorer, failures first, then all runs. */
START_TEST(an_exploration_begins_with_its_outcomes)
{
	struct app *app = tui_open(plain, NULL);
	tui_command(app, "exploration tests/screen/source/outcomes.tree");
	struct page p = read_page(app, "X");
	static const char *const first[] = { "✗ signal 6", "✗ deadlock", "⇄ data race",
		                             "✓ prints", "✓ prints" };
	ck_assert_uint_gt(p.what->len, G_N_ELEMENTS(first));
	ck_assert_uint_eq(p.steps, p.what->len);
	for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
		ck_assert_str_eq(p.what->pdata[i], first[i]);
	const char *outcomes = strstr(p.text->str, "5 outcomes of 8 different runs");
	const char *runs = strstr(p.text->str, "All runs as a tree");
	ck_assert(outcomes && runs && outcomes < runs);
	ck_assert(strstr(p.text->str, "about 12 different runs are left"));
	ck_assert(!p.outward);
	page_release(&p);
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page");
	TCase *c = tcase_create("page");
	tcase_add_test(c, a_page_walks_the_witness);
	tcase_add_test(c, a_long_witness_is_cut_on_both_sides);
	tcase_add_test(c, a_report_has_all_findings);
	tcase_add_test(c, hostile_names_are_text);
	tcase_add_test(c, a_proof_stands_on_its_page);
	tcase_add_test(c, an_exploration_begins_with_its_outcomes);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
