/* GLib's locks, conditions and queue; everything is in order. */
#include <glib.h>
#include <stdio.h>

static GMutex m;
static GCond c;
static int n, ready;
static GRWLock rw;
static int shared;
static GRecMutex rec;
static int sum;
static GAsyncQueue *q;

static gpointer work(gpointer unused)
{
	for (int i = 0; i < 20; i++) {
		g_mutex_lock(&m);
		n++;
		g_mutex_unlock(&m);
		g_thread_yield();
	}
	g_rw_lock_writer_lock(&rw);
	shared++;
	g_rw_lock_writer_unlock(&rw);
	g_rw_lock_reader_lock(&rw);
	int seen = shared;
	g_rw_lock_reader_unlock(&rw);
	g_rec_mutex_lock(&rec);
	g_rec_mutex_lock(&rec);
	sum += seen > 0;
	g_rec_mutex_unlock(&rec);
	g_rec_mutex_unlock(&rec);
	g_mutex_lock(&m);
	ready++;
	g_cond_broadcast(&c);
	g_mutex_unlock(&m);
	int *x = g_new(int, 1);
	*x = 7;
	g_async_queue_push(q, x);
	return NULL;
}

int main(void)
{
	GThread *t[3];
	int taken = 0;
	q = g_async_queue_new();
	for (int i = 0; i < 3; i++)
		t[i] = g_thread_new("w", work, NULL);
	g_mutex_lock(&m);
	while (ready < 3)
		g_cond_wait(&c, &m);
	g_mutex_unlock(&m);
	for (int i = 0; i < 3; i++) {
		int *x = g_async_queue_pop(q);
		taken += *x;
	}
	for (int i = 0; i < 3; i++)
		g_thread_join(t[i]);
	g_mutex_lock(&m);
	gboolean woken = g_cond_wait_until(&c, &m, g_get_monotonic_time() + 1000);
	g_mutex_unlock(&m);
	printf("%d %d %d %d %d\n", n, shared, sum, taken, woken);
	return 0;
}
