#!/bin/bash
# The bind lines that ship: GLib's hash table and queue, liburcu's hash table, hsearch, and the
# C library's descriptors; each library as it is installed.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

calls() { grep -o "|\\(call\\|ret\\)($2.*" "$1" | tr '\n' ' ' | sed "s/p[0-9a-f]\{8,\}/P/g; s/ $//"; }

# Descriptors, and hsearch: one table for all, ENTRY by value.
cat >fds.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <unistd.h>
static int fd;
static void *reader(void *x) {
	char c;
	(void)!read(fd, &c, 1); /* line 9 */
	ENTRY e = { "two", &fd };
	hsearch(e, ENTER); /* line 11 */
	return x;
}
int main(void) {
	pthread_t t;
	fd = open("/dev/zero", O_RDONLY);
	hcreate(10);
	pthread_create(&t, 0, reader, 0);
	ENTRY e = { "two", 0 };
	hsearch(e, FIND); /* line 20 */
#ifdef FIXED
	pthread_join(t, 0);
	close(fd);
#else
	close(fd); /* line 25 */
	pthread_join(t, 0);
#endif
	int other = open("/dev/null", O_WRONLY | O_CREAT, 0600);
	int third = dup(other);
	(void)!write(third, "x", 1);
	close(other);
	close(third);
	return open("/none", O_RDONLY) == -1 && close(-1) == -1 ? 0 : 1;
}
C
run "$HEDDLE" cc -g -DFIXED fds.c -o fixed -pthread
run "$HEDDLE" record --spec "$root/specs/fd.spec" --spec hsearch.spec -o fixed.hdl -- ./fixed
is "$status" 0 "a program with descriptors and hsearch"
run "$HEDDLE" convert fixed.hdl fixed.txt --to text
is "$(calls fixed.txt 'fd3[.#]')" "|call(fd3.open)|fds.c:16 |ret(fd3.open)|fds.c:16 |call(fd3.read)|fds.c:9 \
|ret(fd3.read)=1|fds.c:9 |call(fd3.close)|fds.c:23 |ret(fd3.close)=0|fds.c:23 \
|call(fd3#2.open)|fds.c:28 |ret(fd3#2.open)|fds.c:28 |call(fd3#2.close)|fds.c:31 |ret(fd3#2.close)=0|fds.c:31" \
	"a descriptor that is opened again is another object"
is "$(calls fixed.txt fd4)" "|call(fd4.open)|fds.c:29 |ret(fd4.open)|fds.c:29 |call(fd4.write)|fds.c:30 \
|ret(fd4.write)=1|fds.c:30 |call(fd4.close)|fds.c:32 |ret(fd4.close)=0|fds.c:32" "dup makes one"
is "$(grep -v '^#' fixed.txt | grep -c 'fd-\|fd1')" 0 "what failed is no object"
run "$HEDDLE" commute fixed.hdl --spec hsearch.spec --format json
is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" "fds.c:20,fds.c:11" "find and enter of one key race"
like "$(json '$d->{findings}[0]{methods}[1]')" 'search\("two", 1\)' "in the only table"
run "$HEDDLE" commute fixed.hdl --spec hsearch.spec --analysis cov --format json --verdicts all
is "$(json 'join " ", map { $_->{verdict} } grep { $_->{methods}[1] =~ /close/ } @{$d->{findings}}')" \
	impossible "the join keeps the close behind the read"

run "$HEDDLE" cc -g fds.c -o fds -pthread
for seed in 1 2 3 4; do
	run "$HEDDLE" record -q --seed $seed --spec "$root/specs/fd.spec" -o fds.hdl -- ./fds
	run "$HEDDLE" convert fds.hdl fds.txt --to text
	read=$(grep -o 'read)=[0-9-]*' fds.txt)
	run "$HEDDLE" commute fds.hdl --analysis cov --format json
	case $read in # one that failed may come anywhere
	*-1) is "$(json 'scalar @{$d->{findings}}')" 0 "seed $seed: the read had failed" ;;
	*) is "$(json 'join " ", map { ($_->{verdict}, @{$_->{locations}}) } @{$d->{findings}}')" \
		"race fds.c:9 fds.c:25" "seed $seed: the read may come after the close" ;;
	esac
done

