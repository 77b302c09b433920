/*
 * job.c - background threads; see job.h. One job at a time, since the index may be half built
 * and the machine small.
 */
#include "tui/explorer/job.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void wake(struct jobs *jobs)
{
	ssize_t ignored = write(jobs->wake[1], "", 1);
	(void)ignored;
}

static bool tick(void *context, double fraction, const char *what)
{
	struct job *job = context;
	int percent = (int)(100 * CLAMP(fraction, 0, 1)),
	    before = g_atomic_int_get(&job->percent);
	if (percent < before)
		g_atomic_int_inc(&job->step);
	if (job->tells) {
		g_mutex_lock(&job->jobs->mutex);
		if (strcmp(job->what, what) != 0)
			g_atomic_int_set(&job->step, 0);
		g_strlcpy(job->what, what, sizeof job->what);
		g_mutex_unlock(&job->jobs->mutex);
	}
	if (percent != before) {
		g_atomic_int_set(&job->percent, percent);
		wake(job->jobs);
	}
	return !g_atomic_int_get(&job->stopped);
}

static void block_all(sigset_t *before)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

/* A signal handler runs in the thread only between these lines: the thread's data of
 * ThreadSanitizer's runtime does not exist before its begin and after its end. */
static gpointer job_thread(gpointer data)
{
	struct job *job = data;
	struct progress progress = { tick, job };
	pthread_sigmask(SIG_SETMASK, &job->blocked, NULL);
	job->good = job->run(job, &progress, &job->error);
	block_all(NULL);
	g_atomic_int_set(&job->finished, 1);
	wake(job->jobs);
	return NULL;
}

static void start_job(struct job *job)
{
	block_all(&job->blocked);
	job->thread = g_thread_new("job", job_thread, job);
	pthread_sigmask(SIG_SETMASK, &job->blocked, NULL);
}

void job_hand_over(struct job *job, void *item)
{
	g_mutex_lock(&job->jobs->mutex);
	if (job->items == NULL)
		job->items = g_ptr_array_new();
	g_ptr_array_add(job->items, item);
	g_mutex_unlock(&job->jobs->mutex);
	wake(job->jobs);
}

static void deliver(struct job *job)
{
	g_mutex_lock(&job->jobs->mutex);
	g_autoptr(GPtrArray) items = g_steal_pointer(&job->items);
	g_mutex_unlock(&job->jobs->mutex);
	if (items == NULL)
		return;
	job->news(job, items);
}

void jobs_init(struct jobs *jobs)
{
	memset(jobs, 0, sizeof *jobs);
	g_mutex_init(&jobs->mutex);
	jobs->running = g_ptr_array_new();
	jobs->waiting = g_ptr_array_new();
	if (pipe2(jobs->wake, O_CLOEXEC | O_NONBLOCK) < 0)
		BUG("no pipe");
}

static bool may_start(const struct jobs *jobs, const struct job *job)
{
	if (job->exclusive)
		return jobs->running->len == 0;
	for (guint i = 0; i < jobs->running->len; i++) {
		const struct job *other = jobs->running->pdata[i];
		if (other->exclusive || (!other->urgent && !job->urgent))
			return false;
	}
	return true;
}

static void start_next(struct jobs *jobs)
{
	for (guint i = 0; i < jobs->waiting->len && !jobs->closing;) {
		struct job *job = jobs->waiting->pdata[i];
		bool start = may_start(jobs, job);
		if (!start && job->exclusive)
			return;
		if (!start) {
			i++;
			continue;
		}
		g_ptr_array_steal_index(jobs->waiting, i);
		g_ptr_array_add(jobs->running, job);
		start_job(job);
	}
}

static void finish(struct job *job, bool good)
{
	deliver(job);
	job->done(job, good, &job->error);
	g_free(job->title);
	g_free(job);
}

void jobs_add(struct jobs *jobs, struct job *job)
{
	job->jobs = jobs;
	g_ptr_array_add(jobs->waiting, job);
	start_next(jobs);
}

void jobs_collect(struct jobs *jobs)
{
	char bytes[64];
	while (read(jobs->wake[0], bytes, sizeof bytes) > 0)
		;
	for (guint i = jobs->running->len; i-- > 0;) {
		struct job *job = jobs->running->pdata[i];
		if (!g_atomic_int_get(&job->finished)) {
			deliver(job);
			continue;
		}
		g_thread_join(job->thread);
		g_ptr_array_remove_index(jobs->running, i);
		finish(job, job->good);
	}
	start_next(jobs);
}

/* Returns the number of jobs stopped by this call. */
static guint stop(struct jobs *jobs, bool urgent_only)
{
	GPtrArray *waiting = jobs->waiting;
	guint stopped = 0;
	jobs->waiting = g_ptr_array_new();
	for (guint i = 0; i < jobs->running->len; i++) {
		struct job *job = jobs->running->pdata[i];
		if (job->urgent || !urgent_only)
			stopped += g_atomic_int_compare_and_exchange(&job->stopped, 0, 1);
	}
	for (guint i = 0; i < waiting->len; i++) {
		struct job *job = waiting->pdata[i];
		if (urgent_only && !job->urgent) {
			g_ptr_array_add(jobs->waiting, job);
			continue;
		}
		error_cancelled(&job->error);
		finish(job, false);
		stopped++;
	}
	g_ptr_array_free(waiting, TRUE);
	return stopped;
}

void jobs_stop(struct jobs *jobs)
{
	stop(jobs, false);
}

bool jobs_stop_urgent(struct jobs *jobs)
{
	return stop(jobs, true) > 0;
}

bool jobs_end(struct jobs *jobs, unsigned milliseconds)
{
	gint64 until = g_get_monotonic_time() + (gint64)milliseconds * 1000;

	jobs->closing = true;
	jobs_stop(jobs);
	for (guint i = 0; i < jobs->running->len;) {
		struct job *job = jobs->running->pdata[i];

		if (g_atomic_int_get(&job->finished))
			i++;
		else if (g_get_monotonic_time() >= until)
			return false;
		else
			g_usleep(1000);
	}
	return true;
}

void jobs_release(struct jobs *jobs)
{
	jobs->closing = true;
	jobs_stop(jobs);
	while (jobs->running->len) {
		struct job *job = g_ptr_array_steal_index(jobs->running, 0);
		g_thread_join(job->thread);
		finish(job, job->good);
	}
	g_ptr_array_free(jobs->running, TRUE);
	g_ptr_array_free(jobs->waiting, TRUE);
	close(jobs->wake[0]);
	close(jobs->wake[1]);
	g_mutex_clear(&jobs->mutex);
}

bool jobs_idle(const struct jobs *jobs)
{
	return jobs->running->len == 0 && jobs->waiting->len == 0;
}

void jobs_describe(struct jobs *jobs, GString *out)
{
	if (jobs->running->len == 0)
		return;
	struct job *job = jobs->running->pdata[jobs->running->len - 1];
	int step = g_atomic_int_get(&job->step);
	g_mutex_lock(&jobs->mutex);
	g_string_append_printf(out, "%s%s%s", job->title, *job->what ? ": " : "", job->what);
	g_mutex_unlock(&jobs->mutex);
	if (step > 0)
		g_string_append_printf(out, " (step %d)", step + 1);
	g_string_append_printf(out, " %d %%", g_atomic_int_get(&job->percent));
	if (jobs->waiting->len)
		g_string_append_printf(out, ", %u more to follow", jobs->waiting->len);
}
