/* As unwritten_copy.c, in a part of a block whose type is not known: the read of the copied member
 * that nothing uses looks like any other there, so no such read is claimed. */
#include <pthread.h>
#include <stdlib.h>

struct message {
	int has, value;
};
static struct message *slot;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void *pool;

__attribute__((noinline)) static void *get(size_t size)
{
	pool = malloc(size + 16);
	return (char *)pool + 16;
}

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
	slot = get(sizeof *slot);
	slot->has = 0;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(pool);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 0
//= errors
//= complete yes
