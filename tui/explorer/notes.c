/*
 * notes.c - marks, notes and bookmarks in a file beside the trace.
 *
 * JSON, so that other programs can read it. A finding is identified by kind, places and
 * variable, so that its mark survives a new recording; a bookmark by event and place.
 *
 * No mark may be lost: a file that is not in this format is left alone, and saving merges the
 * changes made here into the file's current contents.
 */
#include "tui/explorer/session.h"

#include "engine/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { VERSION = 1 };

/* -- the file ------------------------------------------------------------------------------ */

/* The file to use when the trace's folder is read-only; distinct for traces of one name in
 * different folders. */
static char *fallback_path(const struct session *s)
{
	enum { DIGITS = 16 };
	char *whole = g_canonicalize_filename(s->notes_path, NULL);
	char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, whole, -1);
	char *base = g_path_get_basename(whole);
	char *name = g_strdup_printf("%.*s-%s", DIGITS, sum, base);
	char *folder = g_build_filename(g_get_user_state_dir(), "heddle", NULL);
	char *path = g_build_filename(folder, name, NULL);
	g_mkdir_with_parents(folder, 0700);
	char *texts[] = { whole, sum, base, name, folder };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	return path;
}

/* The folder must be writable, since files are replaced as a whole. */
static char *path_to_write(const struct session *s)
{
	g_autofree char *folder = g_path_get_dirname(s->notes_path);
	bool writable = access(folder, W_OK) == 0 || access(folder, F_OK) < 0;
	return writable ? g_strdup(s->notes_path) : fallback_path(s);
}

static char *path_to_read(const struct session *s)
{
	char *path = path_to_write(s);
	if (access(path, F_OK) == 0)
		return path;
	g_free(path);
	return g_strdup(s->notes_path);
}

/* -- reading ------------------------------------------------------------------------------- */

static bool refuse_file(const char *path, unsigned line, const char *found, struct error *error)
{
	return error_set(error, place_line(path, line).text,
	                 "it is left as it is, and no mark is kept: mend or remove it, or keep "
	                 "marks in another file with --notes FILE",
	                 "expected notes of heddle, found %s", found);
}

static bool is_list(const json_t *root, const char *key)
{
	const json_t *list = json_object_get(root, key);
	return list == NULL || json_is_array(list);
}

static bool check_notes(const json_t *root, const char *path, struct error *error)
{
	const json_t *version = json_object_get(root, "heddle-notes");
	if (!json_is_object(root) || version == NULL)
		return refuse_file(path, 0, "a file without \"heddle-notes\"", error);
	if (!json_is_integer(version) || json_integer_value(version) != VERSION)
		return refuse_file(path, 0, "another version than 1", error);
	if (!is_list(root, "findings") || !is_list(root, "bookmarks"))
		return refuse_file(path, 0, "findings or bookmarks that are no list", error);
	return true;
}

/* The file's contents, initial ones when it is absent or empty; NULL and `error` when it is of
 * another format. */
static json_t *read_notes(const struct session *s, struct error *error)
{
	g_autofree char *path = path_to_read(s), *text = NULL;
	json_t *root = NULL;
	json_error_t trouble;
	size_t length = 0;
	if (access(path, F_OK) == 0 && !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
		refuse_file(path, 0, "no ordinary file", error);
	} else if (access(path, F_OK) < 0) {
		root = json_pack("{s:i}", "heddle-notes", VERSION);
	} else if ((text = input_text(path, "notes", &length, error)) != NULL) {
		if (length == 0)
			root = json_pack("{s:i}", "heddle-notes", VERSION);
		else if ((root = json_loadb(text, length, 0, &trouble)) == NULL)
			refuse_file(path, (unsigned)MAX(trouble.line, 0), trouble.text, error);
		else if (!check_notes(root, path, error))
			g_clear_pointer(&root, json_decref);
	}
	return root;
}

static json_t *list_of(json_t *root, const char *key)
{
	if (json_object_get(root, key) == NULL)
		json_object_set_new(root, key, json_array());
	return json_object_get(root, key);
}

/* -- findings ------------------------------------------------------------------------------ */

/* Names of a trace may be invalid UTF-8. */
static char *as_utf8(const char *text)
{
	GString *out = g_string_new(NULL);
	if (g_utf8_validate(text, -1, NULL))
		g_string_append(out, text);
	else
		append_escaped(out, text, strlen(text));
	return g_string_free(out, FALSE);
}

