/*
 * test_atomic.c - models of atomic sets: which object a variable belongs to by its name, what
 * specifications and inference make of small text traces.
 */
#include "engine/atomic/atomic.h"
#include "engine/atomic/places.h"
#include "engine/commute/language/spec.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct trace *trace_of(const char *text)
{
	struct error e = { 0 };
	struct trace *t = trace_from_text("test", text, strlen(text), NULL, &e);
	ck_assert_msg(t != NULL, "%s: %s", e.where, e.what);
	return t;
}

static uint32_t variable_named(const struct trace *t, const char *name)
{
	for (uint32_t v = 0; v < t->variables_count; v++)
		if (strcmp(trace_variable_name(t, v), name) == 0)
			return v;
	ck_abort_msg("no variable %s", name);
}

START_TEST(places_by_name)
{
	static const struct {
		const char *name, *instance, *member;
	} cases[] = {
		{ "acct.balance", "acct", "balance" },
		{ "gs[1].i[2].x", "gs[1].i[2]", "x" },
		{ "ring.slots[1]", "ring", "slots" },
		{ "pool->queue.head", "pool->", "queue" },
		{ "job#2->arg", "job#2->", "arg" },
		{ "table[4]", "table", NULL },
		{ "plain", "plain", NULL },
		{ "counter@log.c", "counter@log.c", NULL },
		{ "stats@log.c.hits", "stats@log.c", "hits" },
		{ "outer.in.deep", "outer", "in" },
	};
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_string_append_printf(text, "T|w(%s)|\n", cases[i].name);
	struct trace *t = trace_of(text->str);
	struct atomic_places *p = atomic_places_new(t, false);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct atomic_place *at = &p->at[variable_named(t, cases[i].name)];
		ck_assert_str_eq(at->instance, cases[i].instance);
		ck_assert_msg(g_strcmp0(at->member, cases[i].member) == 0, "%s: member %s",
		              cases[i].name, at->member ? at->member : "none");
	}
	atomic_places_free(p);
	trace_close(t);
	g_string_free(text, TRUE);
}
END_TEST

static struct specs *specs_of(const char *text)
{
	struct error e = { 0 };
	struct specs *s = specs_new();
	ck_assert_msg(specs_parse(s, "test.spec", text, strlen(text), &e), "%s: %s", e.where,
	              e.what);
	return s;
}

static guint violations(const char *trace, const char *spec, const char *expected_sets)
{
	struct trace *t = trace_of(trace);
	struct specs *s = specs_of(spec);
	struct atomic_model *m = atomic_model_for(t, s, NULL, NULL);
	struct atomic_options all = { .all = true };
	GString *sets = g_string_new(NULL);
	for (guint i = 0; i < m->sets->len; i++)
		g_string_append_printf(sets, "%s%s", i ? ", " : "", (char *)m->sets->pdata[i]);
	ck_assert_str_eq(sets->str, expected_sets);
	struct report *r = atomic_find(t, m, &all, NULL);
	guint found = r->findings->len;
	report_free(r);
	g_string_free(sets, TRUE);
	atomic_model_free(m);
	specs_free(s);
	trace_close(t);
	return found;
}

static const char account_spec[] = "atomics bank {\n"
                                   "  set account : struct account { checking, savings }\n"
                                   "  unit transfer on account\n"
                                   "  unit audit on account\n"
                                   "}\n";

START_TEST(a_set_for_each_instance)
{
	/* The audit looks at the first account before, at the second after the transfers. */
	static const char two[] =
	        "T1|enter(audit)|\nT1|r(a.checking)|\n"
	        "T2|enter(transfer)|\nT2|w(a.checking)|\nT2|leave(transfer)|\n"
	        "T2|enter(transfer)|\nT2|w(b.savings)|\nT2|leave(transfer)|\n"
	        "T1|r(b.savings)|\nT1|leave(audit)|\n";
	static const char one[] = "T1|enter(audit)|\nT1|r(a.checking)|\n"
	                          "T2|enter(transfer)|\nT2|w(a.checking)|\nT2|w(a.savings)|\n"
	                          "T2|leave(transfer)|\nT1|r(a.savings)|\nT1|leave(audit)|\n";
	ck_assert_uint_eq(violations(two, account_spec, "account a, account b"), 0);
	ck_assert_uint_gt(violations(one, account_spec, "account"), 0);
}
END_TEST

