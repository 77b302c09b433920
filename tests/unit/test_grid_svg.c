/*
 * test_grid_svg.c - the screen as an SVG (tui/explorer/screen/grid_svg.c): text escaped, runs
 * of one look as one element, colours of all ranges, attributes; blanks without a background
 * draw nothing.
 */
#include "tests/support/suite.h"
#include "tui/explorer/screen/grid.h"

#include <check.h>
#include <string.h>

static GString *drawn(const struct grid *grid)
{
	GString *out = g_string_new(NULL);
	grid_svg(grid, out);
	ck_assert(g_str_has_prefix(out->str, "<svg "));
	ck_assert(g_str_has_suffix(out->str, "</svg>\n"));
	return out;
}

static unsigned count_of(const char *text, const char *part)
{
	unsigned count = 0;
	for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
		count++;
	return count;
}

START_TEST(text_is_escaped)
{
	struct grid grid;
	grid_init(&grid, 2, 20, false);
	pane_text(pane_whole(&grid), 0, 0, STYLE_TEXT, "a<b && c>d");
	GString *out = drawn(&grid);
	ck_assert_ptr_nonnull(strstr(out->str, "a&lt;b &amp;&amp; c&gt;d"));
	ck_assert_uint_eq(count_of(out->str, "<text "), 1);
	ck_assert_uint_eq(count_of(out->str, "</text>"), 1);
	g_string_free(out, TRUE);
	grid_release(&grid);
}
END_TEST

START_TEST(blanks_are_not_drawn)
{
	struct grid grid;
	grid_init(&grid, 3, 10, false);
	GString *out = drawn(&grid);
	ck_assert_uint_eq(count_of(out->str, "<text "), 0);
	ck_assert_uint_eq(count_of(out->str, "<rect "), 1);
	g_string_free(out, TRUE);
	grid_release(&grid);
}
END_TEST

START_TEST(a_reversed_row_has_a_background)
{
	struct grid grid;
	grid_init(&grid, 2, 10, false);
	pane_text(pane_whole(&grid), 1, 0, STYLE_TEXT, "row");
	pane_highlight(pane_whole(&grid), 1, ATTR_REVERSE);
	GString *out = drawn(&grid);
	ck_assert_uint_eq(count_of(out->str, "<rect "), 2);
	ck_assert_ptr_nonnull(strstr(out->str, "width=\"80\" height=\"17\" fill=\"#d8d8d8\""));
	ck_assert_ptr_nonnull(strstr(out->str, "fill=\"#16181d\""));
	g_string_free(out, TRUE);
	grid_release(&grid);
}
END_TEST

/* A style a row: its colour is one of the 16, of the cube or of the greys. */
START_TEST(styles_have_their_colours)
{
	struct grid grid;
	grid_init(&grid, STYLE_COUNT, 4, false);
	for (int s = 0; s < STYLE_COUNT; s++)
		pane_text(pane_whole(&grid), s, 0, (enum style)s, "x");
	GString *out = drawn(&grid);
	unsigned bold = 0;
	for (int s = 0; s < STYLE_COUNT; s++)
		bold += (style_table[s].attributes & ATTR_BOLD) != 0;
	ck_assert_uint_eq(count_of(out->str, ">x"), STYLE_COUNT);
	ck_assert_uint_eq(count_of(out->str, "font-weight=\"bold\""), bold);
	ck_assert_ptr_nonnull(strstr(out->str, "#8a8a8a")); /* 245: a grey */
	ck_assert_ptr_nonnull(strstr(out->str, "#00afff")); /* 39: of the cube */
	g_string_free(out, TRUE);
	grid_release(&grid);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("svg of a grid");
	TCase *c = tcase_create("svg");
	tcase_add_test(c, text_is_escaped);
	tcase_add_test(c, blanks_are_not_drawn);
	tcase_add_test(c, a_reversed_row_has_a_background);
	tcase_add_test(c, styles_have_their_colours);
	suite_add_tcase(s, c);
	return suite_run(s);
}
