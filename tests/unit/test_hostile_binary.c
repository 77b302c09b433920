/*
 * test_hostile_binary.c - binary traces made to deceive: every sum is right, and one value of
 * one table leads out of it, or makes no trace of the events.  All are refused on opening.
 */
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "engine/trace/storage.h"
#include "engine/trace/binary/tape.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char sample[] =
        "#! heddle 1\n#! semaphore s 2\n#! object o dict\n#! atomic-set A x y\n#! stack U k\n"
        "#! note seed 7\n"
        "T|fork(U)|a.c:1\nT|alloc(p,8)|a.c:2\nT|w8(p)=-5|a.c:3:4\nU|w4(p+4)=nil|a.c:4\n"
        "U|enter(f)|a.c:5\nU|rmw(x)=1>2;acq|a.c:6\nU|leave(f)|a.c:7\nU|ubeg(u,A)|a.c:8\n"
        "U|act(o.put,\"k\",1)=nil,2|a.c:9\nU|uend(u)|a.c:10\nT|miss(m,p,x)|9\nT|back(m)|9\n"
        "T|take(s)|9\nT|snd(g)|9\nU|rcv(g)|9\nT|join(U)|9\nT|free(p)|9\nT|end()|9\n";

/* The format's header and table of sections (docs/trace-binary.md). */
enum { HEADER = 64, ENTRY = 56, VERSION_AT = 8, SECTIONS_AT = 20, SUM_AT = 32, NAME = 24 };
#define DIFFERENCES (UINT32_C(1) << 31) /* of the bytes of a frame */

struct file {
	char *bytes, *path;
	gsize length;
};

static uint64_t word(const char *at)
{
	uint64_t w;
	memcpy(&w, at, sizeof w);
	return w;
}

static char *entry_of(const struct file *f, uint32_t i)
{
	uint32_t sections;
	memcpy(&sections, f->bytes + SECTIONS_AT, sizeof sections);
	return i < sections ? f->bytes + f->length - (size_t)ENTRY * (sections - i) : NULL;
}

static char *section(const struct file *f, const char *name, uint64_t *count)
{
	for (uint32_t i = 0; entry_of(f, i); i++) {
		char *entry = entry_of(f, i);
		if (strncmp(entry, name, NAME) != 0)
			continue;
		*count = word(entry + 40);
		return f->bytes + word(entry + 32);
	}
	ck_abort_msg("no section %s", name);
	return NULL;
}

static void right_sums(struct file *f)
{
	uint32_t sections;
	memcpy(&sections, f->bytes + SECTIONS_AT, sizeof sections);
	for (uint32_t i = 0; entry_of(f, i); i++) {
		char *entry = entry_of(f, i);
		uint32_t element, packed;
		memcpy(&element, entry + NAME, sizeof element);
		memcpy(&packed, entry + NAME + 4, sizeof packed);
		packed &= ~DIFFERENCES;
		uint64_t sum = sum_bytes(f->bytes + word(entry + 32),
		                         packed ? packed : element * word(entry + 40));
		memcpy(entry + 48, &sum, sizeof sum);
	}
	memset(f->bytes + SUM_AT, 0, 8);
	uint64_t sum = sum_bytes(f->bytes, HEADER) +
	               3 * sum_bytes(entry_of(f, 0), (size_t)sections * ENTRY);
	memcpy(f->bytes + SUM_AT, &sum, sizeof sum);
}