START_TEST(units_of_the_trace_on_sets_of_a_specification)
{
	static const char trace[] =
	        "T1|ubeg(look,account)|\nT1|r(a.checking)|\n"
	        "T2|ubeg(move,account)|\nT2|w(a.checking)|\nT2|w(a.savings)|\n"
	        "T2|uend(move)|\nT1|r(a.savings)|\nT1|uend(look)|\n";
	static const char of_struct[] =
	        "atomics b { set account : struct account { checking, savings } }";
	static const char of_globals[] = "atomics b { set account : global a }";
	ck_assert_uint_gt(violations(trace, of_struct, "account, account"), 0);
	ck_assert_uint_gt(violations(trace, of_globals, "account"), 0);
}
END_TEST

START_TEST(globals_of_a_specification)
{
	static const char spec[] = "atomics c { set counters : global ops, total\n"
	                           " unit bump on counters\n unit show on counters }\n";
	static const char trace[] =
	        "T1|enter(show)|\nT1|r(ops)|\nT2|enter(bump)|\nT2|w(ops)|\n"
	        "T2|w(total)|\nT2|w(other)|\nT2|leave(bump)|\nT1|r(total)|\n"
	        "T1|leave(show)|\n";
	ck_assert_uint_gt(violations(trace, spec, "counters"), 0);
}
END_TEST

START_TEST(owned_members_belong_to_their_owner)
{
	/* The set's own count and the map that it owns must fit together. */
	static const char trace[] =
	        "T1|alloc(p1,16)|\nT1|w(hs.map)=p1|\nT1|fork(T2)|\n"
	        "T1|enter(add)|\nT1|w(p1.n)|\n"
	        "T2|enter(size)|\nT2|r(p1.n)|\nT2|r(hs.count)|\nT2|leave(size)|\n"
	        "T1|w(hs.count)|\nT1|leave(add)|\n";
	static const char apart[] = "atomics h { set s : struct hashset { count, map }\n"
	                            " unit add on s\n unit size on s }\n";
	static const char owned[] =
	        "atomics h { set s : struct hashset { count, map }\n"
	        " unit add on s\n unit size on s\n owned struct hashset . map }\n";
	ck_assert_uint_eq(violations(trace, apart, "s"), 0);
	ck_assert_uint_gt(violations(trace, owned, "s"), 0);
}
END_TEST

START_TEST(splits_of_a_specification)
{
	static const char unit[] =
	        "atomics b { set s : global n\n unit get on s\n unit put on s\n%s }\n";
	static const char trace[] = "T1|enter(get)|\nT1|r(n)|\nT1|%s|\n"
	                            "T2|enter(put)|\nT2|w(n)|\nT2|leave(put)|\nT1|r(n)|\n"
	                            "T1|leave(get)|\n";
	char *joined = g_strdup_printf(trace, "arrive(b)");
	char *plain = g_strdup_printf(unit, ""),
	     *split = g_strdup_printf(unit, " split wait, barrier");
	ck_assert_uint_gt(violations(joined, plain, "s"), 0);
	ck_assert_uint_eq(violations(joined, split, "s"), 0);
	g_free(joined);
	joined = g_strdup_printf(trace, "wait(c)");
	ck_assert_uint_eq(violations(joined, plain, "s"), 0); /* a wait splits always */
	g_free(joined);
	g_free(plain);
	g_free(split);
}
END_TEST

static struct atomic_model *inferred(const char *text, struct trace **t)
{
	*t = trace_of(text);
	return atomic_model_inferred(*t, NULL, NULL);
}

static void inferred_sets(const char *text, const char *expected)
{
	struct trace *t;
	struct atomic_model *m = inferred(text, &t);
	GString *sets = g_string_new(NULL);
	for (guint i = 0; i < m->sets->len; i++)
		g_string_append_printf(sets, "%s%s", i ? "; " : "", (char *)m->sets->pdata[i]);
	ck_assert_str_eq(sets->str, expected);
	g_string_free(sets, TRUE);
	atomic_model_free(m);
	trace_close(t);
}

