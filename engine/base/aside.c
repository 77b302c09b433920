/*
 * aside.c - see aside.h.
 */
#include "engine/base/aside.h"

uint32_t aside_work_delay, aside_caller_delay;

struct aside {
	GThread *thread;
	void (*work)(void *context);
	void *context;
};

static gpointer work_aside(gpointer aside)
{
	const struct aside *a = aside;

	if (aside_work_delay > 0)
		g_usleep(aside_work_delay);
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
	if (aside_caller_delay > 0)
		g_usleep(aside_caller_delay);
	return a;
}

void aside_end(struct aside *aside)
{
	if (aside == NULL)
		return;
	g_thread_join(aside->thread);
	g_free(aside);
}
