/* output.c - see output.h. The steps run in a job, so that no key waits for them. */
#include "tui/explorer/output.h"
#include "tui/explorer/messages.h"

#include "engine/base/child.h"
#include "engine/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

void output_free(struct output *o)
{
	if (o == NULL)
		return;
	g_free(o->title);
	g_free(o->trace);
	g_string_free(o->result, TRUE);
	for (int i = 0; i < 2; i++) {
		g_free(o->sides[i].title);
		g_free(o->sides[i].end);
		g_string_free(o->sides[i].text, TRUE);
	}
	g_free(o);
}

static void step_free(void *data)
{
	struct output_step *step = data;
	g_strfreev(step->argv);
	g_free(step->began);
	g_free(step);
}

struct output_task *output_task_new(struct app *app, char *title)
{
	struct output_task *task = g_new0(struct output_task, 1);
	task->app = app;
	task->trace = app_trace(app);
	task->output = g_new0(struct output, 1);
	task->output->title = title;
	task->output->result = g_string_new(NULL);
	for (int i = 0; i < 2; i++)
		task->output->sides[i].text = g_string_new(NULL);
	task->output->count = 1;
	task->steps = g_ptr_array_new_with_free_func(step_free);
	return task;
}

void output_task_free(struct output_task *task)
{
	if (task->folder)
		file_remove_tree(task->folder);
	output_free(task->output);
	g_ptr_array_unref(task->steps);
	g_free(task->folder);
	g_free(task->path);
	g_free(task->names[0]);
	g_free(task->names[1]);
	g_free(task);
}

struct output_step *output_task_add(struct output_task *task, guint side, unsigned seconds,
                                    char **argv)
{
	struct output_step *step = g_new0(struct output_step, 1);
	step->argv = argv;
	step->side = side;
	step->seconds = seconds;
	g_ptr_array_add(task->steps, step);
	return step;
}

char **output_words(const char *first, ...)
{
	GPtrArray *words = g_ptr_array_new();
	va_list ap;
	va_start(ap, first);
	for (const char *word = first; word; word = va_arg(ap, const char *))
		g_ptr_array_add(words, g_strdup(word));
	va_end(ap);
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* -- in the job's thread -------------------------------------------------------------------- */

enum news_kind { BEGAN, SAID, ENDED, RESULT };

struct news {
	enum news_kind kind;
	guint side;
	char *text; /* owned */
	bool failed;
};

static void tell(struct job *job, enum news_kind kind, guint side, char *text, bool failed)
{
	struct news *news = g_new0(struct news, 1);
	*news = (struct news){ kind, side, text, failed };
	job_hand_over(job, news);
}

struct listener {
	struct job *job;
	guint side;
};

static void said(void *context, const char *bytes, size_t length)
{
	const struct listener *l = context;
	tell(l->job, SAID, l->side, g_strndup(bytes, length), false);
}

static char *end_words(const struct output_step *step, const struct capture *c, int failure)
{
	if (step->status == -1)
		return g_strdup_printf("cannot be run: %s", g_strerror(failure));
	if (c->stopped)
		return g_strdup("stopped");
	if (c->timed_out)
		return g_strdup_printf("did not end, and was ended after %u seconds",
		                       step->seconds);
	if (WIFSIGNALED(step->status))
		return g_strdup_printf("ended by signal %d (%s)", WTERMSIG(step->status),
		                       strsignal(WTERMSIG(step->status)));
	return g_strdup_printf("exit status %d", WEXITSTATUS(step->status));
}

/* Runs one step; false: the remaining steps are left out. */
static bool run_one(struct job *job, struct output_step *step, const struct progress *progress)
{
	struct listener listener = { job, step->side };
	struct capture c = { .seconds = step->seconds, .said = said, .context = &listener };
	if (!step->unseen)
		tell(job, BEGAN, step->side, NULL, false);
	if (step->began)
		tell(job, SAID, step->side, g_strconcat(step->began, "\n", NULL), false);
	step->status = child_capture(step->argv, &c, progress);
	step->ran = step->status != -1 && !c.stopped && !c.timed_out;
	int failure = errno;
	bool good = step->ran && WIFEXITED(step->status) && WEXITSTATUS(step->status) == 0;
	if (c.unsaid)
		tell(job, SAID, step->side,
		     g_strdup_printf("\n… and %" G_GUINT64_FORMAT " bytes more\n",
		                     (guint64)c.unsaid),
		     false);
	if (!step->unseen || !step->ran)
		tell(job, ENDED, step->side, end_words(step, &c, failure), !good);
	return step->ran && (good || !step->needed);
}

static bool task_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct output_task *task = job->data;
	bool on = true;
	for (guint i = 0; i < task->steps->len && on; i++)
		on = run_one(job, task->steps->pdata[i], progress);
	if (on && task->compare) {
		GString *result = g_string_new(NULL);
		task->compare(task, result);
		tell(job, RESULT, 0, g_string_free(result, FALSE), false);
	}
	return on || refuse(error, NO_END);
}

/* -- on the screen's thread ----------------------------------------------------------------- */

static void take_news(struct output *o, const struct news *news)
{
	struct output_side *side = &o->sides[news->side];
	o->revision++;
	switch (news->kind) {
	case BEGAN:
		g_clear_pointer(&side->end, g_free);
		break;
	case SAID:
		g_string_append(side->text, news->text);
		break;
	case ENDED:
		g_free(side->end);
		side->end = g_strdup(news->text);
		side->failed = news->failed;
		break;
	case RESULT:
		g_string_append(o->result, news->text);
		break;
	}
}

static void task_news(struct job *job, GPtrArray *items)
{
	struct app *app = job->context;
	for (guint i = 0; i < items->len; i++) {
		struct news *news = items->pdata[i];
		if (!app->jobs.closing)
			take_news(app->output, news);
		g_free(news->text);
		g_free(news);
	}
	if (!app->jobs.closing)
		app_refresh(app);
}

static void task_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct output_task *task = job->data;
	if (!app->jobs.closing) {
		app->output->running = false;
		app->output->failed = !good;
		app->output->revision++;
		if (task->ended)
			task->ended(app, task);
		app_refresh(app);
	}
	output_task_free(task);
}

bool output_begin(struct app *app, struct output_task *task, struct error *error)
{
	if (app->output && app->output->running) {
		output_task_free(task);
		return refuse(error, NO_SECOND_RUN, app->output->title);
	}
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup(task->output->title);
	job->context = app;
	job->data = task;
	job->run = task_run;
	job->news = task_news;
	job->done = task_done;
	job->urgent = true;
	output_free(app->output);
	app->output = g_steal_pointer(&task->output);
	app->output->running = true;
	app_go(app, VIEW_OUTPUT);
	app_refresh(app);
	jobs_add(&app->jobs, job);
	return true;
}
