/*
 * test_name.c - the namer over a trace made by hand: a program is compiled on the spot for
 * its debug information, its events are invented.
 */
#include "debuginfo/debuginfo.h"
#include "engine/record/names/name.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BIAS 0x555500000000u
#define HEAP 0x7f0000001000u

static char *folder;

static const char program_text[] =
        "#include <stdlib.h>\n"
        "#include <pthread.h>\n"
        "struct job { int arg; int done; struct job *next; };\n"
        "struct pool { struct job *head; pthread_mutex_t lock; int size; };\n"
        "struct pool *pool;\n"
        "int *table;\n"
        "struct { struct job *slots[4]; int used; } ring;\n"
        "__attribute__((noinline)) int work(struct job *job, int n) { return job->arg + n; }\n"
        "__attribute__((noinline)) void *raw(void *p) { return p; }\n"
        "__attribute__((noinline)) int both(struct job *a, struct job *b) { return a->done + "
        "b->done; }\n"
        "long grid[3][32];\n"
        "int row[40];\n"
        "struct { short low; short high; int parts[2]; } pairs[64];\n"
        "__attribute__((noinline)) int walk(int *row) { return row[3]; }\n"
        "int main(void) { ring.used = work(0, 1); pthread_mutex_lock(&pool->lock);\n"
        "  return table[0] + both(raw(0), raw(0)) + walk(row) + grid[0][0] + pairs[0].low; }\n";

static void setup(void)
{
	folder = g_dir_make_tmp("heddle-name-XXXXXX", NULL);
	char *source = g_build_filename(folder, "jobs.c", NULL);
	ck_assert(g_file_set_contents(source, program_text, -1, NULL));
	char *command =
	        g_strdup_printf("cd '%s' && gcc -g -O1 -w -pthread -o jobs jobs.c", folder);
	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(source);
}

