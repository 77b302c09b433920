/* A struct is copied in a statement that also names such a member of another struct; nothing uses
 * the copy's. Only the read at the member's own name is one of unwritten memory, also where its
 * value is added to zero, which leaves that value. */
#include <pthread.h>
#include <stdlib.h>

struct entry {
	int has, value;
};
struct key {
	int value;
};
static struct entry *table;
static struct key *key;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum, total;

static void add(struct entry e, int value)
{
	if (e.has)
		sum += e.value;
	sum += value;
}

static void *reader(void *none)
{
	pthread_mutex_lock(&m);
	struct entry copy = table[key->value];
	if (copy.has)
		sum += copy.value;
	add(*table, key->value);
	total += table[1].value;
	pthread_mutex_unlock(&m);
	return none;
}

int main(void)
{
	pthread_t t;
	table = malloc(2 * sizeof *table);
	table->has = 0;
	key = calloc(1, sizeof *key);
	pthread_create(&t, NULL, reader, NULL);
	pthread_join(t, NULL);
	free(table);
	free(key);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 1
//= errors uninitialised-read@unwritten_named.c:32
//= complete yes
