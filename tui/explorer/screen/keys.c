/*
 * keys.c - names of keys, the table of requests, the current bindings; see keys.h.
 */
#include "tui/explorer/screen/keys.h"

#include <stdio.h>
#include <string.h>

const struct request_info request_table[REQUEST_COUNT] = {
	[REQUEST_NONE] = { "none", "", 0, NULL, "" },
#define REQUEST(name, word, keys, views, hint, help) \
	[REQUEST_##name] = { word, keys, views, hint, help },
#include "tui/explorer/requests.def"
#undef REQUEST
};

static const struct {
	const char *name;
	int key;
} special_names[] = {
	{ "Tab", KEYCODE_TAB },       { "Enter", KEYCODE_ENTER },
	{ "Esc", KEYCODE_ESC },       { "Space", ' ' },
	{ "Up", KEYCODE_UP },         { "Down", KEYCODE_DOWN },
	{ "Left", KEYCODE_LEFT },     { "Right", KEYCODE_RIGHT },
	{ "Home", KEYCODE_HOME },     { "End", KEYCODE_END },
	{ "PgUp", KEYCODE_PAGE_UP },  { "PgDn", KEYCODE_PAGE_DOWN },
	{ "F1", KEYCODE_F1 },         { "Backspace", KEYCODE_BACKSPACE },
	{ "Delete", KEYCODE_DELETE },
};

int key_from_name(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(special_names); i++)
		if (strcmp(special_names[i].name, name) == 0)
			return special_names[i].key;
	if (name[0] == 'C' && name[1] == '-' && g_ascii_isalpha(name[2]) && name[3] == '\0')
		return g_ascii_tolower(name[2]) - 'a' + 1;
	gunichar rune = g_utf8_get_char_validated(name, -1);
	if (*name && rune < 0x110000 && *g_utf8_next_char(name) == '\0' && rune >= ' ')
		return (int)rune;
	return KEYCODE_NONE;
}

const char *key_word(int key, char buffer[16])
{
	for (size_t i = 0; i < G_N_ELEMENTS(special_names); i++)
		if (special_names[i].key == key)
			return special_names[i].name;
	if (key > 0 && key < 27)
		snprintf(buffer, 16, "C-%c", 'a' + key - 1);
	else
		buffer[g_unichar_to_utf8((gunichar)key, buffer)] = '\0';
	return buffer;
}

enum request request_from_word(const char *word)
{
	for (int r = 1; r < REQUEST_COUNT; r++)
		if (strcmp(request_table[r].word, word) == 0)
			return (enum request)r;
	return REQUEST_NONE;
}

struct binding {
	int key;
	enum request request;
};

void bindings_init(struct bindings *b)
{
	b->items = g_array_new(FALSE, FALSE, sizeof(struct binding));
	for (int r = 1; r < REQUEST_COUNT; r++)
		bindings_set(b, (enum request)r, request_table[r].keys);
}

void bindings_release(struct bindings *b)
{
	if (b->items)
		g_array_free(b->items, TRUE);
	b->items = NULL;
}

static void unbind(struct bindings *b, enum request request)
{
	for (guint i = b->items->len; i-- > 0;)
		if (g_array_index(b->items, struct binding, i).request == request)
			g_array_remove_index(b->items, i);
}

bool bindings_set(struct bindings *b, enum request request, const char *keys)
{
	g_auto(GStrv) words = g_strsplit_set(keys, " ", -1);
	bool good = true;
	for (char **w = words; *w; w++)
		good = good && (**w == '\0' || key_from_name(*w) != KEYCODE_NONE);
	if (good)
		unbind(b, request);
	for (char **w = words; good && *w; w++) {
		struct binding binding = { key_from_name(*w), request };
		if (**w)
			g_array_append_val(b->items, binding);
	}
	return good;
}

/* The request of the fewest views wins, so that a view can override a global key. */
enum request bindings_find(const struct bindings *b, enum view_kind view, int key)
{
	enum request found = REQUEST_NONE;
	for (guint i = 0; i < b->items->len; i++) {
		struct binding binding = g_array_index(b->items, struct binding, i);
		if (binding.key != key || !(request_table[binding.request].views & 1u << view))
			continue;
		if (found == REQUEST_NONE || request_table[binding.request].views != ANYWHERE)
			found = binding.request;
	}
	return found;
}

int bindings_key(const struct bindings *b, enum view_kind view, enum request request)
{
	for (guint i = 0; i < b->items->len; i++) {
		struct binding binding = g_array_index(b->items, struct binding, i);
		if (binding.request == request &&
		    bindings_find(b, view, binding.key) == request)
			return binding.key;
	}
	return KEYCODE_NONE;
}

void bindings_keys(const struct bindings *b, enum request request, GString *out)
{
	char buffer[16];
	const char *blank = "";
	for (guint i = 0; i < b->items->len; i++) {
		struct binding binding = g_array_index(b->items, struct binding, i);
		if (binding.request != request)
			continue;
		g_string_append_printf(out, "%s%s", blank, key_word(binding.key, buffer));
		blank = " ";
	}
}

static const char *const view_words[VIEW_COUNT] = {
#define VIEW(name, table, word, request, of) [VIEW_##name] = word,
#include "tui/explorer/views/views.def"
#undef VIEW
};

const char *view_word(enum view_kind view)
{
	return view_words[view];
}

void bindings_print_table(GString *out)
{
	g_string_append(out, "| keys | request | where | does |\n| --- | --- | --- | --- |\n");
	for (int r = 1; r < REQUEST_COUNT; r++) {
		const struct request_info *info = &request_table[r];
		g_string_append_printf(out, "| `%s` | %s | ", info->keys, info->word);
		const char *comma = "";
		for (int v = 0; v < VIEW_COUNT && info->views != ANYWHERE; v++) {
			if (!(info->views & 1u << v))
				continue;
			g_string_append_printf(out, "%s%s", comma, view_words[v]);
			comma = ", ";
		}
		g_string_append_printf(out, "%s | %s |\n", info->views == ANYWHERE ? "all" : "",
		                       info->help);
	}
}