START_TEST(sets_that_are_inferred)
{
	/* only variables of two threads; atomics are in no set */
	inferred_sets("T1|w(a.x)|\nT1|w(a.y)|\nT2|r(a.x)|\nT2|aw(a.z)|\nT1|ar(a.z)|\n", "a");
	/* members under two locks are two sets */
	inferred_sets(
	        "T1|acq(l)|\nT1|w(a.x)|\nT1|rel(l)|\nT1|acq(m)|\nT1|w(a.y)|\nT1|rel(m)|\n"
	        "T2|acq(l)|\nT2|w(a.x)|\nT2|rel(l)|\nT2|acq(m)|\nT2|w(a.y)|\nT2|rel(m)|\n",
	        "a_under_l; a_under_m");
	/* globals are apart, unless one activation touches both in one critical section */
	inferred_sets("T1|w(g)|\nT1|w(h)|\nT2|w(g)|\nT2|w(h)|\n", "g; h");
	inferred_sets("T1|w(g)|\nT1|w(h)|\nT2|enter(f)|\nT2|acq(m)|\nT2|w(g)|\nT2|w(h)|\n"
	              "T2|rel(m)|\nT2|leave(f)|\n",
	              "g");
}
END_TEST

static bool is_unit(const char *text, const char *line)
{
	struct trace *t;
	struct atomic_model *m = inferred(text, &t);
	bool found = strstr(m->inferred, line) != NULL;
	atomic_model_free(m);
	trace_close(t);
	return found;
}

START_TEST(members_under_no_lock_are_a_set_of_their_own)
{
	inferred_sets("T1|acq(l)|\nT1|w(a.x)|\nT1|rel(l)|\nT1|acq(m)|\nT1|w(a.y)|\nT1|rel(m)|\n"
	              "T1|w(a.z)|\nT2|acq(l)|\nT2|w(a.x)|\nT2|rel(l)|\nT2|acq(m)|\nT2|w(a.y)|\n"
	              "T2|rel(m)|\nT2|w(a.z)|\n",
	              "a_under_l; a_under_m; a_unlocked");
	/* one lock splits nothing */
	inferred_sets("T1|acq(l)|\nT1|w(a.x)|\nT1|rel(l)|\nT1|w(a.z)|\n"
	              "T2|acq(l)|\nT2|w(a.x)|\nT2|rel(l)|\nT2|w(a.z)|\n",
	              "a");
	/* nor does a lock that one access was under, beside the one at most */
	inferred_sets("T1|acq(l)|\nT1|w(a.x)|\nT1|w(a.y)|\nT1|rel(l)|\n"
	              "T2|acq(m)|\nT2|w(a.x)|\nT2|w(a.y)|\nT2|rel(m)|\n"
	              "T2|acq(l)|\nT2|w(a.x)|\nT2|w(a.y)|\nT2|rel(l)|\n",
	              "a");
}
END_TEST

START_TEST(globals_join_within_one_activation_alone)
{
	/* one critical section, but each in a function of its own */
	inferred_sets("T1|w(g)|\nT1|w(h)|\nT2|enter(f)|\nT2|acq(m)|\nT2|enter(p)|\nT2|w(g)|\n"
	              "T2|leave(p)|\nT2|enter(q)|\nT2|w(h)|\nT2|leave(q)|\nT2|rel(m)|\n",
	              "g; h");
	/* a callee's accesses in between do not separate them */
	inferred_sets("T1|w(g)|\nT1|w(h)|\nT1|w(i)|\nT2|enter(f)|\nT2|acq(m)|\nT2|w(g)|\n"
	              "T2|enter(q)|\nT2|w(i)|\nT2|leave(q)|\nT2|w(h)|\nT2|rel(m)|\n",
	              "g; i");
}
END_TEST

