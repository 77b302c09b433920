/*
 * order_files.c - what threads share through the system: names, contents, the place in an open
 * file, a descriptor that is closed, the ends of pipes and sockets, the process's own state.
 * Exploration tries no other order of these; where two threads meet in one, with a change among
 * the two, order_matters names it (orders.c).
 *
 * Descriptors' numbers are names, as addresses are, and no outcome.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/record/runtime/sched/sched_private.h"

enum {
	MOST_MET = 256, /* entries of a table; in a full one all operations meet */
	MANY = -1,      /* threads that have met in an entry */
};

struct met {
	uint64_t key[2];
	int changed, looked; /* 1 + the thread that did, MANY, or 0 */
};

struct meetings {
	struct met list[MOST_MET];
	unsigned count;
};

static bool by_another(int who, int own)
{
	return who != 0 && who != own;
}

static int joined_by(int who, int own)
{
	return who == 0 || who == own ? own : MANY;
}

/* The caller changes or examines the entry with this key. True: one thread has examined it
 * and another changed it. */
static bool meet(struct meetings *m, uint64_t first, uint64_t second, bool changes)
{
	unsigned i = 0;
	int own = (int)me->id + 1;
	while (i < m->count && (m->list[i].key[0] != first || m->list[i].key[1] != second))
		i++;
	if (i == MOST_MET)
		return true;
	if (i == m->count)
		m->list[m->count++] = (struct met){ .key = { first, second } };
	struct met *x = &m->list[i];
	int *which = changes ? &x->changed : &x->looked;
	*which = joined_by(*which, own);
	return by_another(changes ? x->looked : x->changed, own);
}

/* The object with the key has ended; the next one of that number is another. */
static void forget(struct meetings *m, unsigned part, uint64_t key)
{
	for (unsigned i = m->count; i-- > 0;)
		if (m->list[i].key[part] == key)
			m->list[i] = m->list[--m->count];
}

static struct meetings names, places, contents, streams, descriptors, channels, modes, members,
        states;

static bool explored(void)
{
	return rt.config.flags & LOG_EXPLORE && rt.several && rt.on && !me->gate;
}

void order_of_name(const char *path, bool makes)
{
	uint64_t key = 0xcbf29ce484222325;
	if (path == NULL || !explored())
		return;
	const char *last = strrchr(path, '/'); /* by its last component, whatever the folder */
	for (last = last ? last + 1 : path; *last; last++)
		key = (key ^ (unsigned char)*last) * 0x100000001b3;
	if (meet(&names, key, 0, makes))
		order_matters("making a file that another thread looks for");
}

/* Two threads that read from one file offset each continue where the other stopped. */
static void order_of_place(const struct stat *s, int fd)
{
	uint64_t file = s->st_dev * HASH_FACTOR + s->st_ino;
	meet(&places, file, (uint64_t)fd, true);
	if (meet(&places, file, (uint64_t)fd, false))
		order_matters("reading on where another thread stopped");
}

void order_of_content(const struct stat *s, int fd, bool writes, bool at_offset)
{
	if (!explored())
		return;
	if (meet(&contents, s->st_dev, s->st_ino, writes))
		order_matters("reading a file that another thread writes");
	if (!writes && !at_offset)
		order_of_place(s, fd);
}

void order_of_stream(const void *stream, bool may_read)
{
	if (!may_read || !explored())
		return;
	meet(&streams, (uintptr_t)stream, 0, true);
	if (meet(&streams, (uintptr_t)stream, 0, false))
		order_matters("a stream that several threads use");
}

void order_of_stream_end(const void *stream)
{
	forget(&streams, 0, (uintptr_t)stream);
}

void order_of_use(int fd, bool closed)
{
	if (closed && fd >= 0)
		order_matters("using a descriptor that is closed");
	else if (fd > 2 && explored())
		meet(&descriptors, (uint64_t)fd, 0, false);
}

void order_of_channel(const struct stat *s, bool ends)
{
	/* the two ends of a pipe are one file, those of a connection are not */
	uint64_t file = S_ISFIFO(s->st_mode) ? s->st_ino : 0;
	if (explored() && meet(&channels, s->st_dev, file, ends))
		order_matters("closing a pipe or socket that another thread writes to");
}

void order_of_mode(int fd, bool sets)
{
	if (explored() && meet(&modes, (uint64_t)fd, 0, sets))
		order_matters("setting whether calls on a descriptor wait that another thread "
		              "uses");
}

void order_of_members(int set, bool changes)
{
	if (explored() && meet(&members, (uint64_t)set, 0, changes))
		order_matters(
		        "changing the members of an epoll instance at which another thread "
		        "waits");
}

void order_of_state(const char *state, bool sets, const char *operation)
{
	if (explored() && meet(&states, (uintptr_t)state, 0, sets))
		order_matters(operation);
}

static void closes_channel(int fd)
{
	struct stat s;
	int error = errno;
	if (explored() && !channel_has_steps(outside_reads(fd)) &&
	    !channel_has_steps(outside_writes(fd)) && fstat(fd, &s) == 0 &&
	    (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)))
		order_of_channel(&s, true);
	errno = error;
}

void order_of_close(int fd)
{
	closes_channel(fd);
	if (fd > 2 && explored() && meet(&descriptors, (uint64_t)fd, 0, true))
		order_matters("closing a descriptor that another thread uses");
	forget(&descriptors, 0, (uint64_t)fd);
	forget(&places, 1, (uint64_t)fd);
	forget(&modes, 0, (uint64_t)fd);
	forget(&members, 0, (uint64_t)fd);
}
