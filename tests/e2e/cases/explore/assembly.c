/* a lock by inline assembly, which is not seen: runs stray; the assertion that fails then fails */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int held;
static atomic_int x;
static int take(void)
{
	int old = 1;
	__asm__ volatile("lock; xaddl %0, %1" : "+r"(old), "+m"(held) : : "memory");
	return old;
}
static void *run(void *p)
{
	if (take() == 0) {
		x = 1;
		assert(p == 0);
	} else if (x == 0) {
		return 0;
	}
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(t, 0, run, 0);
	pthread_create(t + 1, 0, run, t);
	int r = x;
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return r > 1;
}

//: explore
//~ errors signal@assembly\.c:17
//~ said share what is not seen .*inline assembly
