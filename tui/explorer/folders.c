/*
 * folders.c - see folders.h.
 */
#include "tui/explorer/folders.h"

#include "engine/trace/own_code.h"
#include "tui/explorer/words/missing_code.h"

#include <string.h>

const char *const grouping_words[GROUPINGS] = {
	[GROUPED_NOT] = "none",
	[GROUPED_BY_VARIABLE] = "variable",
	[GROUPED_BY_FUNCTION] = "function",
	[GROUPED_BY_THREAD] = "thread",
	[GROUPED_BY_PLACE] = "place",
	[GROUPED_BY_OUTCOME] = "outcome",
};

static void folder_clear(void *data)
{
	struct folder *f = data;
	g_free(f->name);
	g_array_unref(f->members);
}

void folders_init(struct folders *f)
{
	f->by = GROUPED_NOT;
	f->list = g_array_new(FALSE, FALSE, sizeof(struct folder));
	g_array_set_clear_func(f->list, folder_clear);
	f->opened = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	f->lines = g_array_new(FALSE, FALSE, sizeof(int));
}

void folders_release(struct folders *f)
{
	g_array_unref(f->list);
	g_hash_table_unref(f->opened);
	g_array_unref(f->lines);
}

/* -- names ----------------------------------------------------------------------------------- */

static char *function_of(const struct session *s, uint32_t event)
{
	GString *name = g_string_new(NULL);
	struct frame place = own_code_place(s->trace, event);
	own_code_append_function(trace_string(s->trace, place.function), name);
	if (name->len == 0)
		g_string_append(name, "(no function)");
	return g_string_free(name, FALSE);
}

/* The role of the event's thread without its number and argument. */
static char *role_of(const struct session *s, uint32_t event)
{
	uint32_t thread = s->trace->events[event].thread;
	const char *name = trace_thread_name(s->trace, thread);
	const char *whole = session_thread(s, thread), *role = strchr(whole, ' ');
	if (role == NULL)
		return g_strdup(name);
	const char *end = strrchr(role, '(');
	return g_strndup(role + 1, end ? (gsize)(end - role - 1) : strlen(role + 1));
}

static char *line_of(const struct session *s, uint32_t event)
{
	const struct location *l = own_code_location(s->trace, event);
	if (l->file == 0 || l->line == 0)
		return g_strdup(own_code_place_name(s->trace, event));
	g_autofree char *base = g_path_get_basename(trace_string(s->trace, l->file));
	char *line = g_strdup_printf("%s:%u", base, l->line);
	return line;
}

/* "deposit and report", "worker": the names of both sides, in an order independent of the
 * events'; takes ownership. */
static char *both(char *one, char *two)
{
	int order = strcmp(one, two);
	char *name = order == 0 ? g_strdup(one)
	                        : g_strdup_printf("%s and %s", order < 0 ? one : two,
	                                          order < 0 ? two : one);
	g_free(one);
	g_free(two);
	return name;
}

static char *outcome_of(const struct session *s, const struct entry *e)
{
	static const char *const words[] = {
		[VERDICT_RACE] = "can happen",
		[VERDICT_HAPPENED] = "happened in this run",
		[VERDICT_UNKNOWN] = "open",
		[VERDICT_CANDIDATE] = "not decided yet",
		[VERDICT_IMPOSSIBLE] = "impossible",
	};
	return g_strdup_printf("%s: %s", finding_kind_word(e->finding->kind),
	                       words[missing_code_verdict(s, e)]);
}

static char *name_of(const struct folders *f, const struct session *s, const struct entry *e)
{
	uint32_t one = e->finding->first, two = e->finding->second;
	switch (f->by) {
	case GROUPED_BY_FUNCTION:
		return both(function_of(s, one), function_of(s, two));
	case GROUPED_BY_THREAD:
		return both(role_of(s, one), role_of(s, two));
	case GROUPED_BY_PLACE:
		return line_of(s, one);
	case GROUPED_BY_OUTCOME:
		return outcome_of(s, e);
	default:
		return g_strdup(*e->variable ? e->variable : "(no variable)");
	}
}

/* -- folders --------------------------------------------------------------------------------- */

static struct folder *folder_of(struct folders *f, GHashTable *known, char *name)
{
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(known, name));
	if (at == 0) {
		struct folder fresh = { g_strdup(name),
			                g_array_new(FALSE, FALSE, sizeof(int)) };
		g_array_append_val(f->list, fresh);
		at = f->list->len;
		g_hash_table_insert(known, g_strdup(name), GUINT_TO_POINTER(at));
	}
	g_free(name);
	return &g_array_index(f->list, struct folder, at - 1);
}

void folders_make(struct folders *f, const struct session *s, const GArray *shown)
{
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_array_set_size(f->list, 0);
	g_array_set_size(f->lines, 0);
	for (guint i = 0; i < shown->len; i++) {
		int entry = g_array_index(shown, int, i);
		if (f->by == GROUPED_NOT)
			g_array_append_val(f->lines, entry);
		else
			g_array_append_val(
			        folder_of(f, known, name_of(f, s, s->entries->pdata[entry]))
			                ->members,
			        entry);
	}
	for (guint i = 0; i < f->list->len; i++) {
		const struct folder *folder = &g_array_index(f->list, struct folder, i);
		int head = -1 - (int)i;
		g_array_append_val(f->lines, head);
		if (folders_is_open(f, folder))
			g_array_append_vals(f->lines, folder->members->data,
			                    folder->members->len);
	}
}

const struct folder *folders_at(const struct folders *f, uint64_t line)
{
	if (line >= f->lines->len)
		return NULL;
	int at = g_array_index(f->lines, int, line);
	return at < 0 ? &g_array_index(f->list, struct folder, -1 - at) : NULL;
}

int folders_entry(const struct folders *f, uint64_t line)
{
	const struct folder *folder = folders_at(f, line);
	return folder ? g_array_index(folder->members, int, 0)
	              : g_array_index(f->lines, int, line);
}

uint64_t folders_line_of(const struct folders *f, int entry, uint64_t none)
{
	for (guint i = 0; i < f->lines->len; i++) {
		const struct folder *folder = folders_at(f, i);
		if (folder == NULL && g_array_index(f->lines, int, i) == entry)
			return i;
		if (folder == NULL || folders_is_open(f, folder))
			continue;
		for (guint k = 0; k < folder->members->len; k++)
			if (g_array_index(folder->members, int, k) == entry)
				return i;
	}
	return none;
}

bool folders_is_open(const struct folders *f, const struct folder *folder)
{
	return g_hash_table_contains(f->opened, folder->name);
}

bool folders_toggle(struct folders *f, const struct session *s, const GArray *shown,
                    uint64_t *line)
{
	uint64_t head = *line;
	while (head > 0 && folders_at(f, head) == NULL)
		head--;
	const struct folder *folder = folders_at(f, head);
	if (folder == NULL)
		return false;
	if (!g_hash_table_remove(f->opened, folder->name))
		g_hash_table_add(f->opened, g_strdup(folder->name));
	folders_make(f, s, shown);
	*line = head;
	return true;
}
