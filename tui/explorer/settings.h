/*
 * settings.h - the settings of settings.def: their values, `:set`, and the file that keeps
 * them, $XDG_CONFIG_HOME/heddle/config.
 */
#ifndef HEDDLE_SETTINGS_H
#define HEDDLE_SETTINGS_H

#include "tui/explorer/app.h"

enum setting {
#define SETTING(name, word, group, values, normal, help) SETTING_##name,
#include "tui/explorer/settings.def"
#undef SETTING
	SETTING_COUNT
};
extern const struct setting_info {
	const char *word, *group, *values, *normal, *help;
} settings_table[SETTING_COUNT];

/* The path of the file, owned by the caller. */
char *settings_path(void);
/* The setting of that name, or SETTING_COUNT. */
enum setting settings_find(const char *word);
/* Is it one of the setting's values? */
bool settings_accepts(enum setting setting, const char *value);
/* Use the value in this process; with `app` the screen follows. The value must be accepted. */
void settings_apply(struct app *app, enum setting setting, const char *value);
/* The file's values of the group [my-code], for commands without a screen; others are left
 * alone. A file that cannot be read is passed over: the explorer reports the error. */
void settings_load_my_code(void);
/* Is this its value now? */
bool settings_is(enum setting setting, const char *value);
/* The layout for large text: one thing at a time, in wide lines. */
bool settings_project(void);
/* The build command kept for a folder, owned; NULL: none. */
char *settings_build(const char *folder);
bool settings_keep_build(const char *folder, const char *command, struct error *error);
/* The colour of a style under the palette, or -2: the style's own. */
short settings_colour(enum style style);

#endif
