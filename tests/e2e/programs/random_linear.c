/*
 * random_linear.c - a program given as text, of threads that call two registers in memory,
 * whose methods are made of single atomic operations and locks, right or wrong
 * (linear_oracle.c).
 *
 * Each argument is a thread; its invocations are parted by commas: the object (0, 1), the
 * method (w with a value, r, a for "add one, return what was"), and after a colon the
 * operations that it is made of: Lv loads v into the accumulator, Sv stores it, Kn makes it n,
 * P adds one, Iv adds one to v and loads what was, Xv exchanges, M and U take and release the
 * lock. "0w1:K1S0,1r:L2" is a write and a read.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct object {
	int number;
};
static struct object objects[2];
static atomic_int v[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((always_inline)) inline int perform(const char *text)
{
	int a = 0;
	for (; *text && *text != ','; text++) {
		int n = text[1] - '0';
		switch (*text) {
		case 'L':
			a = atomic_load(&v[n]);
			break;
		case 'S':
			atomic_store(&v[n], a);
			break;
		case 'K':
			a = n;
			break;
		case 'P':
			a++;
			break;
		case 'I':
			a = atomic_fetch_add(&v[n], 1);
			break;
		case 'X':
			a = atomic_exchange(&v[n], a);
			break;
		case 'M':
			pthread_mutex_lock(&lock);
			break;
		case 'U':
			pthread_mutex_unlock(&lock);
			break;
		default:
			break;
		}
	}
	return a;
}

/* The methods of one object. */
#define METHODS(name) \
	__attribute__((noipa)) void name##_write(struct object *o, int value, \
	                                         const char *text) \
	{ \
		(void)o; \
		(void)value; \
		perform(text); \
	} \
	__attribute__((noipa)) int name##_read(struct object *o, const char *text) \
	{ \
		(void)o; \
		return perform(text); \
	} \
	__attribute__((noipa)) int name##_add(struct object *o, const char *text) \
	{ \
		(void)o; \
		return perform(text); \
	} \
	static void call_##name(const char *at) \
	{ \
		const char *body = strchr(at, ':') + 1; \
		if (at[1] == 'w') \
			name##_write(&objects[*at - '0'], at[2] - '0', body); \
		else if (at[1] == 'r') \
			name##_read(&objects[*at - '0'], body); \
		else \
			name##_add(&objects[*at - '0'], body); \
	}
METHODS(zero)
METHODS(one)

static void *thread(void *text)
{
	for (const char *at = text; at && *at;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (*at == '0')
			call_zero(at);
		else
			call_one(at);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	for (int i = 1; i < argc; i++)
		pthread_create(&threads[i], NULL, thread, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
