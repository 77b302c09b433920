/*
 * forked.c - where processes are recorded (record --children), a child by fork whose parent has
 * no other thread goes on with a recording of its own: that of its parent up to the fork, of
 * which it has all memory, and then its own events. So its log begins as a copy of its
 * parent's, and all else that the runtime knows stays as it is.
 *
 * What the parent goes on to write is in memory and a file that the two share: the part that
 * changes is copied before the fork.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/log/log.h"
#include "engine/record/runtime/sched/sched.h"
#include "engine/record/stub/join.h"
#include "rt.h"

static struct {
	char path[4096];  /* of the recorder's socket; "": there is none */
	char *copy;       /* the log's header, then its chunk */
	size_t used;      /* bytes of the chunk */
	bool ready;       /* the copy is that of the fork that is being made */
	uint32_t threads; /* in a child that is recorded: those that there were at the fork */
	bool is_child;
} forked;

void forked_init(char **env)
{
	const char *path = join_variable(env, JOINING_ENVIRONMENT);
	if (rt.config.recorder && path && strlen(path) < sizeof(forked.path))
		strcpy(forked.path, path);
}

/* Can a child be recorded? Its memory must be that of one thread, whose log is still there. */
static bool may_follow(const struct thread *t)
{
	const struct log_header *h = rt.header;
	return forked.path[0] && rt.controlled && !rt.replay && !rt.full && !rt.memory &&
	       t->id == 0 && rt.unjoined == 0 && h && h->status == LOG_RUNNING &&
	       !rt.config.keep_bytes && !(rt.config.flags & LOG_COMPRESSED) && h->chunks > 0 &&
	       h->chunks <= LOG_KEPT_CHUNKS && timers_remaining() == 0;
}

void forked_prepare(const struct thread *t)
{
	forked.ready = false;
	if (!may_follow(t))
		return;
	if (!forked.copy)
		forked.copy = rt_pages(LOG_HEADER + LOG_CHUNK);
	if (!forked.copy)
		return;
	memcpy(forked.copy, rt.header, LOG_HEADER);
	forked.used = log_copy_chunk(forked.copy + LOG_HEADER);
	forked.ready = true;
}

void forked_parent(void)
{
	forked.ready = false;
}

/* The whole chunks of the parent's log, which do not change any more. */
static bool copy_chunks(long to, uint64_t chunks)
{
	const size_t bytes = (size_t)(chunks - 1) * LOG_CHUNK;
	long from = bytes > 0 ? log_file_kept() : 0;
	bool good = from >= 0;
	for (size_t done = 0; good && done < bytes;) {
		static char part[1 << 16];
		long at = (long)(LOG_HEADER + done);
		long n = raw_syscall(SYS_pread64, from, (long)part, sizeof(part), at, 0, 0);
		good = n >= 0 && raw_syscall(SYS_pwrite64, to, (long)part, n, at, 0, 0) == n;
		done = n > 0 ? done + (size_t)n : bytes; /* a chunk may end before its room */
	}
	return good;
}

/* The new log takes the parent's place, in the descriptor and at the addresses of the old one.
 */
static bool take_log(const int got[JOINING_DESCRIPTORS])
{
	struct log_header *h = (struct log_header *)forked.copy;
	long number = offsetof(struct log_config, log), size = sizeof(rt.config.log);
	long recorder = offsetof(struct log_config, recorder);
	char magic[sizeof(h->magic)];
	if (!copy_chunks(got[2], h->chunks) ||
	    raw_syscall(SYS_pread64, got[0], (long)rt.config.log, size, number, 0, 0) != size ||
	    raw_syscall(SYS_pread64, got[0], (long)&rt.config.recorder,
	                sizeof(rt.config.recorder), recorder, 0,
	                0) != (long)sizeof(rt.config.recorder) ||
	    !log_take_chunk(got[1], forked.copy + LOG_HEADER, forked.used) ||
	    raw_syscall(SYS_mmap, (long)rt.header, LOG_HEADER, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_FIXED, got[2], 0) < 0)
		return false;
	h->pid = (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	h->taken = h->child_pc = h->child_lock = 0;
	h->child_of = h->ended = h->awaits = h->answer = 0;
	h->happened &=
	        ~(uint32_t)(LOG_FORKED | LOG_CHILD_THREADS | LOG_CHILD_ENDED | LOG_CLEARED);
	memcpy(magic, h->magic, sizeof(magic));
	memset(h->magic, 0, sizeof(h->magic));
	memcpy(rt.header, h, LOG_HEADER);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(rt.header->magic, magic, sizeof(magic)); /* a reader begins by it */
	log_file_become(got[2]);
	return true;
}

bool forked_child(void)
{
	struct joining_answer answer;
	int got[JOINING_DESCRIPTORS];
	if (rt.header && rt.header->pid == (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return true;
	if (!forked.ready)
		return false;
	forked.ready = false;
	long fd = join_connect(forked.path);
	if (fd < 0)
		return false;
	join_say(fd, JOINING_FORKED);
	bool heard = join_hear(fd, &answer, got), good = heard && take_log(got);
	for (int i = 0; heard && i < JOINING_DESCRIPTORS; i++)
		join_close(got[i]);
	if (heard && !good)
		join_say(fd, JOINING_FAILED);
	join_close(fd);
	if (!good)
		return false;
	forked.is_child = true;
	forked.threads = rt.thread_count;
	me->life.former = me->life.tid;
	me->life.tid = (pid_t)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return true;
}

bool forked_to_exec(void)
{
	return forked.is_child && rt.thread_count == forked.threads;
}