START_TEST(functions_that_are_no_units)
{
	static const char frame[] = "T1|w(a.x)|\nT2|enter(run)|\nT2|enter(step)|\n%s"
	                            "T2|w(a.x)|\nT2|leave(step)|\nT2|leave(run)|\n";
	static const struct {
		const char *inside;
		bool unit;
	} cases[] = {
		{ "", true },
		{ "T2|fork(T3)|\n", false },
		{ "T2|enter(read@libc)|\nT2|leave(read@libc)|\n", false },
		{ "T2|enter(read)|\nT2|leave(read)|\n", true }, /* the program's own */
		{ "T2|enter(usleep@libc)|\nT2|leave(usleep@libc)|\n", true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text = g_strdup_printf(frame, cases[i].inside);
		ck_assert_msg(is_unit(text, "unit step on a") == cases[i].unit, "%s", text);
		ck_assert(!is_unit(text, "unit run"));
		g_free(text);
	}
	/* handlers run below frames of the C library */
	ck_assert(!is_unit("T1|w(a.x)|\nT2|enter(run)|\nT2|enter(signal@libc)|\n"
	                   "T2|enter(step)|\nT2|w(a.x)|\n",
	                   "unit step"));
	ck_assert(!is_unit("T1|w(a.x)|\nT2|enter(run)|\nT2|enter(exit@libc)|\n"
	                   "T2|enter(step)|\nT2|w(a.x)|\n",
	                   "unit step"));
}
END_TEST

static guint inferred_violations(const char *text, const struct infer_options *options)
{
	struct trace *t = trace_of(text);
	struct atomic_model *m = atomic_model_inferred(t, options, NULL);
	struct atomic_options all = { .all = true };
	struct report *r = atomic_find(t, m, &all, NULL);
	guint found = r->findings->len;
	report_free(r);
	atomic_model_free(m);
	trace_close(t);
	return found;
}

START_TEST(where_units_are_cut)
{
	static const char frame[] = "T1|enter(run)|\nT2|enter(run)|\nT1|r(n)|\nT2|r(n)|\n"
	                            "T1|enter(get)|\nT1|r(n)|\n%s"
	                            "T2|enter(put)|\nT2|w(n)|\nT2|leave(put)|\nT1|r(n)|\n"
	                            "T1|leave(get)|\n";
	static const struct {
		const char *cut;
		guint whole; /* cycles where it is turned off */
	} cases[] = {
		{ "T1|wait(c)|\n", 0 }, /* always */
		{ "T1|arrive(b)|\n", 1 },
		{ "T1|take(s)|\n", 1 },
		{ "T1|enter(sleep@libc)|\nT1|leave(sleep@libc)|\n", 1 },
		{ "T1|enter(epoll_wait@libc)|\nT1|leave(epoll_wait@libc)|\n", 1 },
	};
	GPtrArray *none = g_ptr_array_new();
	struct infer_options off = { .splits = none };
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text = g_strdup_printf(frame, cases[i].cut);
		ck_assert_msg(inferred_violations(text, NULL) == 0, "%s", text);
		ck_assert_msg(inferred_violations(text, &off) == cases[i].whole, "%s", text);
		g_free(text);
	}
	g_ptr_array_free(none, TRUE);
}
END_TEST

START_TEST(the_whole_heap)
{
	/* figure 1 of the paper: the counter's own sections are interleaved */
	static const char text[] =
	        "T1|enter(run)|\nT2|enter(run)|\nT1|r(a.checking)|\nT2|r(a.checking)|\n"
	        "T1|r(ops)|\nT2|r(ops)|\n"
	        "T1|enter(transfer)|\nT1|w(a.checking)|\nT1|enter(inc)|\nT1|w(ops)|\n"
	        "T1|leave(inc)|\nT2|enter(inc)|\nT2|w(ops)|\nT2|leave(inc)|\n"
	        "T1|enter(inc)|\nT1|w(ops)|\nT1|leave(inc)|\nT1|leave(transfer)|\n";
	struct infer_options heap = { .heap = true };
	ck_assert_uint_eq(inferred_violations(text, NULL), 0);
	ck_assert_uint_gt(inferred_violations(text, &heap), 0);
}
END_TEST

START_TEST(a_parameter_by_its_name)
{
	static const char trace[] = "T1|enter(copy)|\nT1|r(src->n)|\nT1|w(dst->n)|\n"
	                            "T2|enter(fill)|\nT2|w(src->n)|\nT2|w(dst->n)|\n"
	                            "T2|leave(fill)|\nT1|r(%s->n)|\nT1|leave(copy)|\n";
	static const char spec[] = "atomics c { set list : struct list { n }\n"
	                           " unit fill on list\n unitfor copy(src) }\n";
	char *of_source = g_strdup_printf(trace, "src"),
	     *of_other = g_strdup_printf(trace, "dst");
	ck_assert_uint_gt(violations(of_source, spec, "list *src, list *dst"), 0);
	ck_assert_uint_eq(violations(of_other, spec, "list *src, list *dst"), 0);
	g_free(of_source);
	g_free(of_other);
}
END_TEST

