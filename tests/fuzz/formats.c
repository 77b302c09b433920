/* formats.c - see fuzz.h: what reads each format in this process, and the table. */
#include "tests/fuzz/fuzz.h"

#include "debuginfo/private.h"
#include "engine/commute/language/spec.h"
#include "engine/explore/checkpoint.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/record/record.h"
#include "engine/trace/formats.h"
#include "engine/witness/witness.h"
#include "tests/property/mix.h"
#include "tests/support/consume.h"
#include "tests/support/mutate.h"
#include "tests/support/random_log.h"
#include "tui/batch/reports/report_file.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/exploration/tree.h"
#include "tui/lesson/lesson.h"

#include <string.h>
#include <zstd.h>

static void refused(const struct error *e)
{
	BUG_ON(*e->what == '\0');
	BUG_ON(!g_utf8_validate(e->what, -1, NULL));
}

/* ---- traces ---- */

/* All analyses, where the trace is small: they may say anything, but end and stay in bounds. */
static void analyse(struct trace *t)
{
	struct race_options o;
	struct error e = { .what = "" };

	if (t->events_count > 150 || t->threads_count > 40)
		return;
	race_options_init(&o);
	o.all_verdicts = true;
	o.budget_pair = o.budget_total = 0.05;
	o.pairs_events = mutate_below(2);
	o.use_missing = mutate_below(3) == 0;
	o.use_values = !o.use_missing && mutate_below(3) == 0;
	o.analysis = mutate_below(ANALYSIS_COUNT);
	struct report *r =
	        mutate_below(4) ? races_find(t, &o, NULL, &e) : deadlocks_find(t, &o, NULL, &e);
	if (r == NULL)
		refused(&e);
	else
		report_free(r);
}

static void read_text(const char *path, const GString *s)
{
	(void)path;
	for (int lenient = 0; lenient < 2; lenient++) {
		struct trace_options options = { .lenient = lenient };
		struct error e = { .what = "" };
		struct trace *t = trace_from_text("fuzz.txt", s->str, s->len, &options, &e);

		if (t == NULL) {
			refused(&e);
			continue;
		}
		consume_trace(t);
		if (!lenient)
			consume_again(t);
		analyse(t);
		trace_close(t);
	}
}

static void read_binary(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	struct trace *t = trace_open(path, NULL, NULL, &e);

	(void)s;
	if (t == NULL) {
		refused(&e);
		return;
	}
	consume_trace(t);
	analyse(t);
	trace_close(t);
}

static void read_log(const char *path, const GString *s)
{
	struct record_facts facts = { 0 };
	struct error e = { .what = "" };
	struct trace *t = record_import(path, "fuzz", &facts, NULL, &e);

	(void)s;
	if (t)
		consume_trace(t);
	else
		refused(&e);
	trace_close(t);
	record_facts_release(&facts);
}

/* ---- the other files ---- */

static void read_witness(const char *path, const GString *s)
{
	struct witness w = { 0 };
	struct error e = { .what = "" };

	(void)s;
	if (!witness_read(path, &w, &e))
		refused(&e);
	witness_release(&w);
}

static void read_spec(const char *path, const GString *s)
{
	struct specs *specs = specs_new();
	struct error e = { .what = "" };

	(void)path;
	if (!specs_parse(specs, "fuzz.spec", s->str, s->len, &e))
		refused(&e);
	specs_free(specs);
}

static void read_lesson(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	struct lesson *lesson = lesson_find(path, &e);

	(void)s;
	if (lesson == NULL)
		refused(&e);
	lesson_free(lesson);
}

static void read_report(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	struct report_file *r = report_file_is(path) ? report_file_open(path, &e) : NULL;

	(void)s;
	report_file_free(r);
}

static void read_tree(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	struct tree *tree = tree_open(path, &e);

	(void)s;
	if (tree == NULL)
		refused(&e);
	tree_free(tree);
}

static void read_reported(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	GArray *races = tool_report_read(path, &e);

	(void)s;
	if (races == NULL) {
		refused(&e);
		return;
	}
	tool_report_free(races);
}

