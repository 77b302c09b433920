/*
 * connections: the dictionary is thread-safe, its use is not.  (Figure 1 of "Commutativity
 * Race Detection", Dimitrov et al., PLDI 2014.)
 *
 * One thread for each host of a list connects to it and keeps the connection in a shared
 * dictionary.  The list names a host twice.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection {
	const char *host;
};

struct dict {
	pthread_mutex_t lock;
	struct {
		const char *key;
		void *value;
	} slots[16];
};

/* The value before, or NULL.  (The attribute keeps the calls for the bind lines.) */
static __attribute__((noinline, noclone)) void *dict_put(struct dict *d, const char *key,
                                                         void *value)
{
	void *before = NULL;
	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < 16; i++) {
		if (d->slots[i].key && strcmp(d->slots[i].key, key) != 0)
			continue;
		before = d->slots[i].value;
		d->slots[i].key = key;
		d->slots[i].value = value;
		break;
	}
	pthread_mutex_unlock(&d->lock);
	return before;
}

static __attribute__((noinline, noclone)) int dict_size(struct dict *d)
{
	int n = 0;
	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < 16; i++)
		n += d->slots[i].value != NULL;
	pthread_mutex_unlock(&d->lock);
	return n;
}

static struct dict connections = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *connect_to(void *host)
{
	struct connection *c = malloc(sizeof *c);
	c->host = host;
	dict_put(&connections, host, c); /* a connection that was there is lost */
	return NULL;
}

int main(void)
{
	static const char *const hosts[] = { "a.com", "a.com" };
	enum { HOSTS = sizeof hosts / sizeof *hosts };
	pthread_t threads[HOSTS];

	for (int i = 0; i < HOSTS; i++)
		pthread_create(&threads[i], NULL, connect_to, (void *)hosts[i]);
	for (int i = 0; i < HOSTS; i++)
		pthread_join(threads[i], NULL);
	printf("%d connections\n", dict_size(&connections));
	return 0;
}
