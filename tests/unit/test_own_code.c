/*
 * test_own_code.c - names of C++ variables as people write them.
 */
#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct {
	const char *name, *shown;
} names[] = {
	{ "counter", "counter" },
	{ "main::c._M_value", "main::c" },
	{ "list._M_impl._M_start", "list" },
	/* the user's own member behind those of the library */
	{ "instance._M_b._M_p->size", "instance->size" },
	{ "current._M_ptr->next->size", "current->next->size" },
	{ "v._M_impl._M_start[3].x", "v[3].x" },
	{ "v._M_impl._M_start[3]", "v[3]" },
	{ "a._M_elems[2]", "a[2]" },
	{ "a._M_elems[2]._M_i", "a[2]" },
	{ "grid._M_impl._M_start[3]._M_impl._M_start[4]", "grid[3][4]" },
	{ "d._M_impl._M_map[0][5]", "d" },
	{ "d._M_impl._M_map[0][5].x", "d[…].x" },
	{ "current._M_refcount._M_pi->_M_impl._M_storage.port", "current->port" },
	{ "current._M_refcount._M_pi->_M_use_count", "current's shared_ptr count" },
	{ "current._M_refcount._M_pi#2->_M_weak_count", "current#2's weak_ptr count" },
	{ "sessions._M_t._M_impl._M_header._M_parent->_M_left", "*sessions" },
	{ "lock std::mutex->_M_mutex", "lock *std::mutex" },
	{ "*top._M_b._M_p", "*top" },
	{ "Bank->_M_impl._M_storage.log._M_impl._M_node", "Bank->log" },
	{ "Bank->_M_use_count", "Bank's shared_ptr count" },
	{ "current->_vptr._Sp_counted_base", "*current" },
	{ "shape->_vptr.Shape", "shape->_vptr.Shape" },
	{ "my_M_own.x", "my_M_own.x" },
	{ "std::vector<int, std::allocator<int> >::x", "std::vector<…>::x" },
};

START_TEST(names_are_the_users)
{
	g_autoptr(GString) out = g_string_new(NULL);
	own_code_append_name(names[_i].name, out);
	ck_assert_str_eq(out->str, names[_i].shown);
}
END_TEST

START_TEST(with_the_setting_off_they_are_whole)
{
	g_autoptr(GString) out = g_string_new(NULL);
	own_code_set(false);
	own_code_append_name("instance._M_b._M_p->size", out);
	ck_assert_str_eq(out->str, "instance._M_b._M_p->size");
}
END_TEST

static const struct {
	const char *name;
	bool library;
} variables[] = {
	{ "counter", false },
	{ "jobs.c._M_impl._M_start._M_cur", true },
	{ "jobs.c._M_impl._M_map+48", true },
	{ "stack@T2.worker::l._M_owns#2", true },
	{ "Job->_M_use_count", true },
	{ "Job->_vptr._Sp_counted_base", true },
	{ "__libc_single_threaded", true },
	{ "vtable for Shape+16", true },
	{ "stack@main.local@std::async+8", true },
	{ "stack@main.local@main+8", false },
	/* what the user put into the container */
	{ "Job->_M_impl._M_storage.n", false },
	{ "v._M_impl._M_start[3]", false },
	{ "name._M_local_buf", false },
	{ "x+8", false },
};

START_TEST(variables_are_the_librarys)
{
	ck_assert_int_eq(own_code_is_library_variable(variables[_i].name),
	                 variables[_i].library);
}
END_TEST

/* The place that tells findings apart. */

