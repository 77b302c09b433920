/*
 * config.c - $XDG_CONFIG_HOME/heddle/config:
 *
 *     [screen]
 *     colours = auto | none | 8 | 256
 *     mouse = true
 *     ascii = false
 *     [colours]          a style of styles.def = a colour's number, or "default"
 *     race = 208
 *     [keys]             a request of requests.def = keys
 *     page-down = PgDn C-f
 */
#include "tui/explorer/explorer.h"
#include "tui/explorer/settings.h"

#include <string.h>

static bool refuse_file(const char *path, const char *group, const char *key,
                        const char *expected, struct error *error)
{
	return error_set(error, path, "mend the line or remove it", "[%s] %s: expected %s",
	                 group, key, expected);
}

/* GLib returns NULL for invalid UTF-8 or escapes. */
static char *text_of(GKeyFile *file, const char *group, const char *key)
{
	char *text = g_key_file_get_string(file, group, key, NULL);
	return text ? text : g_strdup("\xff");
}

static bool load_flag(GKeyFile *file, const char *path, const char *key, bool *flag,
                      struct error *error)
{
	GError *trouble = NULL;
	if (!g_key_file_has_key(file, "screen", key, NULL))
		return true;
	bool value = g_key_file_get_boolean(file, "screen", key, &trouble);
	if (trouble) {
		g_error_free(trouble);
		return refuse_file(path, "screen", key, "true or false", error);
	}
	*flag = value;
	return true;
}

static bool load_screen(struct config *c, GKeyFile *file, const char *path, struct error *error)
{
	static const char *const words[] = { "auto", "none", "8", "256" };
	bool given = g_key_file_has_key(file, "screen", "colours", NULL);
	g_autofree char *colours = given ? text_of(file, "screen", "colours") : NULL;
	bool good = !given;
	for (size_t i = 0; colours && i < G_N_ELEMENTS(words); i++) {
		if (strcmp(colours, words[i]) == 0) {
			c->screen.colours = (enum colour_mode)i;
			good = true;
		}
	}
	if (!good)
		return refuse_file(path, "screen", "colours", "auto, none, 8 or 256", error);
	g_auto(GStrv) keys = g_key_file_get_keys(file, "screen", NULL, NULL);
	for (char **key = keys; key && *key && good; key++) {
		enum setting found = settings_find(*key);
		good = (found != SETTING_COUNT &&
		        strcmp(settings_table[found].group, "screen") == 0) ||
		       refuse_file(path, "screen", *key,
		                   "colours, palette, mouse, ascii, projector or witness-calls",
		                   error);
	}
	return good && load_flag(file, path, "mouse", &c->screen.mouse, error) &&
	       load_flag(file, path, "ascii", &c->ascii, error);
}

static bool load_colours(struct config *c, GKeyFile *file, const char *path,
                         struct error *error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, "colours", NULL, NULL);
	bool good = true;
	for (char **key = keys; key && *key && good; key++) {
		char *value = text_of(file, "colours", *key), *end;
		guint64 number = g_ascii_strtoull(value, &end, 10);
		bool plain = strcmp(value, "default") == 0;
		good = plain || (*end == '\0' && end != value && number < 256);
		bool known = false;
		for (int s = 0; good && s < STYLE_COUNT; s++) {
			if (strcmp(style_table[s].word, *key) != 0)
				continue;
			known = true;
			c->screen.custom[s] = plain ? -1 : (short)number;
		}
		if (!good || !known)
			good = refuse_file(path, "colours", *key,
			                   good ? "the name of a style"
			                        : "a colour 0 to 255, or default",
			                   error);
		g_free(value);
	}
	return good;
}

static bool load_keys(struct config *c, GKeyFile *file, const char *path, struct error *error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, "keys", NULL, NULL);
	struct bindings trial;
	bool good = true;
	bindings_init(&trial);
	for (char **key = keys; key && *key && good; key++) {
		char *value = text_of(file, "keys", *key);
		enum request request = request_from_word(*key);
		if (request == REQUEST_NONE)
			good = refuse_file(path, "keys", *key,
			                   "the name of a request (? lists them)", error);
		else if (!bindings_set(&trial, request, value))
			good = refuse_file(path, "keys", *key, "keys such as j, C-f, PgDn",
			                   error);
		g_ptr_array_add(c->keys, g_strdup(*key));
		g_ptr_array_add(c->keys, value);
	}
	bindings_release(&trial);
	return good;
}

/* The values of settings.def, of any group. */
static bool load_settings(GKeyFile *file, const char *path, struct error *error)
{
	bool good = true;
	for (int i = 0; i < SETTING_COUNT && good; i++) {
		const struct setting_info *info = &settings_table[i];
		if (!g_key_file_has_key(file, info->group, info->word, NULL))
			continue;
		g_autofree char *value = text_of(file, info->group, info->word);
		good = settings_accepts((enum setting)i, value) ||
		       refuse_file(path, info->group, info->word,
		                   *info->values ? info->values : "text", error);
		if (good)
			settings_apply(NULL, (enum setting)i, value);
	}
	g_auto(GStrv) keys = g_key_file_get_keys(file, "my-code", NULL, NULL);
	for (char **key = keys; key && *key && good; key++) {
		enum setting found = settings_find(*key);
		good = (found != SETTING_COUNT &&
		        strcmp(settings_table[found].group, "my-code") == 0) ||
		       refuse_file(path, "my-code", *key, "just-my-code, mine or theirs",
		                   error);
	}
	return good;
}

static bool groups_are_known(GKeyFile *file, const char *path, struct error *error)
{
	static const char *const known[] = { "screen",  "colours", "keys",
		                             "my-code", "build",   NULL };
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	bool good = true;
	for (char **group = groups; *group && good; group++)
		if (!g_strv_contains(known, *group))
			good = error_set(error, path, "mend the line or remove it",
			                 "[%s]: expected [screen], [colours], [keys], "
			                 "[my-code] or [build]",
			                 *group);
	return good;
}

bool config_load(struct config *c, struct error *error)
{
	*c = (struct config){ .screen = { .mouse = true } };
	c->keys = g_ptr_array_new_with_free_func(g_free);
	for (int s = 0; s < STYLE_COUNT; s++)
		c->screen.custom[s] = -2;
	g_autofree char *path = settings_path();
	GKeyFile *file = g_key_file_new();
	GError *trouble = NULL;
	bool good = true;
	if (g_file_test(path, G_FILE_TEST_EXISTS) ||
	    g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
		if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
			good = error_set(error, path, "remove it", "is no ordinary file");
		else if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &trouble))
			good = error_set(error, path, "mend it or remove it", "%s",
			                 trouble->message);
		else
			good = groups_are_known(file, path, error) &&
			       load_screen(c, file, path, error) &&
			       load_settings(file, path, error) &&
			       load_colours(c, file, path, error) &&
			       load_keys(c, file, path, error);
	}
	for (int s = 0; s < STYLE_COUNT; s++)
		if (c->screen.custom[s] == -2)
			c->screen.custom[s] = settings_colour((enum style)s);
	g_clear_error(&trouble);
	g_key_file_free(file);
	return good;
}

void config_release(struct config *c)
{
	if (c->keys)
		g_ptr_array_free(c->keys, TRUE);
	c->keys = NULL;
}

void config_apply_keys(const struct config *c, struct app *app)
{
	for (guint i = 0; i + 1 < c->keys->len; i += 2)
		bindings_set(&app->bindings, request_from_word(c->keys->pdata[i]),
		             c->keys->pdata[i + 1]);
}
