/* gcc calls no hook where a structure in memory is passed to a function by value, or stored as it is returned. */
#include <assert.h>
#include <pthread.h>

struct point {
	long x, y;
};
static struct point shared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static struct point make(long n)
{
	__asm__ volatile("" : "+r"(n));
	return (struct point){ n, n };
}

__attribute__((noinline)) static void check(struct point p)
{
	__asm__ volatile("" : "+m"(p));
	assert(p.x == 0);
}

static void *writer(void *to)
{
	pthread_mutex_lock(&m);
#ifdef RETURNED
	*(struct point *)to = make(1);
#else
	struct point made = make(1);
	*(struct point *)to = made;
#endif
	pthread_mutex_unlock(&m);
	return 0;
}

static void *reader(void *from)
{
	pthread_mutex_lock(&m);
#ifdef PASSED
	check(*(struct point *)from);
#else
	struct point copy = *(struct point *)from;
	check(copy);
#endif
	pthread_mutex_unlock(&m);
	return 0;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, reader, &shared);
	pthread_create(&b, 0, writer, &shared);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}

//: explore
//= errors signal@by_value.c:20
//= complete yes
//: sh for o in 0 1 2; do $HEDDLE cc -g -O$o -DRETURNED $here/by_value.c -o returned$o -pthread; $HEDDLE cc -g -O$o -DPASSED $here/by_value.c -o passed$o -pthread; done
//: explore --format json -- ./returned{0,1,2}
//= complete no
//~ said by_value.c:27 \(writer\) has an access for which gcc calls no hook
//: explore --format json -- ./passed{0,1,2}
//= complete no
//~ said by_value.c:40 \(reader\) has an access for which gcc calls no hook
