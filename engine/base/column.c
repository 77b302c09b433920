/* column.c - see column.h. */
#include "engine/base/column.h"
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST = 1 << 8, HUGE = 8 << 20 }; /* elements; bytes */

void column_init(struct column *c, uint32_t element, const char *folder, uint64_t limit)
{
	*c = (struct column){
		.element = element, .file = -1, .limit = limit, .folder = folder
	};
}

void column_free(struct column *c)
{
	if (c->element == 0)
		return;
	if (c->file >= 0) {
		munmap(c->data, c->room * c->element);
		close(c->file);
	} else {
		g_free(c->data);
	}
	column_init(c, c->element, c->folder, c->limit);
}

/* Allocate the blocks: a page of a mapped file without a block is a SIGBUS on a full disk. */
static bool extend_file(int fd, uint64_t from, uint64_t to, int *failure)
{
	*failure = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
	return *failure == 0;
}

static bool grow_file(struct column *c, uint64_t bytes)
{
	uint64_t old = c->room * c->element;
	if (!extend_file(c->file, old, bytes, &c->failure))
		return false;
	void *data = mremap(c->data, old, bytes, MREMAP_MAYMOVE);
	if (data == MAP_FAILED) {
		c->failure = errno;
		return false;
	}
	c->data = data;
	return true;
}

/* False when no file can be made; the column then stays in memory. */
static bool move_to_file(struct column *c, uint64_t bytes)
{
	int fd = file_open_nameless(c->folder), failure;
	void *data = MAP_FAILED;
	if (fd >= 0 && extend_file(fd, 0, bytes, &failure))
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	memcpy(data, c->data, c->count * c->element);
	g_free(c->data);
	c->data = data;
	c->file = fd;
	return true;
}

static void grow_memory(struct column *c, uint64_t bytes)
{
	c->data = g_realloc(c->data, bytes);
	if (bytes < HUGE)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* Only speed: fewer page faults. The whole of malloc's mapping: in parts it could not
	 * be moved when it grows. */
	uintptr_t from = (uintptr_t)c->data & ~(page - 1);
	(void)madvise((void *)from,
	              ((uintptr_t)c->data + bytes - from + page - 1) & ~(page - 1),
	              MADV_HUGEPAGE);
}

bool column_grow(struct column *c)
{
	uint64_t room = c->room ? c->room + c->room / 2 : FIRST;
	uint64_t bytes = room * c->element;
	if (c->file >= 0) {
		if (!grow_file(c, bytes))
			return false;
	} else if (c->folder == NULL || bytes <= c->limit || !move_to_file(c, bytes)) {
		grow_memory(c, bytes);
	}
	c->room = room;
	return true;
}
