/* GLib's pool of threads and its two ways of doing something once; `racy` is a race. */
#include <glib.h>
#include <stdio.h>

static GThreadPool *pool;
static gsize once;
static GOnce made = G_ONCE_INIT;
static GMutex m;
static int *table, total, racy;

static gpointer make(gpointer unused)
{
	int *count = g_new0(int, 1);
	*count = 1;
	return count;
}

static void job(gpointer data, gpointer unused)
{
	int *x = data;
	if (g_once_init_enter(&once)) {
		table = g_new0(int, 2);
		table[1] = 5;
		g_once_init_leave(&once, 1);
	}
	int *count = g_once(&made, make, NULL);
	g_mutex_lock(&m);
	total += *x + table[1];
	(*count)++;
	g_mutex_unlock(&m);
	g_free(x);
	racy++;
}

int main(void)
{
	pool = g_thread_pool_new(job, NULL, 2, FALSE, NULL);
	for (int i = 0; i < 6; i++) {
		int *x = g_new(int, 1);
		*x = i;
		g_thread_pool_push(pool, x, NULL);
	}
	g_thread_pool_free(pool, FALSE, TRUE);
	printf("%d\n", total);
	return 0;
}
