#!/bin/bash
# What ships about libraries that are not instrumented (specs/missing): it is well-formed, names
# functions that the libraries have, and makes true races visible without making false ones.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
pairs() { json 'join " ", sort map { $_->{variable} } @{$d->{findings}}'; }
text() { "$HEDDLE" convert "$1" --to text text.txt && grep -v '^#' text.txt; }
races() { run "$HEDDLE" races "$@" --format json; }

# Each file, and the library that it is named after, where that is installed.
for file in "$root"/specs/missing/*.spec; do
	name=$(basename "$file" .spec)
	run "$HEDDLE" spec check "$file"
	is "$status" 0 "$name.spec is accepted"
	named=$(grep -oE '^ *function [A-Za-z_0-9]+' "$file" | awk '{ print $2 }' | sort)
	is "$(uniq -d <<<"$named")" "" "$name.spec says of each function one thing"
	library=$(ldconfig -p | awk -v n="$name" '$1 ~ "^" n "(-[0-9.]+)?[.]so[.]" { print $NF; exit }')
	[ "$library" ] || continue
	exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//' | sort -u)
	is "$(comm -23 <(echo "$named") <(echo "$exported"))" "" "$name.spec names functions of $(basename "$library") alone"
done

# How far from a parameter: all that it leads to, its own block, that and what it points to.
cat >far.c <<'C'
struct node { struct node *next; long value; };
static long calls;
long walk_all(struct node *n) { calls++; return n->value; }
long walk_near(struct node *n) { calls++; return n->value; }
long walk_bytes(struct node *n) { calls++; return n->value; }
long walk_none(struct node *n) { calls++; return 0; }
C
cat >use.c <<'C'
#include <stdlib.h>
struct node { struct node *next; long value; };
long walk_all(struct node *), walk_near(struct node *), walk_bytes(struct node *), walk_none(struct node *);
int main(void)
{
	struct node *c = calloc(1, sizeof(*c));
	struct node *b = calloc(1, sizeof(*b));
	struct node *a = calloc(1, sizeof(*a));
	a->next = b;
	b->next = c;
	return (int)(walk_all(a) + walk_near(a) + walk_bytes(a) + walk_none(a));
}
C
cc -O1 -shared -fPIC far.c -o libfar.so && "$HEDDLE" cc -g -O0 use.c -o use -L. -lfar -Wl,-rpath,"$PWD"
printf 'missing {\n function walk_all(n) reaches n\n function walk_near(n) reaches near n\n function walk_bytes(n) reaches bytes n, global far\n function walk_none(n)\n}\n' >far.spec
run "$HEDDLE" record -q --spec far.spec -- ./use
t=$(text use.hdl)
like "$t" 'miss\(walk_all@libfar.so(,[^,)]+){3}\)' "all that a parameter leads to"
like "$t" 'miss\(walk_near@libfar.so(,[^,)]+){2}\)' "near: its block and what that points to"
like "$t" 'miss\(walk_bytes@libfar.so,[^,)]+,far\)' "bytes: its block alone"
like "$t" 'miss\(walk_none@libfar.so\)' "nothing"
printf 'missing { function f(x) reaches bytes y }\n' >bad.spec
run "$HEDDLE" spec check bad.spec
is "$status" 2 "a parameter that the function has not"
like "$err" "expected a parameter of f, found 'y'" "is refused"

# The C library's own memory: a flag in the environment.
cat >env.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
int letter, stamps;
static void *sender(void *x) {
	letter = 1;
	stamps = 1;
	setenv("LETTER", "sent", 1);
	return x;
}
static void *receiver(void *x) {
	stamps = 2;
	while (!getenv("LETTER"))
		sched_yield();
	letter = 2;
	return x;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, sender, 0);
	pthread_create(&t[1], 0, receiver, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 env.c -o env -pthread
run "$HEDDLE" record -q -- ./env
races env.hdl --analysis rdit
is "$(pairs)" "letter stamps" "without libc.spec a letter that is handed on by the environment is a false race"
run "$HEDDLE" record -q --spec libc.spec -- ./env
like "$(text env.hdl)" 'miss\(setenv@libc.so.6,.*environ\)' "libc.spec: setenv uses the environment"
races env.hdl --analysis rdit
is "$(pairs)" "stamps" "and the true race alone is left"

# GLib: a queue hands parcels on, tables and strings are each worker's own, two counters race.
if ! pkg-config --exists glib-2.0; then
	skip "parcels of GLib" "no GLib to compile against"
	done_testing
	exit
fi
cat >parcels.c <<'C'
#include <glib.h>
#include <stdio.h>
struct parcel { int weight; };
static GAsyncQueue *queue;
static GMutex lock;
static int sent, weighed, jobs;
static gpointer sender(gpointer data)
{
	for (int i = 0; i < 3; i++) {
		struct parcel *p = g_new(struct parcel, 1);
		p->weight = i;
		sent++;
		g_async_queue_push(queue, p);
	}
	return data;
}
static gpointer receiver(gpointer data)
{
	GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
	GString *text = g_string_new("");
	for (int i = 0; i < 3; i++) {
		struct parcel *p = g_async_queue_pop(queue);
		weighed += p->weight;
		g_hash_table_insert(seen, GINT_TO_POINTER(p->weight), p);
		g_string_append_printf(text, "%d ", p->weight);
		g_free(p);
	}
	g_string_free(text, TRUE);
	g_hash_table_destroy(seen);
	return data;
}
static void job(gpointer data, gpointer user)
{
	g_mutex_lock(&lock);
	jobs += *(int *)data;
	g_mutex_unlock(&lock);
}
int main(void)
{
	int values[4] = { 1, 2, 3, 4 };
	GThread *t[4];
	queue = g_async_queue_new();
	for (int i = 0; i < 2; i++) {
		t[i] = g_thread_new("sender", sender, NULL);
		t[2 + i] = g_thread_new("receiver", receiver, NULL);
	}
	GThreadPool *pool = g_thread_pool_new(job, NULL, 2, FALSE, NULL);
	for (int i = 0; i < 4; i++)
		g_thread_pool_push(pool, &values[i], NULL);
	g_thread_pool_free(pool, FALSE, TRUE);
	for (int i = 0; i < 4; i++)
		g_thread_join(t[i]);
	printf("%d\n", jobs);
	return 0;
}
C
# shellcheck disable=SC2046
"$HEDDLE" cc -g -O1 parcels.c -o parcels $(pkg-config --cflags --libs glib-2.0) 2>/dev/null
run "$HEDDLE" record -q -- ./parcels
races parcels.hdl --analysis rdit
run "$HEDDLE" info parcels.hdl
like "$out" "record --spec libglib.spec" "info: there is a specification for the library"
races parcels.hdl --analysis rdit
unlike "$(pairs)" "weighed" "GLib's static data keeps all calls in order, and a true race is missed"
for seed in 1 2 3; do
	run "$HEDDLE" record -q --seed $seed --spec libglib.spec -- ./parcels
	is "$out" "10" "seed $seed: GLib works as ever"
	races parcels.hdl --analysis rdit
	is "$(pairs)" "sent weighed" "libglib.spec: both true races, and what the queue hands on is none"
done
run "$HEDDLE" info parcels.hdl
like "$out" "libglib-2.0.so.0 +[0-9]+  calls" "the calls are recorded as before"
unlike "$out" "record --spec" "and nothing more is said of it"
done_testing