/* Items by the finding's key; borrows from `root`. */
static GHashTable *items_by_key(json_t *root)
{
	GHashTable *items = g_hash_table_new(g_str_hash, g_str_equal);
	json_t *item;
	size_t i;
	json_array_foreach(list_of(root, "findings"), i, item)
	{
		const char *key = json_string_value(json_object_get(item, "finding"));
		if (key)
			g_hash_table_insert(items, (gpointer)key, item);
	}
	return items;
}

static json_t *item_of(GHashTable *items, const struct entry *entry)
{
	g_autofree char *key = as_utf8(entry->key);
	return g_hash_table_lookup(items, key);
}

static enum triage mark_of(const json_t *item)
{
	const char *mark = json_string_value(json_object_get(item, "mark"));
	for (int m = 1; mark && m < TRIAGE_COUNT; m++)
		if (strcmp(triage_words[m], mark) == 0)
			return (enum triage)m;
	return TRIAGE_NONE;
}

static bool note_changed(const struct entry *entry)
{
	return g_strcmp0(entry->note, entry->kept_note) != 0;
}

/* Take mark and note from the file, unless changed here. */
static void load_entry(struct entry *entry, const json_t *item)
{
	const char *note = json_string_value(json_object_get(item, "note"));
	enum triage mark = mark_of(item);
	if (entry->triage == entry->kept_triage)
		entry->triage = mark;
	entry->kept_triage = mark;
	if (!note_changed(entry)) {
		g_free(entry->note);
		entry->note = g_strdup(note);
	}
	g_free(entry->kept_note);
	entry->kept_note = g_strdup(note);
}

static void load_entries(struct session *s, json_t *root)
{
	g_autoptr(GHashTable) items = items_by_key(root);
	for (guint i = 0; i < s->entries->len; i++)
		load_entry(s->entries->pdata[i], item_of(items, s->entries->pdata[i]));
}

static void set_or_remove(json_t *item, const char *key, const char *value)
{
	if (value == NULL || *value == '\0') {
		json_object_del(item, key);
		return;
	}
	g_autofree char *text = as_utf8(value);
	json_object_set_new(item, key, json_string(text));
}

/* Remove an item that has only a key left. */
static void remove_item(json_t *findings, const json_t *item)
{
	for (size_t i = json_array_size(findings); i-- > 0;)
		if (json_array_get(findings, i) == item)
			json_array_remove(findings, i);
}

static void merge_entry(json_t *findings, GHashTable *items, const struct entry *entry)
{
	bool marked = entry->triage != entry->kept_triage, noted = note_changed(entry);
	if (!marked && !noted)
		return;
	json_t *item = item_of(items, entry);
	if (item == NULL) {
		item = json_object();
		set_or_remove(item, "finding", entry->key);
		json_array_append_new(findings, item);
	}
	if (marked)
		set_or_remove(item, "mark", triage_word(entry->triage));
	if (noted)
		set_or_remove(item, "note", entry->note);
	if (json_object_size(item) == 1)
		remove_item(findings, item);
}

/* -- bookmarks ----------------------------------------------------------------------------- */

/* The event if it is still at that place, else the nearest that is, since the trace may be a
 * new recording. */
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

/* The event of an item; NONE when the trace lacks it. */
static uint32_t event_of(const struct session *s, const json_t *item)
{
	json_int_t event = json_is_integer(json_object_get(item, "event"))
	                           ? json_integer_value(json_object_get(item, "event"))
	                           : -1;
	const char *at = json_string_value(json_object_get(item, "at"));
	if (at && event >= 0 && event < (json_int_t)NONE)
		event = nearest_at(s->trace, event, at);
	if (!json_is_string(json_object_get(item, "name")) || event < 0 ||
	    (uint64_t)event >= s->trace->events_count)
		return NONE;
	return (uint32_t)event;
}

static const struct bookmark *bookmark_at(const GArray *bookmarks, uint32_t event)
{
	for (guint i = 0; i < bookmarks->len; i++)
		if (g_array_index(bookmarks, struct bookmark, i).event == event)
			return &g_array_index(bookmarks, struct bookmark, i);
	return NULL;
}

static void add_bookmark(GArray *bookmarks, uint32_t event, const char *name)
{
	struct bookmark b = { event, g_strdup(name) };
	if (bookmark_at(bookmarks, event) == NULL)
		g_array_append_val(bookmarks, b);
	else
		g_free(b.name);
}