START_TEST(owned_members_join_the_set_of_their_pointer)
{
	/* the unit of the inner type counts for the outer set, and nothing is found twice */
	static const char trace[] =
	        "T1|alloc(p1,16)|\nT1|w(hs.map)=p1|\nT1|fork(T2)|\n"
	        "T1|enter(add)|\nT1|w(p1.n)|\n"
	        "T2|enter(map_size)|\nT2|r(p1.n)|\nT2|r(hs.count)|\nT2|leave(map_size)|\n"
	        "T1|w(hs.count)|\nT1|leave(add)|\n";
	static const char spec[] =
	        "atomics h { set s : struct hashset { count, map }\n"
	        " set m : struct map { n }\n unit add on s\n unit map_size on m\n"
	        " owned struct hashset . map }\n";
	ck_assert_uint_eq(violations(trace, spec, "s"), 1);
}
END_TEST

START_TEST(only_shared_accesses_count_where_a_block_says_so)
{
	static const char trace[] = "T1|enter(f)|\nT1|w(n)|\nT2|enter(f)|\nT2|w(n)|\n"
	                            "T2|leave(f)|\nT1|w(n)|\nT1|leave(f)|\n";
	static const char all[] = "atomics a { set s : global n\n unit f on s }\n";
	static const char shared[] =
	        "atomics a { set s : global n\n unit f on s\n only shared }\n";
	ck_assert_uint_gt(violations(trace, all, "s"), 0);
	ck_assert_uint_eq(violations(trace, shared, "s"), 0);
	/* nor do stacks, with that line */
	static const char stack[] = "#! stack T1 p\nT1|w(p.n)|\nT2|r(p.n)|\n"
	                            "T1|enter(f)|\nT1|w(p.n)|\nT2|enter(f)|\nT2|w(p.n)|\n"
	                            "T2|leave(f)|\nT1|w(p.n)|\nT1|leave(f)|\n";
	ck_assert_uint_gt(
	        violations(stack, "atomics a { set s : struct t { n }\n unit f on s }\n", "s"),
	        0);
	ck_assert_uint_eq(violations(stack,
	                             "atomics a { set s : struct t { n }\n unit f on s\n"
	                             " only shared }\n",
	                             ""),
	                  0);
}
END_TEST

START_TEST(memory_of_locks_is_in_no_set)
{
	static const char trace[] =
	        "T1|acq(a.lock)|\nT1|w(a.lock.owner)|\nT1|w(a.x)|\nT1|w(m)|\nT1|rel(a.lock)|\n"
	        "T2|acq(a.lock)|\nT2|w(a.lock.owner)|\nT2|w(a.x)|\nT2|rel(a.lock)|\n"
	        "T2|acq(m)|\nT2|w(m)|\nT2|rel(m)|\n";
	inferred_sets(trace, "a");
	ck_assert(is_unit(trace, "set a : global \"a.x\"\n"));
}
END_TEST

START_TEST(units_that_are_inferred)
{
	struct trace *t;
	/* run is the start routine, step a unit; both touch g */
	struct atomic_model *m =
	        inferred("T0|w(g)|\nT1|enter(run)|\nT1|r(g)|\nT1|enter(step)|\nT1|w(g)|\n"
	                 "T1|leave(step)|\nT1|leave(run)|\n",
	                 &t);
	ck_assert_uint_eq(m->opens->len, 1);
	ck_assert_uint_eq(g_array_index(m->opens, struct atomic_open, 0).event, 3);
	ck_assert_ptr_nonnull(strstr(m->inferred, "unit step on g"));
	ck_assert_ptr_null(strstr(m->inferred, "unit run"));
	/* the block that is printed is one that is read */
	specs_free(specs_of(m->inferred));
	atomic_model_free(m);
	trace_close(t);
}
END_TEST

