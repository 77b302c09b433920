/*
 * commands_screen.c - commands on views, threads, keys, and for scripts.
 */
#include "tui/explorer/commands/commands.h"

#include "tui/explorer/export.h"
#include "tui/explorer/exploration/tree.h"

#include <string.h>

/* -- the screen --------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum request request;
} view_names[VIEW_COUNT] = {
#define VIEW(kind, table, word, go, of) { word, REQUEST_##go },
#include "tui/explorer/views/views.def"
#include "tui/explorer/messages.h"
#undef VIEW
};

const char *view_name(size_t i)
{
	return i < VIEW_COUNT && view_names[i].request != REQUEST_NONE ? view_names[i].name
	                                                               : NULL;
}

bool word_view(struct app *app, const char *arguments, struct error *error)
{
	g_autoptr(GString) names = g_string_new(NULL);
	const char *name;
	bool found = false;
	for (size_t i = 0; !found && (name = view_name(i)) != NULL; i++) {
		found = *arguments && g_str_has_prefix(name, arguments);
		if (found)
			app_request(app, view_names[i].request, 0);
		else
			g_string_append_printf(names, "%s%s",
			                       i == 0             ? ""
			                       : view_name(i + 1) ? ", "
			                                          : " or ",
			                       name);
	}
	if (!found)
		refuse(error, WANTS_ONE_OF, names->str);
	return found;
}

static bool set_hidden(struct app *app, const char *name, bool hidden, struct error *error)
{
	const struct trace *t = app_trace(app);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		if (strcmp(trace_thread_name(t, i), name) != 0)
			continue;
		app->session->hidden[i] = hidden;
		app_refresh(app);
		return true;
	}
	return refuse(error, NO_THREAD, name);
}

bool word_hide(struct app *app, const char *arguments, struct error *error)
{
	return set_hidden(app, arguments, true, error);
}

bool word_show(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments)
		return set_hidden(app, arguments, false, error);
	session_show_all(app->session);
	app_refresh(app);
	return true;
}

/* Open a tree of executions by path. */
bool word_exploration(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return refuse(error, WANTS_EXPLORATION);
	struct tree *tree = tree_open(arguments, error);
	if (tree == NULL)
		return false;
	tree_free(tree);
	g_free(app->tree_path);
	app->tree_path = g_strdup(arguments);
	app_need_point(app);
	app_go(app, VIEW_EXPLORE);
	app_refresh(app);
	return true;
}

bool word_directory(struct app *app, const char *arguments, struct error *error)
{
	if (!g_file_test(arguments, G_FILE_TEST_IS_DIR))
		return refuse(error, NO_DIRECTORY, arguments);
	sources_add_folder(&app->sources, arguments);
	return true;
}

bool word_bind(struct app *app, const char *arguments, struct error *error)
{
	const char *keys = strchr(arguments, ' ');
	g_autofree char *name =
	        keys ? g_strndup(arguments, keys - arguments) : g_strdup(arguments);
	enum request request = request_from_word(name);
	if (request == REQUEST_NONE)
		return refuse(error, NO_REQUEST, arguments);
	if (keys == NULL || !bindings_set(&app->bindings, request, keys + 1))
		return refuse(error, WANTS_KEYS);
	return true;
}

bool word_press(struct app *app, const char *arguments, struct error *error)
{
	g_auto(GStrv) names = g_strsplit(arguments, " ", -1);
	bool good = true;
	for (char **name = names; *name && good; name++) {
		int key = key_from_name(*name);
		if (**name == '\0')
			continue;
		if (key == KEYCODE_NONE)
			good = refuse(error, NO_KEY, *name);
		else
			app_key(app, key);
	}
	return good;
}

bool word_wait(struct app *app, const char *arguments, struct error *error)
{
	if (!app->scripted)
		return refuse(error, NO_WAIT_HERE);
	while (!jobs_idle(&app->jobs))
		app_await(app);
	return true;
}

bool word_save_screen(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return refuse(error, WANTS_FILE);
	g_free(app->message);
	app->message = NULL;
	app_draw(app);
	g_autoptr(GString) text = g_string_new(NULL);
	if (g_str_has_suffix(arguments, ".svg"))
		grid_svg(&app->grid, text);
	else
		grid_dump(&app->grid, false, text);
	export_text(app, arguments, text->str);
	return true;
}

bool word_quit(struct app *app, const char *arguments, struct error *error)
{
	app->quit = true;
	return true;
}
