/*
 * so_far.c - see so_far.h. The chunk that is being filled lies in memory that the program
 * shares with us; those before it are whole in the file (runtime/log/chunks.c). A record's
 * first word is written last, so the chunk read from its beginning is what a killed program
 * leaves. Its magic goes before the chunk is cleared for the next: as long as it stands the
 * words do.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/layout.h"
#include "engine/record/so_far.h"

enum { WORDS = LOG_CHUNK / sizeof(uint64_t), HEAD = sizeof(struct log_chunk) };

struct so_far {
	int log;
	char *folder;
	const volatile uint64_t *chunk; /* mapped */
	uint64_t *copy;                 /* LOG_CHUNK bytes */
};

struct so_far *so_far_new(const char *path, int buffer)
{
	void *chunk = mmap(NULL, LOG_CHUNK, PROT_READ, MAP_SHARED, buffer, 0);
	int log = open(path, O_RDONLY | O_CLOEXEC);
	if (chunk == MAP_FAILED || log < 0) {
		if (chunk != MAP_FAILED)
			munmap(chunk, LOG_CHUNK);
		if (log >= 0)
			close(log);
		return NULL;
	}
	struct so_far *s = g_new0(struct so_far, 1);
	*s = (struct so_far){ log, file_folder(path), chunk, g_malloc(LOG_CHUNK) };
	return s;
}

void so_far_free(struct so_far *s)
{
	if (s == NULL)
		return;
	munmap((void *)(uintptr_t)s->chunk, LOG_CHUNK);
	close(s->log);
	g_free(s->folder);
	g_free(s->copy);
	g_free(s);
}

/* Its head, read at once: false while there is none. */
static bool chunk_head(const struct so_far *s, struct log_chunk *head)
{
	uint64_t *words = (uint64_t *)(void *)head;
	_Static_assert(HEAD % sizeof(uint64_t) == 0, "a head is whole words");
	for (size_t i = 0; i < HEAD / sizeof(uint64_t); i++)
		words[i] = s->chunk[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return head->magic == LOG_CHUNK_MAGIC;
}

/* Words of the chunk up to the last that is not 0. */
static size_t words_used(const volatile uint64_t *chunk)
{
	size_t used = WORDS;
	while (used > HEAD / sizeof(uint64_t) && chunk[used - 1] == 0)
		used--;
	return used;
}

uint64_t so_far_length(const struct so_far *s)
{
	struct log_chunk head;
	if (!chunk_head(s, &head))
		return 0;
	return head.sequence * LOG_CHUNK + words_used(s->chunk) * sizeof(uint64_t);
}

/* The chunk into s->copy; false when it was being changed. */
static bool copy_chunk(const struct so_far *s, struct log_chunk *head)
{
	struct log_chunk after;
	if (!chunk_head(s, head))
		return false;
	for (size_t i = 0; i < WORDS; i++)
		s->copy[i] = s->chunk[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return chunk_head(s, &after) && after.sequence == head->sequence;
}

/* The header and the whole chunks. */
static bool copy_file(const struct so_far *s, int to, uint64_t end)
{
	g_autofree char *bytes = g_malloc(LOG_CHUNK);
	uint64_t at = 0;
	for (ssize_t n = 1; at < end && n > 0; at += (uint64_t)MAX(n, 0)) {
		n = pread(s->log, bytes, MIN(LOG_CHUNK, end - at), (off_t)at);
		if (n > 0 && !file_write_all(to, bytes, (size_t)n, (off_t)at))
			n = -1;
	}
	return at == end;
}

int so_far_copy(const struct so_far *s)
{
	struct log_chunk head;
	if (!copy_chunk(s, &head))
		return -1;
	uint64_t end = log_chunk_offset(0, head.sequence);
	size_t bytes = MIN(words_used(s->copy) + 1, WORDS) * sizeof(uint64_t);
	int to = file_open_nameless(s->folder);
	if (to >= 0 && copy_file(s, to, end) &&
	    file_write_all(to, (const char *)s->copy, bytes, (off_t)end))
		return to;
	if (to >= 0)
		close(to);
	return -1;
}
