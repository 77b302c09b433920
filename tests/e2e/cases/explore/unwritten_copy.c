/* A struct is copied before one of its members was written; the compiler makes the copy reads of
 * the members, also of that one, whose value nothing uses. It is no read of unwritten memory; a
 * line that names the member is. */
#include <pthread.h>
#include <stdlib.h>

struct message {
	int has, value, other;
};
static struct message *slot;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *writer(void *none)
{
	pthread_mutex_lock(&m);
	slot->value = 7;
	slot->has = 1;
	pthread_mutex_unlock(&m);
	return none;
}

static void *reader(void *none)
{
	pthread_mutex_lock(&m);
	struct message copy = *slot;
	pthread_mutex_unlock(&m);
	if (copy.has)
		sum += copy.value;
	return none;
}

int main(void)
{
	pthread_t a, b;
	slot = malloc(sizeof *slot);
	slot->has = 0;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_mutex_lock(&m);
	sum += slot->other > 3;
	pthread_mutex_unlock(&m);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(slot);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 1
//= errors uninitialised-read@unwritten_copy.c:41
//= complete yes