# GLib, keys as they are and as strings; the queue.
cat >glib.c <<'C'
#include <glib.h>
#include <pthread.h>
static GHashTable *table;
static GAsyncQueue *queue;
static void *puts_it(void *key) {
	g_hash_table_insert(table, key, table); /* line 6 */
	return NULL;
}
static void *pushes(void *x) {
	g_async_queue_push(queue, x); /* line 10 */
	return NULL;
}
int main(int argc, char **argv) {
	char one[] = "a.com", two[] = "a.com";
	pthread_t t[2];
	table = argc > 1 ? g_hash_table_new(g_str_hash, g_str_equal) : g_hash_table_new(NULL, NULL);
	queue = g_async_queue_new();
	pthread_create(&t[0], NULL, puts_it, one);
	pthread_create(&t[1], NULL, puts_it, two);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	int n = g_hash_table_size(table);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, pushes, &t[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return g_async_queue_pop(queue) && g_async_queue_try_pop(queue) ? n : 9;
}
C
run "$HEDDLE" cc -g glib.c -o glib $(pkg-config --cflags --libs glib-2.0) -pthread
run "$HEDDLE" record --spec glib.spec -o glib.hdl -- ./glib
is "$status" 2 "two pointers are two keys"
run "$HEDDLE" convert glib.hdl glib.txt --to text
is "$(calls glib.txt ghashtable1 | grep -o 'ret([^|]*' | tr '\n' ' ')" \
	"ret(ghashtable1.insert)=true ret(ghashtable1.insert)=true ret(ghashtable1.size)=2 " "with their results"
run "$HEDDLE" commute glib.hdl --spec glib.spec --format json
is "$(json 'join " ", map { join ",", @{$_->{locations}} } @{$d->{findings}}')" "glib.c:10,glib.c:10" \
	"only the order in the queue is open"
run "$HEDDLE" record --spec glib-strings.spec -o strings.hdl -- ./glib strings
is "$status" 1 "two equal strings are one key"
run "$HEDDLE" commute strings.hdl --spec glib-strings.spec --format json
is "$(json 'join " ", map { join ",", @{$_->{locations}} } @{$d->{findings}}')" "glib.c:6,glib.c:6" \
	"and the inserts of it race"
run "$HEDDLE" commute strings.hdl --spec glib-strings.spec --analysis cov --format json
is "$(json '$d->{findings}[0]{verdict}')" race "either may come first, with a witness"

# liburcu's hash table.
if ! pkg-config --exists liburcu-cds; then
	skip "liburcu's hash table" "liburcu-dev is not installed"
	done_testing
	exit
fi
cat >urcu.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <urcu/rculfhash.h>
#include <urcu/urcu-memb.h>
struct conn { unsigned long key; struct cds_lfht_node node; };
static struct cds_lfht *table;
static pthread_barrier_t all;
static int same(struct cds_lfht_node *n, const void *key) {
	return caa_container_of(n, struct conn, node)->key == *(const unsigned long *)key;
}
static void *add(void *key) {
	urcu_memb_register_thread();
	pthread_barrier_wait(&all); /* registration takes a lock of its own */
	struct conn *c = malloc(sizeof *c);
	c->key = (unsigned long)key;
	cds_lfht_node_init(&c->node);
	urcu_memb_read_lock();
	struct cds_lfht_node *held =
		cds_lfht_add_unique(table, c->key, same, &c->key, &c->node); /* line 19 */
	urcu_memb_read_unlock();
	if (held != &c->node)
		free(c);
	pthread_barrier_wait(&all);
	urcu_memb_unregister_thread();
	return NULL;
}
int main(void) {
	pthread_t t[3];
	struct cds_lfht_iter at;
	unsigned long key = 2;
	urcu_memb_register_thread();
	pthread_barrier_init(&all, NULL, 3);
	table = cds_lfht_new_flavor(16, 16, 16, 0, &urcu_memb_flavor, NULL);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, add, (void *)(i / 2 + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	cds_lfht_lookup(table, key, same, &key, &at); /* line 38 */
	return cds_lfht_iter_get_node(&at) == NULL;
}
C
run "$HEDDLE" cc -g urcu.c -o urcu $(pkg-config --cflags --libs liburcu-cds liburcu-memb) -pthread
run "$HEDDLE" record --spec urcu.spec -o urcu.hdl -- ./urcu
is "$status" 0 "liburcu's hash table"
run "$HEDDLE" convert urcu.hdl urcu.txt --to text
is "$(calls urcu.txt lfht1.lookup)" "|call(lfht1.lookup,2)|urcu.c:38 |ret(lfht1.lookup)=P|urcu.c:38" \
	"a result through a pointer"
run "$HEDDLE" commute urcu.hdl --spec urcu.spec --format json
is "$(json 'join " ", map { join ",", @{$_->{locations}} } @{$d->{findings}}')" "urcu.c:19,urcu.c:19" \
	"two nodes of one key race"
done_testing
