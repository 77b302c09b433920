/* Writes that are not recorded: a read sees another value than the last recorded write left. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int *x;
static int ends[2];
static void hand_over(int *p, int value) /* by the kernel */
{
	syscall(SYS_write, ends[1], &value, sizeof value);
	syscall(SYS_read, ends[0], p, sizeof *p);
}
#if WRITER == 1 /* inline assembly */
#define WRITE() __asm__ volatile("movl $5, %0" : "=m"(*x))
#elif WRITER == 2
#define WRITE() __asm__ volatile("addl $2, %0" : "+m"(*x) : : "cc")
#elif WRITER == 3 /* its output, which the compiler stores */
#define WRITE() __asm__ volatile("movl $5, %0" : "=r"(*x))
#elif WRITER == 4 /* a system call */
#define WRITE() hand_over(x, 5)
#elif WRITER == 5 /* code without instrumentation */
__attribute__((no_sanitize("thread"), noinline)) static void silent(int *p) { *p = 5; }
#define WRITE() silent(x)
#elif WRITER == 6 /* another process */
#define WRITE() \
	do { \
		pid_t p = fork(); \
		if (p == 0) { \
			*x = 5; \
			_exit(0); \
		} \
		waitpid(p, 0, 0); \
	} while (0)
#endif
static void *run(void *p)
{
	WRITE();
	return p;
}
int main(void)
{
	pthread_t t;
	pipe(ends);
	x = mmap(0, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*x = 3;
	pthread_create(&t, 0, run, 0);
	pthread_join(t, 0);
	return *x == 5 ? 0 : 4;
}
//: build -DWRITER={1,2,3,4,5,6}
//: explore
//= complete no
//~ said main reads \*x = 5 at unexplained.c:53, after \*x = 3 at unexplained.c:50: code that is not recorded .* wrote it; orders in which
//: record -o t.hdl
//: races t.hdl
//= complete no
//~ said ^main reads \*x = 5 at unexplained.c:53, after \*x = 3 at unexplained.c:50: code that is not recorded .* wrote it, and what conflicts
//: deadlocks t.hdl
//= complete yes
