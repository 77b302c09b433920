/* threads.c - the threads of the run, as the editor and gdb number them. */
#include "tui/dap/session.h"

#include <stdio.h>
#include <string.h>

const struct dap_thread *find_thread(const struct dap_session *s, json_int_t id)
{
	for (guint i = 0; i < s->threads->len; i++)
		if (g_array_index(s->threads, struct dap_thread, i).id == id)
			return &g_array_index(s->threads, struct dap_thread, i);
	return NULL;
}

unsigned thread_id(const struct dap_session *s, const char *gdb)
{
	for (guint i = 0; gdb && i < s->threads->len; i++)
		if (strcmp(g_array_index(s->threads, struct dap_thread, i).gdb, gdb) == 0)
			return g_array_index(s->threads, struct dap_thread, i).id;
	return 0;
}

static void tell_thread(struct dap_session *s, unsigned id, const char *reason)
{
	send_event(s, "thread",
	           json_pack("{sssI}", "reason", reason, "threadId", (json_int_t)id));
}

static gint by_id(gconstpointer a, gconstpointer b)
{
	const struct dap_thread *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The threads of gdb's answer; "Thread 2" is the server's number of it. */
static GArray *threads_of(const json_t *answer)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct dap_thread));
	size_t i;
	const json_t *item, *all = json_object_get(answer, "threads");
	json_array_foreach(all, i, item)
	{
		struct dap_thread t = { 0 };
		const char *gdb = text_of(item, "id"), *name = text_of(item, "details");
		const char *target = text_of(item, "target-id");
		if (!gdb || !target || sscanf(target, "Thread %u", &t.id) != 1)
			continue;
		g_strlcpy(t.gdb, gdb, sizeof(t.gdb));
		g_strlcpy(t.name, name ? name : target, sizeof(t.name));
		g_array_append_val(list, t);
	}
	g_array_sort(list, by_id);
	return list;
}

void renew_threads(struct dap_session *s)
{
	GString *why = g_string_new(NULL);
	json_t *answer = target_command(&s->target, "-thread-info", why);
	g_string_free(why, TRUE);
	if (!answer)
		return;
	GArray *before = s->threads;
	s->threads = threads_of(answer);
	json_decref(answer);
	for (guint i = 0; i < s->threads->len; i++) {
		unsigned id = g_array_index(s->threads, struct dap_thread, i).id;
		bool old = false;
		for (guint k = 0; k < before->len; k++)
			old |= g_array_index(before, struct dap_thread, k).id == id;
		if (!old)
			tell_thread(s, id, "started");
	}
	for (guint k = 0; k < before->len; k++) {
		unsigned id = g_array_index(before, struct dap_thread, k).id;
		if (!find_thread(s, id))
			tell_thread(s, id, "exited");
	}
	g_array_free(before, TRUE);
}
