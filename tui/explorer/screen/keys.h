/*
 * keys.h - keys, and the requests bound to them by view.
 *
 * requests.def is the only table. A key is a code point or one of enum special_key; its name
 * ("j", "C-f", "PgDn") is used in the table, the configuration and scripts.
 */
#ifndef HEDDLE_KEYS_H
#define HEDDLE_KEYS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum view_kind {
#define VIEW(name, table, word, request, of) VIEW_##name,
#include "tui/explorer/views/views.def"
#undef VIEW
	VIEW_COUNT,
};
enum {
	IN_NOWHERE = 0,
#define VIEW(name, table, word, request, of) IN_##name = 1 << VIEW_##name,
#include "tui/explorer/views/views.def"
#undef VIEW
	IN_ALL = (1 << VIEW_COUNT) - 1,
	ANYWHERE = IN_ALL,
	IN_STEPS = IN_TRACE | IN_SOURCE | IN_STATE | IN_WITNESS,
};

/* "findings", "trace", ... */
const char *view_word(enum view_kind view);

enum special_key {
	KEYCODE_NONE = 0,
	KEYCODE_TAB = 9,
	KEYCODE_ENTER = 13,
	KEYCODE_ESC = 27,
	KEYCODE_UP = 0x110000,
	KEYCODE_DOWN,
	KEYCODE_LEFT,
	KEYCODE_RIGHT,
	KEYCODE_HOME,
	KEYCODE_END,
	KEYCODE_PAGE_UP,
	KEYCODE_PAGE_DOWN,
	KEYCODE_BACKSPACE,
	KEYCODE_DELETE,
	KEYCODE_F1,
	KEYCODE_MOUSE,  /* position: screen_mouse */
	KEYCODE_RESIZE, /* new size of the screen */
	KEYCODE_WAKE,   /* a background job has news */
	KEYCODE_END_OF_INPUT,
};
/* "PgDn" -> KEYCODE_PAGE_DOWN; KEYCODE_NONE for unknown names. */
int key_from_name(const char *name);
/* The key's name, in the caller's buffer. */
const char *key_word(int key, char buffer[16]);

enum request {
	REQUEST_NONE,
#define REQUEST(name, word, keys, views, hint, help) REQUEST_##name,
#include "tui/explorer/requests.def"
#undef REQUEST
	REQUEST_COUNT
};
struct request_info {
	const char *word, *keys;
	unsigned views;
	const char *hint, *help;
};
extern const struct request_info request_table[REQUEST_COUNT];
enum request request_from_word(const char *word);

/* The current bindings: the table's, as changed by the configuration. */
struct bindings {
	GArray *items; /* struct binding; private */
};
void bindings_init(struct bindings *b);
void bindings_release(struct bindings *b);
/* Bind the keys ("j Down"), replacing the request's. False for an unknown key. */
bool bindings_set(struct bindings *b, enum request request, const char *keys);
enum request bindings_find(const struct bindings *b, enum view_kind view, int key);
/* The request's first key in `view`, or KEYCODE_NONE; all its keys, separated by blanks. */
int bindings_key(const struct bindings *b, enum view_kind view, enum request request);
void bindings_keys(const struct bindings *b, enum request request, GString *out);

/* The manual's table: "| keys | request | where | does |" in Markdown. */
void bindings_print_table(GString *out);

#endif
