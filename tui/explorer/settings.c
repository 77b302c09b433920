/* settings.c - see settings.h. */
#include "tui/explorer/settings.h"

#include "engine/trace/own_code.h"
#include "tui/explorer/commands/commands.h"

#include <string.h>

const struct setting_info settings_table[SETTING_COUNT] = {
#define SETTING(name, word, group, values, normal, help) { word, group, values, normal, help },
#include "tui/explorer/settings.def"
#include "tui/explorer/messages.h"
#undef SETTING
};

static char *values[SETTING_COUNT]; /* owned; NULL: the default */

char *settings_path(void)
{
	return g_build_filename(g_get_user_config_dir(), "heddle", "config", NULL);
}

enum setting settings_find(const char *word)
{
	int i = 0;
	while (i < SETTING_COUNT && strcmp(settings_table[i].word, word) != 0)
		i++;
	return (enum setting)i;
}

bool settings_accepts(enum setting setting, const char *value)
{
	if (*settings_table[setting].values == '\0')
		return g_utf8_validate(value, -1, NULL) && strpbrk(value, "\n\r") == NULL;
	g_auto(GStrv) words = g_strsplit(settings_table[setting].values, "|", -1);
	return g_strv_contains((const char *const *)words, value);
}

/* The present value; borrowed. */
static const char *settings_value(enum setting setting)
{
	return values[setting] ? values[setting] : settings_table[setting].normal;
}

bool settings_is(enum setting setting, const char *value)
{
	return strcmp(settings_value(setting), value) == 0;
}

bool settings_project(void)
{
	return settings_is(SETTING_PROJECTOR, "on");
}

static void add_patterns(enum setting setting, bool own)
{
	g_auto(GStrv) globs = g_strsplit(settings_value(setting), ";", -1);
	for (char **glob = globs; *glob; glob++)
		if (*g_strstrip(*glob))
			own_code_add_pattern(*glob, own);
}

static void apply_my_code(void)
{
	own_code_set(strcmp(settings_value(SETTING_MY_CODE), "on") == 0);
	own_code_clear_patterns();
	add_patterns(SETTING_THEIRS, false);
	add_patterns(SETTING_MINE, true);
}

void settings_apply(struct app *app, enum setting setting, const char *value)
{
	g_free(values[setting]);
	values[setting] = g_strdup(value);
	if (strcmp(settings_table[setting].group, "my-code") == 0) {
		apply_my_code();
		if (app) {
			session_rename(app->session);
			app_forget(app);
		}
	}
	if (app && setting == SETTING_CALLS)
		app_forget(app);
	if (app && setting == SETTING_ASCII) {
		app->options.ascii = strcmp(value, "true") == 0;
		app->grid.ascii = app->options.ascii;
	}
}

void settings_load_my_code(void)
{
	g_autofree char *path = settings_path();
	GKeyFile *file = g_key_file_new();
	if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
	    g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL)) {
		for (int i = 0; i < SETTING_COUNT; i++) {
			const struct setting_info *info = &settings_table[i];
			g_autofree char *value =
			        strcmp(info->group, "my-code") == 0
			                ? g_key_file_get_string(file, info->group, info->word,
			                                        NULL)
			                : NULL;
			if (value && settings_accepts((enum setting)i, value))
				settings_apply(NULL, (enum setting)i, value);
		}
	}
	g_key_file_free(file);
}

/* Write the value to the file, and keep the file's other contents. */
static bool keep(const char *group, const char *key, const char *value, struct error *error)
{
	g_autofree char *path = settings_path(), *folder = g_path_get_dirname(path);
	GKeyFile *file = g_key_file_new();
	GError *trouble = NULL;
	bool good = true;
	if (g_file_test(path, G_FILE_TEST_EXISTS))
		good = g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_COMMENTS,
		                                 &trouble);
	if (!good)
		error_set(error, path, "mend it or remove it", "%s", trouble->message);
	g_clear_error(&trouble);
	if (good) {
		gsize length;
		g_key_file_set_string(file, group, key, value);
		g_autofree char *text = g_key_file_to_data(file, &length, NULL);
		g_mkdir_with_parents(folder, 0700);
		good = file_write_whole(path, text, length, error);
	}
	g_key_file_free(file);
	return good;
}

static bool settings_keep(enum setting setting, const char *value, struct error *error)
{
	return keep(settings_table[setting].group, settings_table[setting].word, value, error);
}

/* -- build commands, one for each folder ----------------------------------------------------- */

static const char build_group[] = "build";

