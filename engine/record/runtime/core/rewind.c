/*
 * rewind.c - puts the process's private memory back: all of it becomes read-only, and of each
 * page that a run writes to the trap of the first write keeps a copy.  Such a page stays
 * writable, so that later runs trap only at pages that no earlier one has written to.
 *
 * Mappings that a run makes are no concern of this file; shared ones (the log) are the
 * parent's.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "one_thread.h"
#include "rt.h"

enum {
	PAGE = 4096,
	MOST_PAGES = 4096, /* pages that runs write to; beyond, a new copy of the process is
	                    * cheaper */
	MOST_REGIONS = 512,
	BUCKETS = 2 * MOST_PAGES,
	STACK = 256 << 10,
	/* Upper bounds in bytes: of the C library's data for a thread, of an area of
	 * restartable sequences, and of both with the gap between them. */
	ACCOUNT = 4096,
	AREA = 256,
	MOST_ACCOUNT = 64 << 10,
};
struct region {
	uintptr_t lowest, low, high; /* the main stack grows down to `lowest` without a call */
};
/* State in pages of its own, which are not put back. */
static struct keeper {
	bool begun, stopped;
	unsigned regions, pages;
	struct region region[MOST_REGIONS];
	uintptr_t page[MOST_PAGES];                                 /* addresses, */
	char copy[MOST_PAGES][PAGE] __attribute__((aligned(PAGE))); /* and bytes */
	char stack[STACK] __attribute__((aligned(PAGE)));
} * keeper;

bool rewind_prepare(struct rewind_stack *stack)
{
	keeper = rt_pages(sizeof(*keeper));
	if (!keeper)
		return false;
	*stack = (struct rewind_stack){ keeper->stack, STACK };
	return true;
}

static uintptr_t lowest_of(uintptr_t low, uintptr_t high)
{
	struct rlimit limit;
	const uint64_t most = UINT64_C(64) << 30; /* for an unlimited stack, or a larger
	                                           * limit */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (here < low || here >= high || syscall(SYS_getrlimit, RLIMIT_STACK, &limit) != 0)
		return low;
	uint64_t room = limit.rlim_cur < most ? limit.rlim_cur : most;
	uintptr_t lowest = (high - room) & ~(uintptr_t)(PAGE - 1);
	return lowest < low ? lowest : low;
}

static bool add_region(uintptr_t low, uintptr_t high)
{
	if (low >= high)
		return true;
	if (keeper->regions == MOST_REGIONS)
		return false;
	keeper->region[keeper->regions++] = (struct region){ lowest_of(low, high), low, high };
	return true;
}

/* Adds private writable memory; false: some of it cannot be followed. */
static bool add_mapping(uintptr_t low, uintptr_t high, const char rights[4])
{
	uintptr_t own = (uintptr_t)keeper, end = own + sizeof(*keeper);
	if (rights[1] != 'w' || rights[3] != 'p')
		return true;
	if (rights[0] != 'r' || rights[2] == 'x')
		return false;
	if (high <= own || low >= end)
		return add_region(low, high);
	return (low >= own || add_region(low, own)) && (high <= end || add_region(end, high));
}

/* Lines of /proc/self/maps: "low-high rights ...". */
static bool read_regions(void)
{
	char text[4096], rights[4] = "";
	uintptr_t bound[2] = { 0, 0 };
	unsigned part = 0, right = 0; /* 0, 1: bounds; 2: rights; 3: the rest */
	long n, fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool good = fd >= 0;
	while (good && (n = syscall(SYS_read, fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n && good; i++) {
			char c = text[i];
			if (c == '\n') {
				good = add_mapping(bound[0], bound[1], rights);
				bound[0] = bound[1] = 0;
				part = right = 0;
			} else if (part < 2 && (c == '-' || c == ' ')) {
				part++;
			} else if (part < 2) {
				bound[part] = bound[part] << 4 |
				              (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
			} else if (part == 2 && right < 4) {
				rights[right++] = c;
			} else {
				part = 3;
			}
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return good && n == 0;
}

static bool set_rights(uintptr_t low, uintptr_t high, int rights)
{
	return raw_syscall(SYS_mprotect, (long)low, (long)(high - low), rights, 0, 0, 0) == 0;
}

void rewind_stop(void)
{
	if (!keeper->begun)
		return;
	keeper->begun = false;
	for (unsigned i = 0; i < keeper->regions; i++) {
		struct region r = keeper->region[i];
		set_rights(r.low, r.high, PROT_READ | PROT_WRITE);
		for (uintptr_t p = r.low; p > r.lowest; p -= PAGE)
			if (!set_rights(p - PAGE, p, PROT_READ | PROT_WRITE))
				break;
	}
}

bool rewind_goes_on(void)
{
	return keeper->begun;
}

bool rewind_write(uintptr_t address)
{
	uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
	bool known = false;
	for (unsigned i = 0; i < keeper->regions && !known; i++)
		known = page >= keeper->region[i].lowest && page < keeper->region[i].high;
	if (!keeper->begun || !known)
		return false;
	if (keeper->pages == MOST_PAGES) {
		rewind_stop();
		return true;
	}
	for (unsigned i = 0; i < keeper->pages; i++)
		if (keeper->page[i] == page)
			return false;
	memcpy(keeper->copy[keeper->pages], (const void *)page, PAGE);
	if (!set_rights(page, page + PAGE, PROT_READ | PROT_WRITE))
		return false;
	keeper->page[keeper->pages++] = page;
	return true;
}

void rewind_touch(void *memory, size_t bytes)
{
	uintptr_t at = (uintptr_t)memory, end = at + bytes;
	if (!keeper || !keeper->begun)
		return;
	for (; at < end; at = (at | (PAGE - 1)) + 1)
		rewind_write(at);
}

void rewind_back(void)
{
	for (unsigned i = 0; i < keeper->pages; i++)
		memcpy((void *)keeper->page[i], keeper->copy[i], PAGE);
}

static bool protect(uintptr_t low, uintptr_t high)
{
	return low >= high || set_rights(low, high, PROT_READ);
}

/* Offset of restartable sequences from the thread pointer; absent before the C library's
 * 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

/* Protects all pages, except the C library's data for this thread, with its area of
 * restartable sequences before or after it: there the kernel writes whenever the thread runs
 * again, and no handler would run. */
static bool protect_all(void)
{
	uintptr_t self = (uintptr_t)pthread_self(), low = self, high = self + ACCOUNT;
	bool good = true;
	if (&__rseq_offset) {
		uintptr_t area = self + (uintptr_t)__rseq_offset;
		low = area < low ? area : low;
		high = area + AREA > high ? area + AREA : high;
	}
	low &= ~(uintptr_t)(PAGE - 1);
	high = ((high - 1) | (PAGE - 1)) + 1;
	if (high - low > MOST_ACCOUNT)
		return false;
	for (uintptr_t page = low; page < high; page += PAGE)
		rewind_write(page);
	for (unsigned i = 0; i < keeper->regions && good; i++) {
		uintptr_t from = keeper->region[i].low, to = keeper->region[i].high;
		good = protect(from, to < low ? to : low) &&
		       protect(from > high ? from : high, to);
	}
	return good;
}

bool rewind_begin(void)
{
	keeper->regions = keeper->pages = 0;
	if (!read_regions())
		return false;
	keeper->begun = true;
	return protect_all();
}
