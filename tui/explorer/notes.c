/*
 * notes.c - the reader's marks, notes and bookmarks in a file beside the trace.
 *
 * JSON, so that it travels with a copy and can be read by others.  A finding is named by
 * its kind, places and variable, so that its mark survives a new recording; a bookmark by
 * its event and its place.
 */
#include "tui/explorer/session.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* Where the marks go when the trace's own folder is read-only. */
static char *fallback_path(const struct session *s)
{
	char *base = g_path_get_basename(s->notes_path);
	char *folder = g_build_filename(g_get_user_state_dir(), "heddle", NULL);
	char *path = g_build_filename(folder, base, NULL);
	g_mkdir_with_parents(folder, 0700);
	g_free(folder);
	g_free(base);
	return path;
}

static json_t *entry_to_json(const struct entry *entry)
{
	json_t *object = json_object();
	json_object_set_new(object, "finding", json_string(entry->key));
	if (entry->triage)
		json_object_set_new(object, "mark", json_string(triage_word(entry->triage)));
	if (entry->note)
		json_object_set_new(object, "note", json_string(entry->note));
	return object;
}

static json_t *load_file(const struct session *s, json_error_t *json_error)
{
	json_t *root = json_load_file(s->notes_path, 0, json_error);
	if (root || access(s->notes_path, F_OK) == 0)
		return root;
	char *path = fallback_path(s);
	root = json_load_file(path, 0, json_error);
	g_free(path);
	return root;
}

static bool has_entry(const struct session *s, const char *key)
{
	return key && g_hash_table_contains(s->by_key, key);
}

/* Marks of findings that this run has not (yet) shown again are kept as they are. */
static void keep_others(const struct session *s, json_t *findings)
{
	json_error_t json_error;
	json_t *old = load_file(s, &json_error), *item;
	size_t i;
	json_array_foreach(
	        json_object_get(old, "findings"), i,
	        item) if (!has_entry(s, json_string_value(json_object_get(item, "finding"))))
	        json_array_append(findings, item);
	json_decref(old);
}

bool session_save_notes(const struct session *s, struct error *error)
{
	json_t *root = json_object(), *findings = json_array(), *bookmarks = json_array();
	keep_others(s, findings);
	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		if (entry->triage || entry->note)
			json_array_append_new(findings, entry_to_json(entry));
	}
	for (guint i = 0; i < s->bookmarks->len; i++) {
		const struct bookmark *b = &g_array_index(s->bookmarks, struct bookmark, i);
		json_array_append_new(bookmarks,
		                      json_pack("{s:I, s:s, s:s}", "event",
		                                (json_int_t)b->event, "name", b->name, "at",
		                                trace_location_name(s->trace, b->event)));
	}
	json_object_set_new(root, "heddle-notes", json_integer(1));
	json_object_set_new(root, "findings", findings);
	json_object_set_new(root, "bookmarks", bookmarks);
	char *text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	bool good = text && file_write_whole(s->notes_path, text, strlen(text), error);
	if (!good && text &&
	    (errno == EACCES || errno == EROFS || access(s->notes_path, W_OK) < 0)) {
		char *path = fallback_path(s);
		good = file_write_whole(path, text, strlen(text), error);
		g_free(path);
	}
	free(text);
	return good;
}

static void load_entry(struct session *s, json_t *item)
{
	const char *key = json_string_value(json_object_get(item, "finding"));
	const char *mark = json_string_value(json_object_get(item, "mark"));
	const char *note = json_string_value(json_object_get(item, "note"));
	struct entry *entry = key ? g_hash_table_lookup(s->by_key, key) : NULL;
	if (entry == NULL)
		return;
	for (int m = 1; mark && m < TRIAGE_COUNT; m++)
		if (strcmp(triage_words[m], mark) == 0)
			entry->triage = (enum triage)m;
	if (note) {
		g_free(entry->note);
		entry->note = g_strdup(note);
	}
}

/* The event itself when it still is at that place, else the nearest that is: the trace may
 * be a new recording of the same program. */
static json_int_t nearest_at(const struct trace *t, json_int_t event, const char *at)
{
	json_int_t count = (json_int_t)MIN(t->events_count, (uint64_t)NONE - 1);
	for (json_int_t d = 0; d < count; d++) {
		json_int_t sides[] = { event - d, event + d };
		for (int i = 0; i < 2; i++)
			if (sides[i] >= 0 && sides[i] < count &&
			    strcmp(trace_location_name(t, (uint32_t)sides[i]), at) == 0)
				return sides[i];
		if (event - d < 0 && event + d >= count)
			break;
	}
	return event;
}

static void load_bookmark(struct session *s, json_t *item)
{
	json_int_t event = json_integer_value(json_object_get(item, "event"));
	const char *at = json_string_value(json_object_get(item, "at"));
	if (at && event >= 0)
		event = nearest_at(s->trace, event, at);
	const char *name = json_string_value(json_object_get(item, "name"));
	if (name == NULL || event < 0 || (uint64_t)event >= s->trace->events_count)
		return;
	for (guint i = 0; i < s->bookmarks->len; i++)
		if (g_array_index(s->bookmarks, struct bookmark, i).event == event)
			return;
	struct bookmark b = { (uint32_t)event, g_strdup(name) };
	g_array_append_val(s->bookmarks, b);
}

bool session_load_notes(struct session *s, struct error *error)
{
	json_error_t json_error;
	json_t *root = load_file(s, &json_error);
	if (root == NULL && access(s->notes_path, F_OK) < 0)
		return true;
	if (root == NULL)
		return error_set(error, place_line(s->notes_path, json_error.line).text,
		                 "mend or remove the file", "the notes cannot be read: %s",
		                 json_error.text);
	size_t i;
	json_t *item;
	json_array_foreach(json_object_get(root, "findings"), i, item) load_entry(s, item);
	json_array_foreach(json_object_get(root, "bookmarks"), i, item) load_bookmark(s, item);
	json_decref(root);
	return true;
}
