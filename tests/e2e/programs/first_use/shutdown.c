/* shutdown.c: a service with a logger; shutdown frees the logger while the flusher may still want it. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct logger {
	pthread_mutex_t lock;
	char line[64];
	int lines;
};

struct service {
	pthread_mutex_t lock;
	struct logger *log;
	bool stopping;
	int requests;
};

static struct service svc = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct logger *logger_new(void)
{
	struct logger *l = calloc(1, sizeof *l);
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

static void logger_write(struct logger *l, const char *what)
{
	pthread_mutex_lock(&l->lock);
	snprintf(l->line, sizeof l->line, "%s", what);
	l->lines++;
	pthread_mutex_unlock(&l->lock);
}

static void logger_free(struct logger *l)
{
	pthread_mutex_lock(&l->lock);
	int n = l->lines;
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_destroy(&l->lock);
	free(l);
	printf("%d lines\n", n);
}

static bool stopping(void)
{
	pthread_mutex_lock(&svc.lock);
	bool s = svc.stopping;
	pthread_mutex_unlock(&svc.lock);
	return s;
}

static void *handler(void *arg)
{
	for (int i = 0; i < 2; i++) {
		if (stopping())
			break;
		pthread_mutex_lock(&svc.lock);
		svc.requests++;
		pthread_mutex_unlock(&svc.lock);
		logger_write(svc.log, arg);
	}
	return NULL;
}

static void *closer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&svc.lock);
	svc.stopping = true;
	pthread_mutex_unlock(&svc.lock);
	logger_free(svc.log);		/* the bug: handlers may be past the check */
	return NULL;
}

int main(void)
{
	pthread_t h, c;
	svc.log = logger_new();
	pthread_create(&h, NULL, handler, "request");
	pthread_create(&c, NULL, closer, NULL);
	pthread_join(h, NULL);
	pthread_join(c, NULL);
	printf("%d requests\n", svc.requests);
	return 0;
}