/* Merge the file's bookmarks: additions and removals there are applied, changes made here are
 * kept. */
static void load_bookmarks(struct session *s, json_t *root)
{
	g_autoptr(GArray) theirs = g_array_new(FALSE, FALSE, sizeof(struct bookmark));
	json_t *item;
	size_t k;
	json_array_foreach(list_of(root, "bookmarks"), k, item)
	{
		uint32_t event = event_of(s, item);
		if (event != NONE)
			add_bookmark(theirs, event,
			             json_string_value(json_object_get(item, "name")));
	}
	for (guint i = s->bookmarks->len; i-- > 0;) {
		uint32_t event = g_array_index(s->bookmarks, struct bookmark, i).event;
		if (bookmark_at(s->kept_bookmarks, event) && !bookmark_at(theirs, event))
			g_array_remove_index(s->bookmarks, i);
	}
	for (guint i = 0; i < theirs->len; i++) {
		const struct bookmark *b = &g_array_index(theirs, struct bookmark, i);
		if (bookmark_at(s->kept_bookmarks, b->event) == NULL)
			add_bookmark(s->bookmarks, b->event, b->name);
	}
	g_array_set_size(s->kept_bookmarks, 0);
	g_array_append_vals(s->kept_bookmarks, theirs->data, theirs->len);
}

static void merge_bookmarks(const struct session *s, json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) { /* removed here */
		uint32_t event = event_of(s, json_array_get(list, i));
		if (event != NONE && bookmark_at(s->kept_bookmarks, event) &&
		    !bookmark_at(s->bookmarks, event))
			json_array_remove(list, i);
	}
	for (guint i = 0; i < s->bookmarks->len; i++) {
		const struct bookmark *b = &g_array_index(s->bookmarks, struct bookmark, i);
		const struct bookmark *kept = bookmark_at(s->kept_bookmarks, b->event);
		json_t *item = NULL, *there = NULL;
		size_t k;
		if (kept && strcmp(kept->name, b->name) == 0)
			continue;
		json_array_foreach(list, k, item) if (event_of(s, item) == b->event) there =
		        item;
		if (there == NULL) {
			there = json_pack("{s:I}", "event", (json_int_t)b->event);
			set_or_remove(there, "at", trace_location_name(s->trace, b->event));
			json_array_append_new(list, there);
		}
		set_or_remove(there, "name", b->name);
	}
}

/* -- loading and saving -------------------------------------------------------------------- */

bool session_load_notes(struct session *s, struct error *error)
{
	json_auto_t *root = read_notes(s, error);
	if (root == NULL)
		return false;
	load_entries(s, root);
	load_bookmarks(s, root);
	return true;
}

/* Lock the folder during an update; -1 and `error` when it stays locked. Closing unlocks. */
static int lock_folder(const char *path, struct error *error)
{
	enum { TRIES = 100, PAUSE = 20000 }; /* microseconds */
	g_autofree char *folder = g_path_get_dirname(path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = fd < 0;
	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		failed = flock(fd, LOCK_EX | LOCK_NB) != 0;
		if (!failed || errno != EWOULDBLOCK)
			break;
		g_usleep(PAUSE);
	}
	/* file systems without such locks are used without locking */
	if (failed && (fd < 0 || errno == EWOULDBLOCK)) {
		error_set(error, place_line(path, 0).text, "mark it again",
		          "cannot write the notes: %s", g_strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	return fd;
}

static bool write_merged(struct session *s, const char *path, struct error *error)
{
	json_auto_t *root = read_notes(s, error);
	if (root == NULL)
		return false;
	g_autoptr(GHashTable) items = items_by_key(root);
	for (guint i = 0; i < s->entries->len; i++)
		merge_entry(list_of(root, "findings"), items, s->entries->pdata[i]);
	merge_bookmarks(s, list_of(root, "bookmarks"));
	char *text = json_dumps(root, JSON_INDENT(1));
	bool good = text && file_write_whole(path, text, strlen(text), error);
	free(text);
	if (good) { /* both sides agree now */
		load_entries(s, root);
		load_bookmarks(s, root);
	}
	return good;
}

bool session_save_notes(struct session *s, struct error *error)
{
	g_autofree char *path = path_to_write(s);
	int lock = lock_folder(path, error);
	bool good = lock >= 0 && write_merged(s, path, error);
	if (lock >= 0)
		close(lock);
	return good;
}
