/*
 * cache.c - a cache as servers have them, for table2.sh: threads look a key up, and put a
 * value in when it is not there.  Check, then act: each step is thread-safe, the two are not.
 *
 * The table is GLib's under a lock, wrapped as one would (the wrappers are bound by
 * cache.spec), or with -DURCU liburcu's lock-free one (bound by specs/bind/urcu.spec).
 * Counts its hits without any lock.  Prints operations a second.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline, noclone))
enum { THREADS = 3, KEYS = 1000 };

static long rounds = 20000;
static long hits;

#ifdef URCU
#include <urcu/rculfhash.h>
#include <urcu/urcu-memb.h>
struct entry {
	unsigned long key;
	struct cds_lfht_node node;
};
static struct cds_lfht *table;
static int same(struct cds_lfht_node *n, const void *key)
{
	return caa_container_of(n, struct entry, node)->key == *(const unsigned long *)key;
}
static void begin(void)
{
	urcu_memb_register_thread();
	table = cds_lfht_new_flavor(1024, 1024, 1024, 0, &urcu_memb_flavor, NULL);
}
static void enter(void)
{
	urcu_memb_register_thread();
}
static void leave(void)
{
	urcu_memb_unregister_thread();
}
static void *get(unsigned long key)
{
	struct cds_lfht_iter at;
	urcu_memb_read_lock();
	cds_lfht_lookup(table, key, same, &key, &at);
	urcu_memb_read_unlock();
	return cds_lfht_iter_get_node(&at);
}
static void put(unsigned long key)
{
	struct entry *e = malloc(sizeof *e);
	e->key = key;
	cds_lfht_node_init(&e->node);
	urcu_memb_read_lock();
	cds_lfht_add_unique(table, key, same, &e->key, &e->node);
	urcu_memb_read_unlock();
}
#else
#include <glib.h>
struct cache {
	pthread_mutex_t lock;
	GHashTable *table;
};
static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static KEPT void *cache_get(struct cache *c, unsigned long key)
{
	pthread_mutex_lock(&c->lock);
	void *v = g_hash_table_lookup(c->table, (void *)key);
	pthread_mutex_unlock(&c->lock);
	return v;
}
static KEPT void *cache_put(struct cache *c, unsigned long key, void *value)
{
	pthread_mutex_lock(&c->lock);
	void *before = g_hash_table_lookup(c->table, (void *)key);
	g_hash_table_insert(c->table, (void *)key, value);
	pthread_mutex_unlock(&c->lock);
	return before;
}
static void begin(void)
{
	cache.table = g_hash_table_new(NULL, NULL);
}
static void enter(void)
{
}
static void leave(void)
{
}
static void *get(unsigned long key)
{
	return cache_get(&cache, key);
}
static void put(unsigned long key)
{
	cache_put(&cache, key, malloc(8));
}
#endif

static void *work(void *seed)
{
	unsigned long x = (unsigned long)seed;
	enter();
	for (long i = 0; i < rounds; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		unsigned long key = 1 + (x >> 33) % KEYS;
		if (get(key))
			hits++;
		else
			put(key);
	}
	leave();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct timespec from, to;
	if (argc > 1)
		rounds = atol(argv[1]);
	begin();
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	double seconds =
	        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	fprintf(stderr, "%.0f operations a second\n", (double)(THREADS * rounds) / seconds);
	return 0;
}
