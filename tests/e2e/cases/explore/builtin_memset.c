/* __builtin_memset of a known size, for which gcc calls no hook: an exploration is not
 * complete. Where the same is a call, by its usual name, the race is found; copies of
 * structures, of one member and of several, have their hooks. */
#include <pthread.h>
#include <string.h>

struct pair {
	long a, b;
};
static struct pair *shared, first, second = { 1, 2 };
static long got;
#if defined BUILTIN
#define CLEAR(p) __builtin_memset(p, 0, sizeof *(p))
#elif defined CALL
#define CLEAR(p) memset(p, 0, sizeof *(p))
#elif defined BITS
static struct {
	unsigned one : 1, more : 7;
	_Bool last : 1;
} bits;
#define CLEAR(p) (bits.last = (p)->a > 2, bits.one = (p)->b != 0)
#else
#define CLEAR(p) (*(p) = second)
#endif

static void *writer(void *unused)
{
	CLEAR(shared);
	return unused;
}

int main(void)
{
	pthread_t t;
	shared = &first;
	pthread_create(&t, NULL, writer, NULL);
	got = shared->a;
	shared->b = got;
	pthread_join(t, NULL);
	return 0;
}

//: sh for o in 0 1 2 s; do for d in BUILTIN CALL COPY BITS; do $HEDDLE cc -g -O$o -D$d $here/builtin_memset.c -o $d$o -pthread; done; done
//: explore --format json -- ./BUILTIN{0,1,2,s}
//= complete no
//~ said builtin_memset.c:28 \(writer\) has an access for which gcc calls no hook
//: explore --format json -- ./CALL{0,1,2,s}
//= complete yes
//: explore --format json -- ./COPY{0,1,2,s}
//= complete yes
//: explore --format json -- ./BITS{0,1,2,s}
//= complete yes
