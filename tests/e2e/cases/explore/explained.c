/* Values that are not those of the last recorded write, and that no other thread may have written. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static sem_t none;
static int before, *shared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static __thread int mine;
struct pair {
	int a, b;
} pairs[2];
union {
	long whole;
	char bytes[8];
	_Atomic int half;
} u;
__attribute__((noinline)) static void escape(int *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}
static void *run(void *p)
{
	int own = 1;
	escape(&own);
	__asm__ volatile("movl $7, %0" : "=m"(own)); /* on the own stack */
	mine += own;
	if (sem_trywait(&none)) /* the library sets errno */
		mine += errno;
	if (sem_trywait(&none))
		mine += errno;
	pthread_mutex_lock(&m);
	pairs[1] = pairs[0]; /* copies */
	pairs[0].a++;
	memcpy(&pairs[0], &pairs[1], sizeof pairs[0]);
	mine += pairs[0].b;
	u.whole += 0x10000000001; /* parts of different sizes */
	u.bytes[5]++;
	u.half += 2;
	memset(&u.bytes[2], 9, 3);
	mine += (int)u.whole;
	int *old = shared; /* blocks at one address, one after the other */
	mine += *old;
	free(old);
	shared = calloc(1, sizeof *shared);
	mine += *shared;
	*shared = 4;
	int *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mine += *page;
	*page = 5;
	munmap(page, 4096);
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	before = 1;
	__asm__ volatile("movl $7, %0" : "=m"(before)); /* while there is no other thread */
	sem_init(&none, 0, 0);
	shared = calloc(1, sizeof *shared);
	int sum = before;
	for (int i = 0; i < 2; i++) { /* threads with one stack, one after the other */
		pthread_create(&t, 0, run, 0);
		if (i == 0)
			run(0);
		sum += before;
		pthread_join(t, 0);
	}
	return sum == 21 ? 0 : 4;
}
//: explore
//= complete yes
//- said code that is not recorded
//= errors 
//: record -o t.hdl
//: races t.hdl
//= complete yes
