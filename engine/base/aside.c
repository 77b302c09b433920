/*
 * aside.c - see aside.h.
 */
#include "engine/base/aside.h"

struct aside {
	GThread *thread;
	void (*work)(void *context);
	void *context;
};

static gpointer work_aside(gpointer aside)
{
	const struct aside *a = aside;

	a->work(a->context);
	return NULL;
}

struct aside *aside_begin(void (*work)(void *context), void *context)
{
	if (g_get_num_processors() < 2)
		return NULL;
	struct aside *a = g_new(struct aside, 1);
	*a = (struct aside){ .work = work, .context = context };
	a->thread = g_thread_try_new("aside", work_aside, a, NULL);
	if (a->thread == NULL)
		g_clear_pointer(&a, g_free);
	return a;
}

void aside_end(struct aside *aside)
{
	if (aside == NULL)
		return;
	g_thread_join(aside->thread);
	g_free(aside);
}
