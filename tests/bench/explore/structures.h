/* A set as a list, a hash table and disjoint sets with path compression, each under one
 * lock; N threads. */
#ifndef STRUCTURES_H
#define STRUCTURES_H
#include <pthread.h>
#include <stdlib.h>
#ifndef N
#define N 4
#endif
struct set {
	pthread_mutex_t lock;
	struct node {
		int value;
		struct node *next;
	} * first;
};
static int set_has(struct set *s, int v)
{
	for (struct node *n = s->first; n; n = n->next)
		if (n->value == v)
			return 1;
	return 0;
}
__attribute__((noipa)) int set_add(struct set *s, int v)
{
	pthread_mutex_lock(&s->lock);
	int added = !set_has(s, v);
	if (added) {
		struct node *n = malloc(sizeof *n);
		n->value = v;
		n->next = s->first;
		s->first = n;
	}
	pthread_mutex_unlock(&s->lock);
	return added;
}
__attribute__((noipa)) int set_contains(struct set *s, int v)
{
	pthread_mutex_lock(&s->lock);
	int has = set_has(s, v);
	pthread_mutex_unlock(&s->lock);
	return has;
}
struct table {
	pthread_mutex_t lock;
	struct entry {
		int key, value;
	} entries[2 * N + 2];
	int used;
};
static struct entry *table_find(struct table *t, int key)
{
	for (int i = 0; i < t->used; i++)
		if (t->entries[i].key == key)
			return &t->entries[i];
	return NULL;
}
__attribute__((noipa)) int table_put(struct table *t, int key, int value)
{
	pthread_mutex_lock(&t->lock);
	struct entry *e = table_find(t, key);
	int old = e ? e->value : 0;
	if (!e) {
		e = &t->entries[t->used++];
		e->key = key;
	}
	e->value = value;
	pthread_mutex_unlock(&t->lock);
	return old;
}
__attribute__((noipa)) int table_get(struct table *t, int key)
{
	pthread_mutex_lock(&t->lock);
	struct entry *e = table_find(t, key);
	int value = e ? e->value : 0;
	pthread_mutex_unlock(&t->lock);
	return value;
}
struct classes {
	pthread_mutex_t lock;
	int parent[2 * N + 2];
};
static int classes_root(struct classes *c, int v)
{
	int root = v;
	while (c->parent[root] != root)
		root = c->parent[root];
	while (c->parent[v] != root) {
		int next = c->parent[v];
		c->parent[v] = root;
		v = next;
	}
	return root;
}
__attribute__((noipa)) void classes_unite(struct classes *c, int a, int b)
{
	pthread_mutex_lock(&c->lock);
	a = classes_root(c, a);
	b = classes_root(c, b);
	if (a != b)
		c->parent[a > b ? a : b] = a > b ? b : a;
	pthread_mutex_unlock(&c->lock);
}
__attribute__((noipa)) int classes_find(struct classes *c, int v)
{
	pthread_mutex_lock(&c->lock);
	int root = classes_root(c, v);
	pthread_mutex_unlock(&c->lock);
	return root;
}
#endif