static void read_elf(const char *path, const GString *s)
{
	struct error e = { .what = "" };
	struct debuginfo *d = debuginfo_open_here(path, &e);
	struct debug_place places[4];
	GString *name = g_string_new(NULL);

	(void)s;
	if (d == NULL)
		refused(&e);
	for (uint64_t a = 0x1000; d && a < 0x1800; a += 5)
		debuginfo_code(d, a, places, G_N_ELEMENTS(places));
	for (uint32_t v = 0; d && v < debuginfo_variable_count(d); v++) {
		const struct debug_variable *x = debuginfo_variable(d, v);
		debuginfo_data_name(d, x->address + 1, 4, name);
		debuginfo_part(d, x->type, 3, 2, name);
		debuginfo_type_name(d, x->type, name);
		g_string_truncate(name, 0);
	}
	for (uint32_t i = 0; d && i < debuginfo_type_count(d); i++) {
		debuginfo_size(d, i);
		debuginfo_strip(d, i);
		debuginfo_part(d, i, mutate_below(64), 1, name);
		g_string_truncate(name, 0);
	}
	g_string_free(name, TRUE);
	debuginfo_close(d);
}

/* ---- damage ---- */

static void damage_text(GString *s, const GString *other)
{
	mutate_text(s, mutate_pieces, other);
}

/* Half of the traces are random ones, with every operation that the property tests know. */
static void damage_trace(GString *s, const GString *other)
{
	if (mutate_below(2)) {
		struct random_options o = mix_options(mutate_random() >> 8, 2 + mutate_below(3),
		                                      8 + mutate_below(20));
		char *text = random_text(mutate_random(), &o);

		g_string_assign(s, text);
		g_free(text);
		if (mutate_below(4) == 0)
			return;
	}
	mutate_text(s, mutate_pieces, other);
}

static void damage_binary(GString *s, const GString *other)
{
	if (mutate_below(10) == 0)
		mutate_bytes(s, 0, false);
	else
		mutate_binary_trace(s);
}

static void damage_log_file(GString *s, const GString *other)
{
	GByteArray *log;

	if (mutate_below(2)) {
		log = random_log();
	} else {
		log = g_byte_array_new();
		g_byte_array_append(log, (const guint8 *)s->str, (guint)s->len);
	}
	damage_log(log);
	g_string_truncate(s, 0);
	g_string_append_len(s, (const char *)log->data, log->len);
	g_byte_array_free(log, TRUE);
}

static void damage_index(GString *s, const GString *other)
{
	mutate_index(s);
}

/* The archive in an exploration's state, below its compression and sum. */
static void damage_state(GString *s, const GString *other)
{
	struct checkpoint_header h;
	gsize length = sizeof h.sum;

	if (s->len < sizeof h || mutate_below(10) == 0) {
		mutate_bytes(s, 0, false);
		return;
	}
	memcpy(&h, s->str, sizeof h);
	size_t size = ZSTD_getFrameContentSize(s->str + sizeof h, s->len - sizeof h);
	GString *archive = g_string_sized_new(size + 1);
	g_string_set_size(archive, size);
	BUG_ON(ZSTD_decompress(archive->str, size, s->str + sizeof h, s->len - sizeof h) !=
	       size);
	mutate_bytes(archive, mutate_below(2) ? 0 : size / 2, mutate_below(2));
	g_string_set_size(s, sizeof h + ZSTD_compressBound(archive->len));
	h.length = ZSTD_compress(s->str + sizeof h, s->len - sizeof h, archive->str,
	                         archive->len, 1);
	g_string_set_size(s, sizeof h + h.length);
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_checksum_update(sum, (guchar *)s->str + sizeof h, (gssize)h.length);
	g_checksum_get_digest(sum, h.sum, &length);
	g_checksum_free(sum);
	memcpy(s->str, &h, sizeof h);
	g_string_free(archive, TRUE);
}

static void damage_elf(GString *s, const GString *other)
{
	mutate_elf(s);
}

/* ---- the table ---- */

#define COMMANDS(...) \
	(const char *const[]) \
	{ \
		__VA_ARGS__, NULL \
	}