#define VECTOR "/usr/include/c++/12/bits/vector.tcc"
static const char calls[] =
        "T1|enter(main)|a.cpp:1\n"
        "T1|enter(fill)|a.cpp:10\n"
        "T1|enter(std::vector::push_back)|a.cpp:20\n"
        "T1|w(x)|" VECTOR ":5\n" /* in the first call */
        "T1|enter(std::vector::grow)|" VECTOR ":6\n"
        "T1|w(x)|" VECTOR ":50\n" /* deeper */
        "T1|leave(std::vector::grow)|" VECTOR ":6\n"
        "T1|leave(std::vector::push_back)|a.cpp:20\n"
        "T1|w(y)|a.cpp:21\n" /* the user's own */
        "T1|enter(std::vector::push_back)|a.cpp:22\n"
        "T1|w(x)|" VECTOR ":5\n" /* in the second */
        "T1|enter(less)|" VECTOR ":7\n"
        "T1|w(y)|a.cpp:30\n" /* the user's own, called by the library */
        "T1|leave(less)|" VECTOR ":7\n"
        "T1|leave(std::vector::push_back)|a.cpp:22\n"
        "T1|leave(fill)|a.cpp:10\n"
        "T1|w(x)|vector.h:9\n" /* without a folder the function tells: main is the user's */
        "T1|enter(std::swap)|a.cpp:11\n"
        "T1|w(x)|vector.h:9\n"
        "T1|leave(std::swap)|a.cpp:11\n"
        "T1|w(x)|\n"
        "T1|leave(main)|a.cpp:1\n"
        "T2|w(x)|" VECTOR ":5\n"; /* no caller of the user's */

static const struct {
	uint32_t event;
	const char *site;
} places[] = {
	{ 3, "a.cpp:20" },  { 5, "a.cpp:20" },  { 8, "a.cpp:21" },
	{ 10, "a.cpp:22" }, { 12, "a.cpp:30" }, { 16, "vector.h:9" },
	{ 18, "a.cpp:11" }, { 20, "" },         { 22, VECTOR ":5" },
};

START_TEST(a_place_is_the_users_call)
{
	struct error error;
	struct trace *t = trace_from_text("t", calls, sizeof calls - 1, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		ck_assert_str_eq(own_site_name(t, places[i].event), places[i].site);
	/* asked again, from the tables */
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		ck_assert_str_eq(own_site_name(t, places[i].event), places[i].site);
	trace_close(t);
}
END_TEST

/* The table says what the frames of an event say. */
START_TEST(a_place_is_that_of_the_frames)
{
	struct error error;
	struct trace *t = trace_from_text("t", calls, sizeof calls - 1, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	for (uint32_t e = (uint32_t)t->events_count; e-- > 0;)
		if (t->events[e].location != 0)
			ck_assert_uint_eq(own_site(t, e),
			                  t->locations[own_code_place(t, e).location].site);
	trace_close(t);
}
END_TEST

START_TEST(with_the_setting_off_it_is_exact)
{
	struct error error;
	own_code_set(false);
	struct trace *t = trace_from_text("t", calls, sizeof calls - 1, NULL, &error);
	ck_assert_str_eq(own_site_name(t, 3), VECTOR ":5");
	ck_assert(!own_sites_need_stacks(t));
	trace_close(t);
}
END_TEST

START_TEST(patterns_say_whose_a_file_is)
{
	struct error error;
	own_code_add_pattern("a.cpp", false);
	own_code_add_pattern("vector.tcc", true);
	struct trace *t = trace_from_text("t", calls, sizeof calls - 1, NULL, &error);
	ck_assert_str_eq(own_site_name(t, 3), VECTOR ":5");
	ck_assert_str_eq(own_site_name(t, 12), VECTOR ":7");
	trace_close(t);
	own_code_clear_patterns();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own_code");
	TCase *c = tcase_create("own_code");

	tcase_add_loop_test(c, names_are_the_users, 0, G_N_ELEMENTS(names));
	tcase_add_loop_test(c, variables_are_the_librarys, 0, G_N_ELEMENTS(variables));
	tcase_add_test(c, with_the_setting_off_they_are_whole);
	tcase_add_test(c, a_place_is_the_users_call);
	tcase_add_test(c, a_place_is_that_of_the_frames);
	tcase_add_test(c, with_the_setting_off_it_is_exact);
	tcase_add_test(c, patterns_say_whose_a_file_is);
	suite_add_tcase(s, c);
	return suite_run(s);
}
