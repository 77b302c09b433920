/* uses of mappings that another thread ends: by mremap, which may move them, and in two parts by munmap */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static int *map, *parts;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *end(void *p)
{
	pthread_mutex_lock(&m);
	map = mremap(map, 4096, 8192, MREMAP_MAYMOVE);
	int *old = parts;
	parts = 0;
	pthread_mutex_unlock(&m);
	munmap((char *)old + 4096, 4096);
	munmap(old, 4096);
	return p;
}
static void *use(void *p)
{
	pthread_mutex_lock(&m);
	int *now = map, *part = parts;
	pthread_mutex_unlock(&m);
	int sum = now[1];
	return part && part[3] + sum ? p : 0;
}
int main(void)
{
	pthread_t t, u;
	map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	parts = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_create(&t, 0, use, 0);
	pthread_create(&u, 0, end, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return map[1];
}

//: explore
//= exit 1
//~ errors ^((signal|use-after-free)@unmapped.c:2[23] ?)+$
//: record -q -o t.hdl @
//: commute t.hdl --analysis cov
//= exit 1
//= kinds use-after-free race, use-after-free race