/* A folder as a key of the file, which cannot contain '=', '[' and ']'. */
static char *folder_key(const char *folder)
{
	return g_uri_escape_string(folder, "/", FALSE);
}

char *settings_build(const char *folder)
{
	char *path = settings_path(), *key = folder_key(folder), *command = NULL;
	GKeyFile *file = g_key_file_new();
	if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
	    g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
		command = g_key_file_get_string(file, build_group, key, NULL);
	g_key_file_free(file);
	g_free(path);
	g_free(key);
	return command;
}

bool settings_keep_build(const char *folder, const char *command, struct error *error)
{
	g_autofree char *key = folder_key(folder);
	return keep(build_group, key, command, error);
}

/* Blue, orange, yellow and greys, which people who cannot distinguish red and green see as
 * different. */
static const struct {
	enum style style;
	short colour;
} colour_blind[] = {
	{ STYLE_RACE, 214 },    { STYLE_NONE, 33 },     { STYLE_OPEN, 228 },
	{ STYLE_CHANGED, 228 }, { STYLE_LOCK, 75 },     { STYLE_MOVED, 252 },
	{ STYLE_MISSING, 252 }, { STYLE_ERROR, 208 },   { STYLE_THREAD0, 75 },
	{ STYLE_THREAD1, 214 }, { STYLE_THREAD2, 252 }, { STYLE_THREAD3, 228 },
	{ STYLE_THREAD4, 33 },  { STYLE_THREAD5, 208 }, { STYLE_THREAD6, 117 },
	{ STYLE_THREAD7, 245 },
};

short settings_colour(enum style style)
{
	if (strcmp(settings_value(SETTING_PALETTE), "colour-blind") != 0)
		return -2;
	for (size_t i = 0; i < G_N_ELEMENTS(colour_blind); i++)
		if (colour_blind[i].style == style)
			return colour_blind[i].colour;
	return -2;
}

/* -- commands ------------------------------------------------------------------------------- */

static void list_settings(struct app *app)
{
	GString *out = g_string_new(NULL);
	g_autofree char *path = settings_path();
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_info *info = &settings_table[i];
		const char *value = settings_value((enum setting)i);
		g_string_append_printf(out, "%s = %s\t%s%s%s%s\n", info->word,
		                       *value ? value : "(none)", info->help,
		                       *info->values ? " (" : "", info->values,
		                       *info->values ? ")" : "");
	}
	g_string_append_printf(out, "\n:set NAME VALUE changes one and keeps it in ");
	append_escaped(out, path, strlen(path));
	g_string_append(out, "\n");
	app_show_text(app, "Settings", out);
}

static bool set_one(struct app *app, enum setting setting, const char *value,
                    struct error *error)
{
	const struct setting_info *info = &settings_table[setting];
	if (!settings_accepts(setting, value))
		return refuse(error, NO_SUCH_VALUE, info->word,
		              *info->values ? info->values : A_LINE_OF_TEXT);
	settings_apply(app, setting, value);
	if (!settings_keep(setting, value, error))
		return false;
	app_refresh(app);
	app_say(app, SAYS_VALUE, info->word, settings_value(setting));
	return true;
}

/* `set`, `set?`, `set NAME?`, `set NAME VALUE`, `set NAME=VALUE` */
bool word_set(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0') {
		list_settings(app);
		return true;
	}
	gsize length = strcspn(arguments, " =?");
	g_autofree char *name = g_strndup(arguments, length);
	enum setting setting = settings_find(name);
	const char *rest = arguments + length;
	rest += strspn(rest, " ");
	bool asks = *rest == '?' || *rest == '\0', good = true;
	if (*rest == '=')
		rest += 1 + strspn(rest + 1, " ");
	if (setting == SETTING_COUNT)
		good = refuse(error, NO_SETTING, name);
	else if (asks)
		app_say(app, SAYS_VALUE, name, settings_value(setting));
	else
		good = set_one(app, setting, rest, error);
	return good;
}

/* Sets it for this session only; `set just-my-code` keeps it. */
bool word_just_my_code(struct app *app, const char *arguments, struct error *error)
{
	const char *value = *arguments ? arguments : own_code_is_on() ? "off" : "on";
	if (!settings_accepts(SETTING_MY_CODE, value))
		return refuse(error, WANTS_ON_OR_OFF);
	settings_apply(app, SETTING_MY_CODE, value);
	session_forget_roles(app->session);
	app_refresh(app);
	app_say(app, own_code_is_on() ? SAYS_MY_CODE : SAYS_ALL_CODE);
	return true;
}