const struct fuzz_format fuzz_formats[] = {
	{ "text", ".txt", damage_trace, read_text,
	  COMMANDS("info @", "info @ --format json", "races @ --format json --verdicts all",
	           "races @ --witness --analysis wcp --budget 0.1,0.5", "compare @",
	           "deadlocks @ --verdicts all", "atomic @ --predict --budget 0.1,0.5",
	           "atomic @ --sets", "commute @ --pairs events",
	           "commute @ --analysis cov --budget 0.1,0.5", "commute @ --analysis edc",
	           "convert @ out.hdl", "convert @ out.std", "filter @ -o out.txt", "graph @",
	           "graph @ --format svg", "explain @ 0 3 --story", "explain @ 1 4",
	           "witness @ 0 3 --budget 0.1,0.5", "races @ --lenient --format sarif",
	           "diff @ %bank.hdl --budget 0.1,0.5", "open @ --script %walk.script",
	           "races @ --missing --budget 0.1,0.5", "verify @ %bank.wit") },
	{ "binary", ".hdl", damage_binary, read_binary,
	  COMMANDS("info @", "races @ --format json", "compare @", "deadlocks @", "atomic @",
	           "commute @", "commute @ --analysis cov --budget 0.1,0.5",
	           "convert @ out.txt", "filter @ -o out.txt", "graph @",
	           "explain @ 0 3 --story", "witness @ 0 3 --budget 0.1,0.5",
	           "open @ --script %walk.script", "atomic @ --sets",
	           "replay --witness %bank.wit --trace @ --timeout 5 -- %bank.elf") },
	{ "log", ".log", damage_log_file, read_log,
	  COMMANDS("info @", "races @ --format json", "convert @ out.txt") },
	{ "witness", ".wit", damage_text, read_witness,
	  COMMANDS("verify %bank.hdl @", "verify %bank.hdl @ --format json",
	           "replay --witness @ --trace %bank.hdl --timeout 5 -- %bank.elf") },
	{ "specification", ".spec", damage_text, read_spec,
	  COMMANDS("spec points @", "commute %calls.txt --spec @ --pairs events",
	           "commute %calls.txt --spec @ --analysis cov --budget 0.1,0.5",
	           "atomic %bank.hdl --spec @", "races %calls.txt --spec @ --budget 0.1,0.5",
	           "verify %bank.hdl %bank.wit --spec @") },
	{ "lesson", ".lesson", damage_text, read_lesson,
	  COMMANDS("lesson @ --check", "lesson @ --text", "lesson @ --worksheet") },
	{ "report", ".json", damage_text, read_report,
	  COMMANDS("diff @ %bank.json", "diff %bank.json @", "merge @",
	           "races %bank.hdl --baseline @", "diff @ @ --format json",
	           "merge %bank.json @ --lenient") },
	{ "exploration", ".tree", damage_text, read_tree,
	  COMMANDS("open @ --script %walk.script", "merge @", "diff @ %explored.tree") },
	{ "exploration-state", ".state", damage_state, NULL,
	  COMMANDS("explore --resume @ --runs 3 --budget 5 -- %bank.elf",
	           "explore --resume @ --budget 2 --format json -- %bank.elf", "merge @",
	           "merge @ --tasks 2 -o out", "merge %task.1 @ --lenient --format json",
	           "merge %task.1 @ --tasks 2 -o out") },
	{ "tsan-report", ".tsan", damage_text, read_reported,
	  COMMANDS("open %bank.hdl --report @ --script %walk.script") },
	{ "notes", ".notes", damage_text, NULL,
	  COMMANDS("open %bank.hdl --notes @ --script %walk.script") },
	{ "configuration", ".config", damage_text, NULL,
	  COMMANDS("open %bank.hdl --script %walk.script &.config/heddle/config") },
	{ "index", ".index", damage_index, NULL,
	  COMMANDS("info %large.trace &$FUZZ_INDEX", "deadlocks %large.trace &$FUZZ_INDEX",
	           "races %large.trace --analysis hb &$FUZZ_INDEX",
	           "races %large.trace --analysis lockset &$FUZZ_INDEX") },
	{ "elf", ".elf", damage_elf, read_elf,
	  COMMANDS("record -o out.hdl -- @", "info %module.log &module.elf") },
	{ NULL },
};