static void teardown(void)
{
	char *command = g_strdup_printf("rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(folder);
}

/* A trace in the making: arrays that grow, then a struct trace over them. */
static struct {
	GArray *events, *variables, *values, *blocks, *locations, *objects, *clues;
	struct debuginfo *program;
	struct names *names;
	struct trace trace, *strings; /* strings: has those of `trace` */
} made;

static uint64_t global_address(const char *name)
{
	for (uint32_t i = 0; i < debuginfo_variable_count(made.program); i++)
		if (strcmp(debuginfo_variable(made.program, i)->name, name) == 0)
			return BIAS + debuginfo_variable(made.program, i)->address;
	ck_abort_msg("no %s", name);
}

static void begin(void)
{
	struct error error = { 0 };
	struct value none = { 0 };
	struct location nowhere = { .module = NONE };
	char *path = g_build_filename(folder, "jobs", NULL);
	made.events = g_array_new(FALSE, TRUE, sizeof(struct event));
	made.variables = g_array_new(FALSE, TRUE, sizeof(struct variable));
	made.values = g_array_new(FALSE, TRUE, sizeof(struct value));
	made.blocks = g_array_new(FALSE, TRUE, sizeof(struct block));
	made.locations = g_array_new(FALSE, TRUE, sizeof(struct location));
	made.objects = g_array_new(FALSE, TRUE, sizeof(struct object));
	g_array_append_val(made.values, none);
	g_array_append_val(made.locations, nowhere);
	made.program = debuginfo_open(path, NULL, &error);
	ck_assert_msg(made.program != NULL, "%s", error.what);
	made.names = names_new(NULL, NULL);
	names_module(made.names,
	             &(struct name_of_module){ .path = path,
	                                       .build_id = debuginfo_build_id(made.program),
	                                       .base = BIAS });
	g_free(path);
}

static uint32_t location_in(const char *function)
{
	uint32_t id = debuginfo_function_named(made.program, function);
	ck_assert_uint_ne(id, NONE);
	struct location l = { .module = 0,
		              .address = debuginfo_function(made.program, id)->low };
	g_array_append_val(made.locations, l);
	return made.locations->len - 1;
}

static void add(uint8_t op, uint32_t target, uint32_t location, uint32_t value)
{
	struct event e = { .target = target, .location = location, .aux = value, .op = op };
	g_array_append_val(made.events, e);
}

static uint32_t alloc_block(uint64_t address, uint64_t size, const char *function)
{
	struct block b = {
		.address = address, .size = size, .alloc = made.events->len, .free = NONE
	};
	g_array_append_val(made.blocks, b);
	add(OP_ALLOC, made.blocks->len - 1, location_in(function), 0);
	return made.blocks->len - 1;
}

static uint32_t variable_at(uint64_t address, uint32_t size, uint32_t block)
{
	struct variable v = {
		.spelling = NONE, .address = address, .size = size, .block = block
	};
	g_array_append_val(made.variables, v);
	return made.variables->len - 1;
}

static uint32_t access_in(const char *function, uint64_t address, uint32_t size, uint32_t block)
{
	uint32_t v = variable_at(address, size, block);
	add(OP_READ, v, location_in(function), 0);
	return v;
}

static uint32_t store_pointer(uint64_t address, uint32_t block, uint64_t pointer)
{
	struct value value = { .kind = V_INT, .integer = (int64_t)pointer };
	g_array_append_val(made.values, value);
	uint32_t v = variable_at(address, 8, block);
	add(OP_WRITE, v, 0, made.values->len - 1);
	return v;
}

static void finish(void)
{
#define GIVE(table, array) \
	made.trace.table = (void *)made.array->data; \
	made.trace.table##_count = made.array->len
	GIVE(variables, variables);
	GIVE(values, values);
	GIVE(blocks, blocks);
	GIVE(locations, locations);
	GIVE(objects, objects);
	const struct namer *namer = names_namer(made.names);
	made.clues = g_array_new(FALSE, TRUE, sizeof(struct clue));
	for (uint32_t i = 0; i < made.events->len; i++) {
		struct clue clues = { g_array_index(made.events, struct event, i), i };
		g_array_append_val(made.clues, clues);
	}
	namer->begin(namer->context, &made.trace,
	             (struct clue_list){ (void *)made.clues->data, made.clues->len, NULL });
	struct builder *b = builder_new("names", NULL);
	struct error error;
	for (uint32_t i = 0; i < made.blocks->len; i++) {
		struct block *block = &g_array_index(made.blocks, struct block, i);
		GString *name = g_string_new(NULL);
		namer->block(namer->context, b, block, name);
		block->name = builder_string(b, name->str, name->len);
		g_string_free(name, TRUE);
	}
	namer->variables(namer->context, b, &made.trace,
	                 (struct variable *)(void *)made.variables->data);
	made.strings = builder_finish(b, true, &error);
	made.trace.spelt = made.strings->spelt;
	made.trace.name_rules = made.strings->name_rules;
	made.trace.string_bytes = made.strings->string_bytes;
	made.trace.string_offsets = made.strings->string_offsets;
}

static void named(uint32_t variable, const char *expected)
{
	ck_assert_str_eq(trace_variable_name(&made.trace, variable), expected);
}

static void object_named(uint32_t object, const char *expected)
{
	const struct namer *namer = names_namer(made.names);
	GString *name = g_string_new(NULL);
	namer->object(namer->context, &made.trace.objects[object], name);
	ck_assert_str_eq(name->str, expected);
	g_string_free(name, TRUE);
}

static void end(void)
{
	trace_close(made.strings);
	names_free(made.names);
	debuginfo_close(made.program);
	GArray *arrays[] = { made.events, made.clues,     made.variables, made.values,
		             made.blocks, made.locations, made.objects };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_unref(arrays[i]);
}

START_TEST(received_by_a_global)
{
	begin();
	uint32_t block = alloc_block(HEAP, 56, "main");
	uint32_t pointer = store_pointer(global_address("pool"), NONE, HEAP);
	uint32_t size = access_in("main", HEAP + 48, 4, block);
	struct object lock = { .address = HEAP + 8 };
	g_array_append_val(made.objects, lock);
	uint32_t numbers = alloc_block(HEAP + 0x100, 40, "main");
	store_pointer(global_address("table"), NONE, HEAP + 0x100);
	uint32_t third = access_in("main", HEAP + 0x100 + 12, 4, numbers);
	finish();
	named(pointer, "pool");
	named(size, "pool->size");
	named(third, "table[3]");
	object_named(0, "pool->lock");
	end();
}
END_TEST

START_TEST(received_by_a_member)
{
	begin();
	uint32_t pool = alloc_block(HEAP, 56, "main");
	uint32_t job = alloc_block(HEAP + 0x100, 16, "main");
	uint32_t later = alloc_block(HEAP + 0x200, 16, "main");
	store_pointer(HEAP, pool, HEAP + 0x100); /* before the pool's type is known */
	store_pointer(global_address("pool"), NONE, HEAP);
	store_pointer(HEAP + 0x108, job, HEAP + 0x200);        /* job->next */
	uint32_t arg = access_in("raw", HEAP + 0x100, 4, job); /* no pointer to it at hand */
	uint32_t done = access_in("raw", HEAP + 0x204, 4, later);
	finish();
	named(arg, "job->arg");
	named(done, "job#2->done");
	end();
}
END_TEST

START_TEST(named_by_the_accessing_function)
{
	begin();
	uint32_t one = alloc_block(HEAP, 16, "main");
	uint32_t arg = access_in("work", HEAP, 4, one);
	uint32_t other = alloc_block(HEAP + 0x100, 16, "main");
	uint32_t done = access_in("both", HEAP + 0x104, 4, other); /* a or b: which? */
	uint32_t slot = alloc_block(HEAP + 0x200, 16, "main");
	store_pointer(global_address("ring") + 8, NONE, HEAP + 0x200);
	uint32_t second = access_in("work", HEAP + 0x204, 4, slot);
	finish();
	named(arg, "job->arg");
	ck_assert(g_str_has_suffix(trace_variable_name(&made.trace, done), "->done"));
	named(second, "job#2->done"); /* not ring.slots[1]->done: slots change hands */
	end();
}
END_TEST

START_TEST(unknown_blocks)
{
	begin();
	uint32_t block = alloc_block(HEAP, 100, "raw");
	uint32_t first = access_in("raw", HEAP + 24, 4, block);
	uint32_t again = alloc_block(HEAP + 0x100, 100, "raw");
	uint32_t second = access_in("raw", HEAP + 0x100, 4, again);
	uint32_t nowhere = access_in("raw", 0x10, 4, NONE);
	finish();
	named(first, "block@jobs.c:9+24");
	named(second, "block@jobs.c:9#2+0");
	named(nowhere, "memory@0x10");
	end();
}
END_TEST

static bool by_rule(uint32_t variable)
{
	return made.trace.variables[variable].spelling & NAME_BY_RULE;
}

/* Parts of larger arrays of static data have rules, whatever their sizes; others have names. */
START_TEST(arrays_of_static_data)
{
	begin();
	uint64_t grid = global_address("grid"), pairs = global_address("pairs");
	uint32_t across = access_in("main", grid + 8, 16, NONE);
	uint32_t third = access_in("main", grid + 24, 8, NONE);
	uint32_t upper = access_in("main", grid + 32 + 4, 4, NONE);
	uint32_t last = access_in("main", grid + 95 * 8, 8, NONE);
	uint32_t low[3], high[3], part[3];
	for (uint32_t i = 0; i < 3; i++) {
		low[i] = access_in("main", pairs + 12 * (20 * i), 2, NONE);
		high[i] = access_in("main", pairs + 12 * (20 * i) + 2, 2, NONE);
		part[i] = access_in("main", pairs + 12 * (20 * i) + 8, 4, NONE);
	}
	uint32_t slot = access_in("main", global_address("ring") + 16, 8, NONE);
	finish();
	named(across, "grid[0]+8");
	named(third, "grid[0][3]");
	named(upper, "grid[0][4]+4");
	named(last, "grid[2][31]");
	named(low[1], "pairs[20].low");
	named(high[1], "pairs[20].high");
	named(high[2], "pairs[40].high");
	named(part[2], "pairs[40].parts[1]");
	named(slot, "ring.slots[2]");
	ck_assert(by_rule(across) && by_rule(third) && by_rule(upper) && by_rule(last));
	for (uint32_t i = 0; i < 3; i++)
		ck_assert(by_rule(low[i]) && by_rule(high[i]) && !by_rule(part[i]));
	ck_assert(!by_rule(slot));
	end();
}
END_TEST

/* A block's parts whose names those of an array have are told apart from these alone. */
START_TEST(array_of_a_blocks_name)
{
	begin();
	uint64_t row = global_address("row");
	uint32_t second = access_in("main", row + 8, 4, NONE);
	uint32_t third = access_in("main", row + 12, 4, NONE);
	uint32_t block = alloc_block(HEAP, 160, "main");
	uint32_t same = access_in("walk", HEAP + 12, 4, block);
	uint32_t other = access_in("walk", HEAP + 16, 4, block);
	finish();
	named(second, "row[2]");
	named(third, "row[3]");
	named(same, "row[3]#2");
	named(other, "row[4]");
	ck_assert(by_rule(second) && by_rule(third) && !by_rule(same) && by_rule(other));
	end();
}
END_TEST

/* A block that is freed receives nothing more; its address may be another's by then. */
START_TEST(lives)
{
	begin();
	uint32_t first = alloc_block(HEAP, 56, "raw");
	add(OP_FREE, first, 0, 0);
	uint32_t second = alloc_block(HEAP, 56, "raw");
	store_pointer(global_address("pool"), NONE, HEAP);
	uint32_t a = variable_at(HEAP + 48, 4, first), b = variable_at(HEAP + 48, 4, second);
	finish();
	named(a, "block@jobs.c:9+48");
	named(b, "pool->size");
	end();
}
END_TEST

/* What a call does in its frame is passed on at once and not kept, so that a recording's memory
 * does not grow with its calls. */
static struct {
	uint64_t kept;
	uint32_t locals, stack;
	uint64_t address;
	bool enough; /* the value that count_local returns */
} passed;

static void count_kept(void *context, const struct trace *partial, struct clue_list clues)
{
	(void)context;
	(void)partial;
	passed.kept = clues.count;
}

static bool count_local(void *context, const struct local_access *access)
{
	(void)context;
	passed.locals++;
	passed.stack = access->stack;
	passed.address = access->address;
	return passed.enough;
}

enum { CALLS = 1000, ODD = 3 }; /* a size without a line of its own */

/* Calls of T0, each with two accesses of each of two places in its stack; then one access of
 * T1 there. */
static void make_calls(bool enough)
{
	static const struct namer namer = { .begin = count_kept, .local = count_local };
	struct builder *b = builder_new("calls", NULL);
	struct error error;
	memset(&passed, 0, sizeof passed);
	passed.enough = enough;
	builder_namer(b, &namer);
	uint32_t threads[] = { builder_thread(b, "T0", 2), builder_thread(b, "T1", 2) };
	uint32_t function = builder_string(b, "f", 1);
	uint32_t stack = builder_block(b, "stack@main", 10, 4096, 0x10000);
	uint32_t region = builder_region(b, "stack@main", 0x10000, 4096, stack);
	builder_stack_block(b, threads[0], stack);
	for (uint32_t i = 0; i < CALLS; i++) {
		struct event call = { .op = OP_ENTER,
			              .thread = threads[0],
			              .target = function };
		ck_assert(builder_add(b, call, 0, &error));
		for (int k = 0; k < 4; k++) {
			struct event e = { .op = OP_WRITE, .thread = threads[0] };
			e.target = builder_place(b, region, 64, k % 2 ? ODD : 4);
			ck_assert(builder_add(b, e, 0, &error));
		}
		call.op = OP_LEAVE;
		ck_assert(builder_add(b, call, 0, &error));
	}
	struct event other = { .op = OP_READ, .thread = threads[1] };
	other.target = builder_place(b, region, 64, 4);
	ck_assert(builder_add(b, other, 0, &error));
	trace_close(builder_finish(b, true, &error));
	ck_assert_uint_eq(passed.kept, 0);
	ck_assert_uint_eq(passed.stack, stack);
	ck_assert_uint_eq(passed.address, 0x10000 + 64);
}

START_TEST(calls_leave_nothing)
{
	make_calls(false);
	ck_assert_uint_eq(passed.locals, 2 * CALLS + 1);
}
END_TEST

/* Where its thread's accesses make no difference any more, those of others still do. */
START_TEST(settled_places)
{
	make_calls(true);
	ck_assert_uint_eq(passed.locals, 2 + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("name");
	TCase *cases = tcase_create("recordings");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, received_by_a_global);
	tcase_add_test(cases, received_by_a_member);
	tcase_add_test(cases, named_by_the_accessing_function);
	tcase_add_test(cases, unknown_blocks);
	tcase_add_test(cases, arrays_of_static_data);
	tcase_add_test(cases, array_of_a_blocks_name);
	tcase_add_test(cases, lives);
	tcase_add_test(cases, calls_leave_nothing);
	tcase_add_test(cases, settled_places);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