static struct file sample_file(void)
{
	struct file f;
	struct error e;
	f.path = g_strdup_printf("%s/heddle-hostile-%d.hdl", g_get_tmp_dir(), rand());
	struct trace *t = trace_from_text("test.txt", sample, strlen(sample), NULL, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	/* The facts for replay, which text does not have. */
	static const struct recorded_clock clock;
	static const struct recorded_repeat repeat;
	static const struct recorded_drop drop;
	t->clocks = &clock, t->clocks_count = 1;
	t->repeats = &repeat, t->repeats_count = 1;
	t->drops = &drop, t->drops_count = 1;
	ck_assert(trace_write(t, f.path, TRACE_BINARY, NULL, NULL, &e));
	trace_close(t);
	ck_assert(g_file_get_contents(f.path, &f.bytes, &f.length, NULL));
	return f;
}

static struct trace *open_file(struct file *f, struct error *e)
{
	right_sums(f);
	ck_assert(g_file_set_contents_full(f->path, f->bytes, (gssize)f->length,
	                                   G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	return trace_open(f->path, NULL, NULL, e);
}

static void release(struct file *f)
{
	g_unlink(f->path);
	g_free(f->path);
	g_free(f->bytes);
}

/* One 32-bit field of every element in turn is set to a value that no table has. */
static const struct field {
	const char *table;
	size_t element, offset;
	uint32_t value;
	bool sparse; /* at least one element has to be refused; else every one */
} fields[] = {
#define FIELD(table, type, member, value, sparse) \
	{ \
#table, sizeof(type), offsetof(type, member), value, sparse \
	}
	FIELD(event_blocks, struct tape_block, bytes, 0x7ffffff0, false),
	FIELD(event_blocks, struct tape_block, bytes, 3, false),
	FIELD(event_blocks, struct tape_block, offset, 0x7ffffff0, false),
	FIELD(event_blocks, struct tape_block, count, 0x7ffffff0, false),
	FIELD(event_blocks, struct tape_block, count, 0, false),
	FIELD(event_blocks, struct tape_block, sum, 0x7ffffff0, false),
	FIELD(variables, struct variable, spelling, 0x7ffffff0, false),
	FIELD(variables, struct variable, spelling, 0xfffffff0, false),
	FIELD(variables, struct variable, block, 0x7ffffff0, false),
	FIELD(wides, struct wide, first, 0x7ffffff0, false),
	FIELD(wides, struct wide, first, 0xffffffff, false),
	FIELD(wides, struct wide, count, 0x7ffffff0, false),
	FIELD(wides, struct wide, count, 0, false),
	FIELD(threads, struct thread, name, 0x7ffffff0, false),
	FIELD(threads, struct thread, parent, 0x7ffffff0, false),
	FIELD(threads, struct thread, fork, 0x7ffffff0, false),
	FIELD(threads, struct thread, fork, 4, false), /* an event, and no fork */
	FIELD(threads, struct thread, stack, 0x7ffffff0, false),
	FIELD(threads, struct thread, recorded, 0x7ffffff0, false),
	FIELD(clocks, struct recorded_clock, thread, 0x7ffffff0, false),
	FIELD(repeats, struct recorded_repeat, thread, 0x7ffffff0, false),
	FIELD(drops, struct recorded_drop, thread, 0x7ffffff0, false),
	FIELD(objects, struct object, name, 0x7ffffff0, false),
	FIELD(blocks, struct block, name, 0x7ffffff0, false),
	FIELD(blocks, struct block, type, 0x7ffffff0, false),
	FIELD(blocks, struct block, alloc, 0x7ffffff0, false),
	FIELD(blocks, struct block, alloc, 4, false), /* an event, and no alloc */
	FIELD(blocks, struct block, free, 0x7ffffff0, false),
	FIELD(blocks, struct block, free, 1, false), /* its alloc */
	FIELD(instances, struct instance, name, 0x7ffffff0, false),
	FIELD(instances, struct instance, type, 0x7ffffff0, false),
	FIELD(invocations, struct invocation_part, method, 0x7ffffff0, false),
	FIELD(invocations, struct invocation_part, values, 0x7ffffff0, false),
	FIELD(locations, struct location, name, 0x7ffffff0, false),
	FIELD(locations, struct location, file, 0x7ffffff0, false),
	FIELD(locations, struct location, function, 0x7ffffff0, false),
	FIELD(locations, struct location, site, 0x7ffffff0, false),
	FIELD(locations, struct location, module, 0x7ffffff0, false),
	FIELD(locations, struct location, inlined, 0x7ffffff0, false),
	FIELD(locations, struct location, inlined, 1, true), /* into itself */
	FIELD(contexts, struct context, parent, 0x7ffffff0, false),
	FIELD(contexts, struct context, function, 0x7ffffff0, false),
	FIELD(contexts, struct context, call, 0x7ffffff0, false),
	FIELD(atomic_sets, struct atomic_set, name, 0x7ffffff0, false),
	FIELD(atomic_sets, struct atomic_set, members, 0x7ffffff0, false),
	FIELD(atomic_sets, struct atomic_set, members, 1, false), /* a value, and no list */
	FIELD(notes, struct note, key, 0x7ffffff0, false),
	FIELD(notes, struct note, value, 0x7ffffff0, false),
	FIELD(values, struct value, kind, 99, false),
	FIELD(values, struct value, string, 0x7ffffff0, true),
	FIELD(values, struct value, count, 0x7ffffff0, true),
#undef FIELD
#define WORDS(table, sparse) \
	{ \
#table, 4, 0, 0x7ffffff0, sparse \
	}
	WORDS(value_lists, false),
	WORDS(messages, false),
	WORDS(sites, false),
	WORDS(string_offsets, false),
#undef WORDS
};

START_TEST(values_out_of_range_are_refused)
{
	const struct field *field = &fields[_i];
	struct file f = sample_file();
	struct error e;
	uint64_t count = 0, refused = 0;
	char *table = section(&f, field->table, &count);
	ck_assert_msg(count > 0, "the sample has no %s", field->table);
	for (uint64_t i = 0; i < count; i++) {
		char *at = table + i * field->element + field->offset, old[4];
		memcpy(old, at, 4);
		memcpy(at, &field->value, 4);
		struct trace *t = open_file(&f, &e);
		refused += t == NULL;
		ck_assert_msg(t == NULL || field->sparse || memcmp(old, at, 4) == 0,
		              "%s %u + %u = %u was taken", field->table, (unsigned)i,
		              (unsigned)field->offset, field->value);
		if (t) /* then nothing may lead out of it */
			ck_assert(trace_need(t, INDEX_ALL, NULL));
		trace_close(t);
		memcpy(at, old, 4);
	}
	ck_assert_uint_gt(refused, 0);
	release(&f);
}
END_TEST

/* Before version 10 all integers were in the table of values. */
START_TEST(small_integers_of_older_files_are_refused)
{
	struct file f = sample_file();
	struct error e;
	struct trace *t = open_file(&f, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	trace_close(t);
	f.bytes[VERSION_AT] = SMALL_VALUES_FROM - 1;
	ck_assert_ptr_null(open_file(&f, &e));
	release(&f);
}
END_TEST

/* The sample with events and stacks that can be changed; the writer takes them as they are. */
struct changeable {
	struct trace *t;
	struct event *events;
	uint32_t *stacks;
	char *path;
};

static struct changeable changeable_sample(void)
{
	struct changeable c;
	struct error e;
	c.path = g_strdup_printf("%s/heddle-hostile-%d.hdl", g_get_tmp_dir(), rand());
	c.t = trace_from_text("test.txt", sample, strlen(sample), NULL, &e);
	ck_assert_msg(c.t != NULL, "%s", e.what);
	c.events = g_memdup2(c.t->events, c.t->events_count * sizeof *c.events);
	c.stacks = g_memdup2(c.t->stacks, c.t->stacks_count * sizeof *c.stacks);
	c.t->events = trace_own(c.t, c.events);
	c.t->stacks = trace_own(c.t, c.stacks);
	return c;
}

static struct trace *open_changed(struct changeable *c, struct error *e)
{
	ck_assert(trace_write(c->t, c->path, TRACE_BINARY, NULL, NULL, e));
	return trace_open(c->path, NULL, NULL, e);
}

static void release_changeable(struct changeable *c)
{
	g_unlink(c->path);
	g_free(c->path);
	trace_close(c->t);
}

START_TEST(unchanged_events_come_back)
{
	struct changeable c = changeable_sample();
	struct error e;
	struct trace *t = open_changed(&c, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	ck_assert_uint_eq(t->events_count, c.t->events_count);
	ck_assert_mem_eq(t->events, c.events, t->events_count * sizeof *t->events);
	ck_assert_mem_eq(t->stacks, c.stacks, t->events_count * sizeof *t->stacks);
	trace_close(t);
	release_changeable(&c);
}
END_TEST

/* Outside of blocks a rule of names counts elements of some bytes. */
START_TEST(rules_of_static_data_count)
{
	struct changeable c = changeable_sample();
	struct name_rule *rule = g_new0(struct name_rule, 1);
	struct variable *variables =
	        g_memdup2(c.t->variables, c.t->variables_count * sizeof *variables);
	struct error e;
	uint32_t global = 0;
	while (variables[global].block != NONE)
		ck_assert_uint_lt(++global, c.t->variables_count);
	variables[global].spelling = NAME_BY_RULE;
	variables[global].address = UINT64_C(0x7f0100000004);
	*rule = (struct name_rule){ .path = c.t->threads[0].name, .base = 0xfffffffc };
	c.t->variables = trace_own(c.t, variables);
	c.t->name_rules = trace_own(c.t, rule);
	c.t->name_rules_count = 1;
	ck_assert_ptr_null(open_changed(&c, &e));
	rule->step = 4;
	struct trace *t = open_changed(&c, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	ck_assert_str_eq(trace_variable_name(t, global), "U2");
	trace_close(t);
	release_changeable(&c);
}
END_TEST

/* Every field of every event, and its stack. */
START_TEST(events_out_of_range_are_refused)
{
	static const struct event bad[] = {
		{ .thread = EVENT_THREADS - 1 },
		{ .location = EVENT_LOCATIONS - 1 },
		{ .op = 0xf0 },
		{ .flags = ORDER_SEQ_CST + 1 },
	};
	struct changeable c = changeable_sample();
	struct error e;
	uint64_t targets = 0, values = 0;
	for (uint64_t i = 0; i < c.t->events_count; i++) {
		struct event old = c.events[i], *x = &c.events[i];
		for (size_t p = 0; p < G_N_ELEMENTS(bad); p++) {
			x->thread = bad[p].thread ? bad[p].thread : old.thread;
			x->location = bad[p].location ? bad[p].location : old.location;
			x->op = bad[p].op ? bad[p].op : old.op;
			x->flags = bad[p].flags ? bad[p].flags : old.flags;
			ck_assert_ptr_null(open_changed(&c, &e));
			*x = old;
		}
		for (int value = 0; value < 3; value++) {
			*(value ? &x->aux : &x->target) = value == 2 ? NONE : 0x7ffffff0;
			struct trace *t = open_changed(&c, &e);
			*(value ? &values : &targets) += t == NULL;
			if (t) /* then nothing may lead out of it */
				ck_assert(trace_need(t, INDEX_ALL, NULL));
			trace_close(t);
			*x = old;
		}
		uint32_t stack = c.stacks[i];
		c.stacks[i] = 0x7ffffff0;
		ck_assert_ptr_null(open_changed(&c, &e));
		c.stacks[i] = stack;
	}
	ck_assert_uint_gt(targets, 10);
	ck_assert_uint_gt(values, 5);
	release_changeable(&c);
}
END_TEST

/* Any byte of the events is changed, and the sums are recomputed. */
START_TEST(bytes_of_events_lead_nowhere)
{
	struct file f = sample_file();
	struct error e;
	uint64_t count, blocks, refused = 0;
	char *bytes = section(&f, "event_bytes", &count);
	struct tape_block *block = (void *)section(&f, "event_blocks", &blocks);
	ck_assert_uint_eq(blocks, 1);
	for (uint64_t i = 0; i < count; i++)
		for (int value = 0; value < 256; value += 15) {
			char old = bytes[i];
			bytes[i] = (char)value;
			block->sum = sum_bytes(bytes, count);
			struct trace *t = open_file(&f, &e);
			refused += t == NULL;
			if (t)
				ck_assert(trace_need(t, INDEX_ALL, NULL));
			trace_close(t);
			bytes[i] = old;
		}
	ck_assert_uint_gt(refused, count);
	block->sum++;
	ck_assert_ptr_null(open_file(&f, &e));
	release(&f);
}
END_TEST

/* Lists of names that have integers in them: they would be taken for strings. */
START_TEST(lists_of_names_have_names)
{
	struct file f = sample_file();
	struct error e;
	uint64_t count, values;
	char *lists = section(&f, "value_lists", &count),
	     *table = section(&f, "values", &values);
	uint32_t integers[] = { VALUE_INTEGER | 1, 0 }, refused = 0;
	for (uint32_t i = 0; i < values; i++)
		if (((struct value *)(void *)table)[i].kind == V_INT)
			integers[1] = i;
	ck_assert_uint_ne(integers[1], 0);
	for (uint64_t i = 0; i < 2 * count; i++) {
		uint32_t old;
		memcpy(&old, lists + 4 * (i / 2), 4);
		memcpy(lists + 4 * (i / 2), &integers[i % 2], 4);
		struct trace *t = open_file(&f, &e);
		refused += t == NULL;
		trace_close(t);
		memcpy(lists + 4 * (i / 2), &old, 4);
	}
	ck_assert_uint_eq(refused, 2 * 5); /* x y of the set; A of ubeg; p x of miss */
	release(&f);
}
END_TEST

/* Two events change places: of all that still is a trace, no order leads back in time. */
START_TEST(orders_never_lead_back)
{
	struct changeable c = changeable_sample();
	struct error e;
	uint64_t refused = 0;
	for (uint64_t i = 0; i < c.t->events_count; i++)
		for (uint64_t j = 0; j < i; j++) {
			struct event *x = c.events, a = x[i];
			x[i] = x[j];
			x[j] = a;
			struct trace *t = open_changed(&c, &e);
			refused += t == NULL;
			if (t)
				ck_assert(trace_need(t, INDEX_ALL, NULL));
			for (uint64_t k = 0; t && k < t->index->must_count; k++)
				ck_assert_uint_lt(t->index->must[k].before,
				                  t->index->must[k].after);
			trace_close(t);
			x[j] = x[i];
			x[i] = a;
		}
	ck_assert_uint_gt(refused, 20);
	release_changeable(&c);
}
END_TEST

/* Found by mutation: the fork comes after events of its thread, and the tables agree. */
START_TEST(fork_of_a_thread_that_has_run)
{
	struct changeable c = changeable_sample();
	struct error e;
	struct event fork = c.events[0], access = c.events[3];
	ck_assert(fork.op == OP_FORK && access.thread == fork.target);
	c.events[0] = access;
	c.events[3] = fork;
	((struct thread *)c.t->threads)[fork.target].fork = 3;
	ck_assert_ptr_null(open_changed(&c, &e));
	ck_assert_msg(strstr(e.what, "before its fork") != NULL, "%s", e.what);
	release_changeable(&c);
}
END_TEST

/* Large tables are packed: unpacking restores them, and a section whose size differs from its
 * entry is refused. */
START_TEST(packed_sections)
{
	GString *text = g_string_new("#! heddle 1\n");
	for (int i = 0; i < 20000; i++)
		g_string_append_printf(text, "T|w4(queue->jobs[%d].state)=%d|a.c:1\n", i, i);
	struct file f = { .path = g_strdup_printf("%s/heddle-hostile-%d.hdl", g_get_tmp_dir(),
		                                  rand()) };
	struct error e;
	struct trace *t = trace_from_text("test.txt", text->str, text->len, NULL, &e);
	ck_assert(trace_write(t, f.path, TRACE_BINARY, NULL, NULL, &e));
	ck_assert(g_file_get_contents(f.path, &f.bytes, &f.length, NULL));
	ck_assert_uint_lt(f.length, t->string_bytes_count);
	struct trace *again = open_file(&f, &e);
	ck_assert_msg(again != NULL, "%s", e.what);
	ck_assert_mem_eq(again->string_bytes, t->string_bytes, t->string_bytes_count);
	ck_assert_mem_eq(again->variables, t->variables,
	                 t->variables_count * sizeof *t->variables);
	trace_close(again);
	trace_close(t);
	uint64_t count;
	unsigned packed = 0, different = 0;
	for (uint32_t i = 0; entry_of(&f, i); i++) {
		char *entry = entry_of(&f, i), *bytes = f.bytes + word(entry + 32);
		uint32_t length, less[] = { 1, 9 };
		memcpy(&length, entry + NAME + 4, sizeof length);
		different += (length & DIFFERENCES) != 0;
		if (strcmp(entry, "string_bytes") == 0) { /* elements of one byte */
			uint32_t other = length | DIFFERENCES;
			memcpy(entry + NAME + 4, &other, sizeof other);
			ck_assert_ptr_null(open_file(&f, &e));
			memcpy(entry + NAME + 4, &length, sizeof length);
		}
		if (length == 0 || packed)
			continue;
		packed++;
		for (size_t k = 0; k < G_N_ELEMENTS(less); k++) {
			uint32_t other =
			        length - less[k]; /* its sum is right, but not its end */
			memcpy(entry + NAME + 4, &other, sizeof other);
			ck_assert_ptr_null(open_file(&f, &e));
		}
		memcpy(entry + NAME + 4, &length, sizeof length);
		count = word(entry + 40) + 1;
		memcpy(entry + 40, &count, sizeof count);
		ck_assert_ptr_null(open_file(&f, &e));
		count = UINT32_MAX - 1;
		memcpy(entry + 40, &count, sizeof count);
		ck_assert_ptr_null(open_file(&f, &e));
		bytes[0] ^= 1;
		ck_assert_ptr_null(open_file(&f, &e));
	}
	ck_assert_uint_eq(packed, 1);
	ck_assert_uint_ge(different, 2); /* variables, offsets of strings */
	g_string_free(text, TRUE);
	release(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hostile binary");
	TCase *c = tcase_create("hostile binary");
	tcase_add_loop_test(c, values_out_of_range_are_refused, 0, G_N_ELEMENTS(fields));
	tcase_add_test(c, small_integers_of_older_files_are_refused);
	tcase_add_test(c, unchanged_events_come_back);
	tcase_add_test(c, rules_of_static_data_count);
	tcase_add_test(c, events_out_of_range_are_refused);
	tcase_add_test(c, bytes_of_events_lead_nowhere);
	tcase_add_test(c, lists_of_names_have_names);
	tcase_add_test(c, packed_sections);
	tcase_add_test(c, orders_never_lead_back);
	tcase_add_test(c, fork_of_a_thread_that_has_run);
	suite_add_tcase(s, c);
	return suite_run(s);
}