START_TEST(initialisation_does_not_count)
{
	/* T1 writes in two steps, both before anybody else looks */
	static const char text[] =
	        "T1|enter(run)|\nT1|enter(set_up)|\nT1|w(a.x)|\nT1|w(a.y)|\n"
	        "T1|leave(set_up)|\nT2|enter(run)|\nT2|enter(look)|\nT2|r(a.x)|\n"
	        "T2|r(a.y)|\nT2|leave(look)|\n";
	struct trace *t;
	struct atomic_model *m = inferred(text, &t);
	for (uint32_t v = 0; v < t->variables_count; v++)
		ck_assert_uint_ge(g_array_index(m->since, uint32_t, v), 7);
	atomic_model_free(m);
	trace_close(t);
}
END_TEST

/* `covered` activations of hit under one critical section, then two that are torn apart. */
static char grade_after(int covered)
{
	GString *s = g_string_new("T1|enter(run)|\nT2|enter(run)|\nT1|r(c.n)|\nT2|r(c.n)|\n");
	for (int i = 0; i < covered; i++)
		g_string_append(
		        s, "T1|enter(hit)|\nT1|acq(m)|\nT1|r(c.n)|\nT1|w(c.n)|\nT1|rel(m)|\n"
		           "T1|leave(hit)|\n");
	g_string_append(s,
	                "T1|enter(hit)|\nT1|r(c.n)|\nT2|enter(hit)|\nT2|r(c.n)|\nT2|w(c.n)|\n"
	                "T2|leave(hit)|\nT1|w(c.n)|\nT1|leave(hit)|\n");
	struct trace *t;
	struct atomic_model *m = inferred(s->str, &t);
	struct atomic_options all = { .all = true };
	struct report *r = atomic_find(t, m, &all, NULL);
	ck_assert_uint_gt(r->findings->len, 0);
	char grade = ((struct finding *)r->findings->pdata[0])->grade;
	report_free(r);
	atomic_model_free(m);
	trace_close(t);
	g_string_free(s, TRUE);
	return grade;
}

START_TEST(grades)
{
	ck_assert_int_eq(grade_after(4), 'A'); /* a deviation from the common case */
	ck_assert_int_eq(grade_after(0), 'C');
}
END_TEST

START_TEST(hidden_unless_asked_for)
{
	static const char text[] =
	        "T1|enter(run)|\nT2|enter(run)|\nT1|r(c.n)|\nT2|r(c.n)|\n"
	        "T1|enter(hit)|\nT1|r(c.n)|\nT2|enter(hit)|\nT2|r(c.n)|\nT2|w(c.n)|\n"
	        "T2|leave(hit)|\nT1|w(c.n)|\nT1|leave(hit)|\n";
	struct trace *t;
	struct atomic_model *m = inferred(text, &t);
	struct atomic_options shown = { 0 };
	struct report *r = atomic_find(t, m, &shown, NULL);
	ck_assert_uint_eq(r->findings->len, 0);
	ck_assert_ptr_nonnull(strstr(r->notes->pdata[r->notes->len - 1], "--all"));
	report_free(r);
	atomic_model_free(m);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("atomic sets");
	TCase *cases = tcase_create("models");
	tcase_add_test(cases, places_by_name);
	tcase_add_test(cases, a_set_for_each_instance);
	tcase_add_test(cases, units_of_the_trace_on_sets_of_a_specification);
	tcase_add_test(cases, globals_of_a_specification);
	tcase_add_test(cases, owned_members_belong_to_their_owner);
	tcase_add_test(cases, splits_of_a_specification);
	tcase_add_test(cases, sets_that_are_inferred);
	tcase_add_test(cases, members_under_no_lock_are_a_set_of_their_own);
	tcase_add_test(cases, globals_join_within_one_activation_alone);
	tcase_add_test(cases, functions_that_are_no_units);
	tcase_add_test(cases, where_units_are_cut);
	tcase_add_test(cases, the_whole_heap);
	tcase_add_test(cases, a_parameter_by_its_name);
	tcase_add_test(cases, owned_members_join_the_set_of_their_pointer);
	tcase_add_test(cases, only_shared_accesses_count_where_a_block_says_so);
	tcase_add_test(cases, memory_of_locks_is_in_no_set);
	tcase_add_test(cases, units_that_are_inferred);
	tcase_add_test(cases, initialisation_does_not_count);
	tcase_add_test(cases, grades);
	tcase_add_test(cases, hidden_unless_asked_for);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
