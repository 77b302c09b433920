/*
 * affinity.c - the processor that all threads share in controlled mode; the program must not
 * notice that it is pinned.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(sched_getaffinity, pthread_getaffinity_np, sched_setaffinity, pthread_setaffinity_np,
           get_nprocs, sysconf);

static cpu_set_t original_affinity;

void rt_pin(void)
{
	if (syscall(SYS_sched_getaffinity, 0, sizeof(original_affinity), &original_affinity) <
	    0)
		return;
	rt.affinity = &original_affinity;
	unsigned cpu = 0;
	syscall(SYS_getcpu, &cpu, NULL, NULL);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	syscall(SYS_sched_setaffinity, 0, sizeof(one), &one);
}

static bool is_ours(size_t size, cpu_set_t *set)
{
	if (!rt.on || !rt.affinity)
		return false;
	memset(set, 0, size);
	memmove(set, rt.affinity, size < sizeof(*rt.affinity) ? size : sizeof(*rt.affinity));
	return true;
}
int interposed_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	int result = is_ours(size, set) ? 0 : REAL(sched_getaffinity)(pid, size, set);
	if (result == 0)
		WRITES(set, size);
	return result;
}
int interposed_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	int result = is_ours(size, set) ? 0 : REAL(pthread_getaffinity_np)(thread, size, set);
	if (result == 0)
		WRITES(set, size);
	return result;
}
int interposed_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return rt.on && rt.affinity ? 0 : REAL(sched_setaffinity)(pid, size, set);
}
int interposed_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	return rt.on && rt.affinity ? 0 : REAL(pthread_setaffinity_np)(thread, size, set);
}
static int processors(void)
{
	return rt.on && rt.affinity ? CPU_COUNT(rt.affinity) : 0;
}
int interposed_get_nprocs(void)
{
	int n = processors();
	return n ? n : REAL(get_nprocs)();
}
long interposed_sysconf(int name)
{
	int n = name == _SC_NPROCESSORS_ONLN ? processors() : 0;
	return n ? n : REAL(sysconf)(name);
}
