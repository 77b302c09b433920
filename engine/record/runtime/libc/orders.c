/*
 * orders.c - operations whose outcome may depend on the order of the threads, and whose other
 * outcomes exploration does not try; and those that use memory of the program which no event
 * shows. That the program came to one is noted, each once: the former in an exploration, the
 * latter in every recording, too, whose analyses do not see these accesses.
 *
 * Those that the runtime stands before call order_matters or accesses_unseen; those of the C
 * library and of libstdc++ with a state of their own that it does not are named here, and met
 * at the import tables (missing/imports.c).
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/record/runtime/libc/ranges.h"
#include "engine/record/runtime/sched/sched_private.h"

/* Does a note stand in a chunk of the log that is kept at least as long as this thread's? With
 * --last chunks are overwritten in their order, and with them what they note. Else `noted`, the
 * number of the chunk of the last note, becomes this thread's. */
static bool is_noted(uint64_t *noted)
{
	if (!rt.config.keep_bytes || !me->stream || !me->stream->chunk)
		return true;
	uint64_t own = ((const struct log_chunk *)(const void *)me->stream->chunk)->sequence;
	uint64_t before = __atomic_load_n(noted, __ATOMIC_RELAXED);
	if (before >= own)
		return true;
	__atomic_store_n(noted, own, __ATOMIC_RELAXED);
	return false;
}

/* Notes the operation, unless it is known or there are too many. In free mode threads come
 * here at once. */
static void note_once(const char *key, const char *operation)
{
	enum { MOST = 64 };
	static const char *known[MOST];
	static uint64_t noted[MOST];
	const struct thread *t = me;
	unsigned i = 0;
	bool first = false;
	if (!rt.on || t->gate)
		return;
	for (; i < MOST; i++) {
		const char *there = NULL;
		first = __atomic_compare_exchange_n(&known[i], &there, operation, false,
		                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (first || strcmp(there, operation) == 0)
			break;
	}
	/* of the first note, too, is_noted keeps the chunk */
	if (i == MOST || (is_noted(&noted[i]) && !first))
		return;
	int error = errno;
	log_note(key, operation);
	errno = error;
}

void order_matters(const char *operation)
{
	if (rt.several)
		order_matters_later(operation);
}

void order_matters_later(const char *operation)
{
	if (rt.config.flags & LOG_EXPLORE)
		note_once("unordered", operation);
}

void accesses_unseen(const char *operation)
{
	if (rt.several)
		accesses_unseen_later(operation);
}

void accesses_unseen_later(const char *operation)
{
	note_once(rt.config.flags & LOG_EXPLORE ? "unordered" : LOG_UNSEEN_NOTE, operation);
}

void order_of_descriptor(int fd, bool writes, bool at_offset)
{
	struct stat s;
	if (!(rt.config.flags & LOG_EXPLORE) || !rt.several || fd <= 2)
		return;
	int error = errno, flags = fcntl(fd, F_GETFL);
	bool known = fstat(fd, &s) == 0 && flags != -1;
	errno = error;
	order_of_use(fd, !known);
	if (!known)
		return;
	if (!S_ISREG(s.st_mode))
		order_of_mode(fd, false);
	if (channel_has_steps(writes ? outside_writes(fd) : outside_reads(fd)))
		return;
	if (writes && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode)))
		order_of_channel(&s, false);
	switch (s.st_mode & S_IFMT) {
	case S_IFCHR:
		return;
	case S_IFREG: /* a file that is only written is output; one that is only read does
	               * not change */
		order_of_content(&s, fd, writes, at_offset);
		if ((flags & O_ACCMODE) == O_RDWR && writes)
			order_matters("writing to a file that may be read again");
		return;
	case S_IFSOCK:
		if (!writes)
			order_matters("reading from a socket");
		return;
	case S_IFIFO:
		if (!writes)
			order_matters("reading from a pipe");
		return;
	default: /* an eventfd, a signalfd, ... */
		if (!writes)
			order_matters("reading from an eventfd or the like");
	}
}

/* A question about a descriptor's file: its kind, and the size of a regular one. */
static void order_of_status(int fd)
{
	struct stat s;
	int error = errno;
	bool known = fstat(fd, &s) == 0;
	errno = error;
	order_of_use(fd, !known);
	if (known && S_ISREG(s.st_mode))
		order_of_content(&s, fd, false, true);
}

/*
 * Functions whose object (the first argument) counts when it is on no stack of the caller's.
 * Constructors run before there are other threads.
 */
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
static const char thread_names[] = "the name of a thread",
                  priorities[] = "priorities and processors of threads",
                  libraries[] = "which libraries are loaded", handlers[] = "what a signal does",
                  ends[] = "functions for the program's end", domains[] = "the text domain";
#define MEMORY(name, arguments) \
	{ \
		name, ORDER_MEMORY, NULL, arguments \
	}
static const struct ordered named[] = {
	{ "rand", ORDER_ALWAYS, NULL, 0 },
	{ "random", ORDER_ALWAYS, NULL, 0 },
	{ "srand", ORDER_ALWAYS, NULL, 0 },
	{ "srandom", ORDER_ALWAYS, NULL, 0 },
	{ "[dlm]rand48", ORDER_ALWAYS, NULL, 0 },
	{ "srand48", ORDER_ALWAYS, NULL, 0 },
	{ "setenv", ORDER_ALWAYS, NULL, 0x3 },
	{ "putenv", ORDER_ALWAYS, NULL, 0x1 },
	{ "unsetenv", ORDER_ALWAYS, NULL, 0x1 },
	{ "clearenv", ORDER_ALWAYS, NULL, 0 },
	{ "setlocale", ORDER_ALWAYS, NULL, 0x2 },
	{ "lockf*", ORDER_ALWAYS, NULL, 0 },
	{ "mkdir*", ORDER_ALWAYS, NULL, 0x3 },
	{ "rename*", ORDER_ALWAYS, NULL, 0xf },
	{ "link", ORDER_ALWAYS, NULL, 0x3 },
	{ "symlink", ORDER_ALWAYS, NULL, 0x3 },
	{ "remove", ORDER_ALWAYS, NULL, 0x1 },
	{ "unlink*", ORDER_ALWAYS, NULL, 0 },
	{ "rmdir", ORDER_ALWAYS, NULL, 0 },
	{ "mknod*", ORDER_ALWAYS, NULL, 0x3 },
	{ "mkfifo*", ORDER_ALWAYS, NULL, 0x3 },
	{ "chdir", ORDER_ALWAYS, NULL, 0x1 },
	{ "fchdir", ORDER_ALWAYS, NULL, 0 },
	{ "umask", ORDER_ALWAYS, NULL, 0 },
	{ "truncate*", ORDER_ALWAYS, NULL, 0x1 },
	{ "fallocate*", ORDER_ALWAYS, NULL, 0 },
	{ "posix_fallocate*", ORDER_ALWAYS, NULL, 0 },
	{ "setrlimit*", ORDER_ALWAYS, NULL, 0 },
	{ "opendir", ORDER_ALWAYS, NULL, 0x1 },
	{ "scandir*", ORDER_ALWAYS, NULL, 0 },
	{ "glob*", ORDER_ALWAYS, NULL, 0x1 },
	{ "access", ORDER_LOOKS, NULL, 0x1 },
	{ "euidaccess", ORDER_LOOKS, NULL, 0x1 },
	{ "faccessat", ORDER_LOOKS_IN, NULL, 0x2 },
	{ "stat", ORDER_LOOKS, NULL, 0 },
	{ "stat64", ORDER_LOOKS, NULL, 0 },
	{ "lstat*", ORDER_LOOKS, NULL, 0 },
	{ "fstatat*", ORDER_LOOKS_IN, NULL, 0 },
	{ "statx", ORDER_LOOKS_IN, NULL, 0 },
	{ "__xstat*", ORDER_LOOKS_IN, NULL, 0 },
	{ "__lxstat*", ORDER_LOOKS_IN, NULL, 0 },
	{ "readlink", ORDER_LOOKS, NULL, 0 },
	{ "realpath", ORDER_LOOKS, NULL, 0 },
	{ "fstat", ORDER_STATUS, NULL, 0 },
	{ "fstat64", ORDER_STATUS, NULL, 0 },
	{ "__fxstat*", ORDER_STATUS, NULL, 1 },
	{ "dup", ORDER_USES, NULL, 0 },
	{ "dup[23]", ORDER_USES, NULL, 0 },
	{ "isatty", ORDER_USES, NULL, 0 },
	{ "f*sync", ORDER_USES, NULL, 0 },
	{ "fchmod", ORDER_USES, NULL, 0 },
	{ "fchown", ORDER_USES, NULL, 0 },
	{ "fdopen*", ORDER_CHANNEL, "a stream of the C library at a pipe or socket", 0 },
	{ "bind", ORDER_USES, NULL, 0 },
	{ "listen", ORDER_USES, NULL, 0 },
	{ "setsockopt", ORDER_CHANNEL, "an option of a pair of sockets", 0 },
	{ "getsockname", ORDER_USES, NULL, 0 },
	{ "getpeername", ORDER_USES, NULL, 0 },
	{ "getsockopt", ORDER_USES, NULL, 0 },
	{ "ioctl", ORDER_USES, NULL, 0 },
	{ "epoll_ctl", ORDER_USES, NULL, 0 },
	{ "readdir*", ORDER_STREAM, NULL, 0 },
	{ "rewinddir", ORDER_STREAM, NULL, 0 },
	{ "seekdir", ORDER_STREAM, NULL, 0 },
	{ "telldir", ORDER_STREAM, NULL, 0 },
	{ "ungetc", ORDER_STREAM, NULL, 1 },
	{ "ungetwc", ORDER_STREAM, NULL, 1 },
	{ "fseek*", ORDER_STREAM, NULL, 0 },
	{ "ftell*", ORDER_STREAM, NULL, 0 },
	{ "rewind", ORDER_STREAM, NULL, 0 },
	{ "writev", ORDER_WRITES, NULL, 0 },
	{ "pwritev*", ORDER_WRITES, NULL, 0 },
	{ "send*", ORDER_WRITES, NULL, 0 },
	{ "splice", ORDER_WRITES, NULL, 2 },
	{ "tee", ORDER_WRITES, NULL, 1 },
	{ "vmsplice", ORDER_WRITES, NULL, 0 },
	{ "copy_file_range", ORDER_WRITES, NULL, 2 },
	{ "connect", ORDER_ALWAYS, "connecting a socket", 0 },
	{ "accept*", ORDER_ALWAYS, "accepting a connection", 0 },
	{ "shm_*", ORDER_ALWAYS, NULL, 0x1 },
	{ "sem_open", ORDER_ALWAYS, NULL, 0x1 },
	{ "sem_unlink", ORDER_ALWAYS, NULL, 0 },
	{ "mq_open", ORDER_ALWAYS, NULL, 0x1 },
	{ "mq_unlink", ORDER_ALWAYS, NULL, 0x1 },
	{ "aio_*", ORDER_LATER, "asynchronous input and output", 0 },
	{ "lio_listio*", ORDER_LATER, "asynchronous input and output", 0 },
	{ "getaddrinfo_a", ORDER_LATER, NULL, 0 },
	{ "pthread_setname_np", ORDER_SETS, thread_names, 0 },
	{ "pthread_getname_np", ORDER_GETS, thread_names, 0 },
	{ "setpriority", ORDER_SETS, priorities, 0 },
	{ "nice", ORDER_SETS, priorities, 0 },
	{ "sched_set*", ORDER_SETS, priorities, 0 },
	{ "pthread_setsched*", ORDER_SETS, priorities, 0 },
	{ "pthread_setaffinity_np", ORDER_SETS, priorities, 0 },
	{ "getpriority", ORDER_GETS, priorities, 0 },
	{ "sched_get[aps]*", ORDER_GETS, priorities, 0 },
	{ "pthread_getsched*", ORDER_GETS, priorities, 0 },
	{ "pthread_getaffinity_np", ORDER_GETS, priorities, 0 },
	{ "signal", ORDER_SWAPS, handlers, 0 },
	{ "*sysv_signal", ORDER_SWAPS, handlers, 0 },
	{ "bsd_signal", ORDER_SWAPS, handlers, 0 },
	{ "sigset", ORDER_SWAPS, handlers, 0 },
	{ "sigaction", ORDER_SWAPS, handlers, 0 },
	{ "siginterrupt", ORDER_SETS, handlers, 0 },
	{ "raise", ORDER_GETS, handlers, 0 },
	{ "atexit", ORDER_SWAPS, ends, 0 },
	{ "__cxa_atexit", ORDER_SWAPS, ends, 0 },
	{ "on_exit", ORDER_SWAPS, ends, 0 },
	{ "__cxa_at_quick_exit", ORDER_SWAPS, ends, 0 },
	{ "pthread_key_delete", ORDER_ALWAYS, NULL, 0 },
	{ "tss_delete", ORDER_ALWAYS, NULL, 0 },
	{ "textdomain", ORDER_SWAPS, domains, 0 },
	{ "bind*textdomain*", ORDER_SWAPS, domains, 0 },
	{ "*gettext", ORDER_GETS, domains, 0 },
	{ "sbrk", ORDER_ALWAYS, NULL, 0 },
	{ "brk", ORDER_ALWAYS, NULL, 0 },
	{ "hsearch", ORDER_SWAPS, "the table of hsearch", 0x3 },
	/* their results lie in one place for all threads */
	{ "[ef]cvt", ORDER_SWAPS, NULL, 0 },
	{ "q[ef]cvt", ORDER_SWAPS, NULL, 0 },
	{ "l64a", ORDER_SWAPS, NULL, 0 },
	{ "crypt", ORDER_SWAPS, NULL, 0 },
	{ "getlogin", ORDER_SWAPS, NULL, 0 },
	{ "ttyname", ORDER_SWAPS, NULL, 0 },
	{ "ptsname", ORDER_SWAPS, NULL, 0 },
	{ "getgr*ent", ORDER_SWAPS, NULL, 0 },
	{ "getpwent", ORDER_SWAPS, NULL, 0 },
	{ "getgr[gn]*m", ORDER_SWAPS, NULL, 0 },
	{ "getgrgid", ORDER_SWAPS, NULL, 0 },
	{ "gethostent", ORDER_SWAPS, NULL, 0 },
	{ "getmntent", ORDER_SWAPS, NULL, 0 },
	{ "localeconv", ORDER_SWAPS, NULL, 0 },
	{ "dlopen", ORDER_SETS, libraries, 0x1 },
	{ "dlmopen", ORDER_SETS, libraries, 0 },
	{ "dlclose", ORDER_SETS, libraries, 0 },
	{ "dlv?sym", ORDER_GETS, libraries, 0 },
	{ "dlsym", ORDER_GETS, libraries, 0 },
	{ "dladdr*", ORDER_GETS, libraries, 0 },
	{ "dl_iterate_phdr", ORDER_GETS, libraries, 0 },
	{ "sete[ug]id", ORDER_ALWAYS, NULL, 0 },
	{ "setre*[ug]id", ORDER_ALWAYS, NULL, 0 },
	{ "set[ug]id", ORDER_ALWAYS, NULL, 0 },
	{ "lseek*", ORDER_ALWAYS, NULL, 0 },
	{ "ftruncate*", ORDER_ALWAYS, NULL, 0 },
	{ "semctl", ORDER_ALWAYS, NULL, 0 },
	{ "msgctl", ORDER_ALWAYS, NULL, 0 },
	{ "mq_getattr", ORDER_ALWAYS, NULL, 0 },
	{ "mq_notify", ORDER_ALWAYS, NULL, 0 },
	{ "sigpending", ORDER_ALWAYS, NULL, 0 },
	/* the caller's memory is found by a pointer to a pointer */
	{ "iconv", ORDER_ALWAYS, NULL, 0 },
	{ "mbs*rtowcs", ORDER_ALWAYS, NULL, 0 },
	{ "wcs*rtombs", ORDER_ALWAYS, NULL, 0 },
	{ "getsubopt", ORDER_ALWAYS, NULL, 0 },
	/* attributes: an argument that the function does not have is no pointer */
	MEMORY("pthread_attr_[gs]etaffinity_np", 0x5),
	MEMORY("pthread_attr_setsigmask_np", 0x3),
	{ "_ZNSt7__cxx1112basic_stringI*[CD][12]E*", ORDER_NEVER, NULL, 0 },
	{ "_ZNSt7__cxx1112basic_stringI*_M_create*", ORDER_NEVER, NULL, 0 },
	{ "_ZNSt7__cxx1112basic_stringI*_M_construct*", ORDER_NEVER, NULL, 0 },
	{ "_ZNSt7__cxx1112basic_stringI*_M_dispose*", ORDER_NEVER, NULL, 0 },
	{ "_ZNSt7__cxx1112basic_stringI*", ORDER_OBJECT, "changing a std::string", 0 },
	{ "_ZNSo*", ORDER_OBJECT, "a std::ostream", 0 },
	{ "_ZNSi*", ORDER_OBJECT, "a std::istream", 0 },
	{ "_ZStlsI*", ORDER_OBJECT, "a std::ostream", 0 },
	{ "_ZStrsI*", ORDER_OBJECT, "a std::istream", 0 },
	{ "_ZSt16__ostream_insertI*", ORDER_OBJECT, "a std::ostream", 0 },
};

/*
 * Functions that read or write memory of the caller's by these arguments, which nothing
 * records; results.c, texts.c, wide.c, search.c and strings.c have the others.
 */
static const struct ordered unseen[] = {
	MEMORY("*sw*printf", 0x3f),
	MEMORY("*sw*scanf", 0x3f),
	MEMORY("*wprintf", 0x3e),
	MEMORY("*dprintf", 0x3e),
	MEMORY("__isoc99_*sw*scanf", 0x3f),
	MEMORY("wcs*_l", 0x3),
	MEMORY("str*_l", 0x3),
	MEMORY("wcsncasecmp", 0x3),
	MEMORY("wcspbrk", 0x3),
	MEMORY("wcstok", 0x7),
	MEMORY("wcstold", 0x3),
	MEMORY("wcsftime", 0xd),
	MEMORY("wmemchr", 0x1),
	MEMORY("wmempcpy", 0x3),
	MEMORY("mbrlen", 0x5),
	MEMORY("mbsinit", 0x1),
	MEMORY("regerror", 0x6),
	MEMORY("regfree", 0x1),
	MEMORY("argz_*", 0x7),
	MEMORY("envz_*", 0x7),
	MEMORY("getopt*", 0x3e),
	MEMORY("wordexp", 0x3),
	MEMORY("memfrob", 0x1),
	MEMORY("strfry", 0x1),
	MEMORY("dirname", 0x1),
	MEMORY("*basename", 0x1),
	MEMORY("str*cpy", 0x3),
	MEMORY("strlcat", 0x3),
	MEMORY("gethostby*", 0x3f),
	MEMORY("getservby*", 0x3f),
	MEMORY("getprotoby*", 0x3f),
	MEMORY("inet_n*", 0x7),
	MEMORY("if_*", 0x3),
	MEMORY("ether_*", 0x3),
	MEMORY("getlogin_r", 0x1),
	MEMORY("getgrouplist", 0xc),
	MEMORY("getres[ug]id", 0x7),
	MEMORY("getloadavg", 0x1),
	MEMORY("ctermid", 0x1),
	MEMORY("tmpnam*", 0x1),
	MEMORY("*lgamma*_r", 0x3),
	MEMORY("sincos*", 0x7),
	MEMORY("remquo[fl]", 0x1),
	MEMORY("frexpl", 0x1),
	MEMORY("modfl", 0x1),
	MEMORY("[fq]?cvt_r", 0xf),
	MEMORY("[jlmn]rand48*", 0x7),
	MEMORY("*rand48_r", 0x7),
	MEMORY("seed48*", 0x7),
	MEMORY("lcong48*", 0x3),
	MEMORY("*state_r", 0x6),
	MEMORY("srandom_r", 0x2),
	MEMORY("[ltfi]*search", 0x3),
	MEMORY("tdelete", 0x3),
	MEMORY("tfind", 0x3),
	MEMORY("twalk*", 0x5),
	MEMORY("tdestroy", 0x1),
	MEMORY("h*search_r", 0x15),
	MEMORY("h*create_r", 0x2),
	MEMORY("hdestroy_r", 0x1),
	MEMORY("insque", 0x3),
	MEMORY("remque", 0x1),
	MEMORY("*statfs*", 0x2),
	MEMORY("ftime", 0x1),
	MEMORY("adjtimex", 0x1),
	MEMORY("sigaltstack", 0x3),
	MEMORY("tss_create", 0x1),
	MEMORY("fgetpos*", 0x2),
	MEMORY("fsetpos*", 0x2),
	MEMORY("open_*memstream", 0x3),
	MEMORY("setvbuf", 0x2),
	MEMORY("setbuf*", 0x2),
	MEMORY("process_vm_*", 0x3e),
	MEMORY("*xattr*", 0x7),
	MEMORY("readdir*_r", 0x6),
	MEMORY("dlsym", 0x2),
	MEMORY("psignal", 0x2),
	MEMORY("__xpg_strerror_r", 0x2),
	MEMORY("*getenv", 0x1),
	MEMORY("[fl]ch*at", 0x2),
	MEMORY("*chmod", 0x1),
	MEMORY("*chown", 0x1),
	MEMORY("utim*", 0x3),
	MEMORY("pathconf", 0x1),
	MEMORY("*syslog", 0x3e),
	MEMORY("system", 0x1),
	MEMORY("popen", 0x3),
	MEMORY("exec*", 0x3f),
	MEMORY("freopen*", 0x3),
};
/* The same of functions that the runtime stands before for another reason. */
static const struct ordered unseen_own[] = {
	MEMORY("fmemopen", 0x1),
	MEMORY("sem_unlink", 0x1),
	MEMORY("sem_open", 0x1),
};
#undef MEMORY

static const struct ordered *find(const struct ordered *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(rows[i].pattern, name, 0) == 0)
			return &rows[i];
	return NULL;
}

/* Does it use memory of the program that no event shows? */
static bool is_unseen(const struct ordered *f)
{
	switch (f->kind) {
	case ORDER_OBJECT:
		return true;
	case ORDER_ALWAYS:
	case ORDER_MEMORY:
	case ORDER_LOOKS:
	case ORDER_LOOKS_IN:
	case ORDER_USES:
	case ORDER_CHANNEL:
	case ORDER_SETS:
	case ORDER_GETS:
	case ORDER_SWAPS:
		return f->arguments != 0;
	default: /* its argument is a descriptor or a stream, or it has none */
		return false;
	}
}

const struct ordered *order_named(const char *name, bool own)
{
	const struct ordered *found = find(named, COUNT(named), name);
	if (!found)
		found = own ? find(unseen_own, COUNT(unseen_own), name)
		            : find(unseen, COUNT(unseen), name);
	bool matters = found && found->kind != ORDER_NEVER &&
	               (rt.config.flags & LOG_EXPLORE || is_unseen(found));
	return matters ? found : NULL;
}

/* Does every other thread's work come before this call in all schedules? A thread that has
 * ended and was not joined may make the same call, or access the same memory, later in another
 * one. */
static bool alone(void)
{
	return __atomic_load_n(&rt.unjoined, __ATOMIC_RELAXED) == 0;
}

/* Is the object a stream for output, which is no outcome? */
static bool is_printed(uintptr_t object)
{
	static const char *const streams[] = { "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog" };
	static uintptr_t places[3];
	static bool looked;
	bool is = false;
	for (unsigned i = 0; i < 3; i++) {
		if (!looked)
			places[i] = (uintptr_t)dlsym(RTLD_DEFAULT, streams[i]);
		is |= places[i] != 0 && object == places[i];
	}
	looked = true;
	return is;
}

/* Does an argument lead to memory that other threads may use? */
static bool may_be_shared(const struct thread *t, unsigned which, const uint64_t *arguments)
{
	for (unsigned i = 0; i < 6; i++) {
		uintptr_t p = arguments[i];
		bool own = p - t->life.stack_low < t->life.stack_high - t->life.stack_low;
		if (which >> i & 1 && p >= 4096 && !own && !range_constant((const void *)p))
			return true;
	}
	return false;
}

static bool is_open(int fd)
{
	int error = errno;
	bool open = fcntl(fd, F_GETFD) != -1;
	errno = error;
	return open;
}

/* The descriptor's channel is used in a way that the steps of an exploration do not have. */
static void order_otherwise(int fd, const char *operation)
{
	struct stat s;
	int error = errno;
	channel_steps_end(outside_reads(fd), operation);
	channel_steps_end(outside_writes(fd), operation);
	if (!outside_reads(fd) && !outside_writes(fd) && fstat(fd, &s) == 0 &&
	    S_ISFIFO(s.st_mode))
		order_matters_later(operation);
	errno = error;
}

static void call_of_state(const struct ordered *f, const char *name)
{
	const char *state = f->operation ? f->operation : f->pattern;
	const char *operation = f->operation ? f->operation : name;
	if (f->kind != ORDER_GETS)
		order_of_state(state, true, operation);
	if (f->kind != ORDER_SETS)
		order_of_state(state, false, operation);
}

void order_call(const struct thread *t, const struct ordered *f, const char *name,
                const uint64_t *arguments)
{
	uintptr_t object = arguments[0];
	bool looks = f->kind == ORDER_LOOKS || f->kind == ORDER_LOOKS_IN;
	if (looks)
		order_of_name((const char *)arguments[f->kind == ORDER_LOOKS_IN], false);
	switch (f->kind) {
	case ORDER_LATER:
		order_matters_later(f->operation ? f->operation : name);
		return;
	case ORDER_WRITES:
		order_of_descriptor((int)arguments[f->arguments], true, false);
		return;
	case ORDER_STATUS:
		order_of_status((int)arguments[f->arguments]);
		return;
	case ORDER_STREAM:
		order_of_stream((const void *)arguments[f->arguments], true);
		return;
	case ORDER_CHANNEL:
		order_otherwise((int)arguments[0], f->operation);
		/* fall through */
	case ORDER_USES:
		order_of_use((int)arguments[0], !is_open((int)arguments[0]));
		break;
	case ORDER_SETS:
	case ORDER_GETS:
	case ORDER_SWAPS:
		call_of_state(f, name);
		break;
	default:
		break;
	}
	/* a recording has no order to note, but memory that the function uses */
	bool always = f->kind == ORDER_ALWAYS && rt.config.flags & LOG_EXPLORE;
	bool other = !always && f->kind != ORDER_OBJECT;
	if (alone() || (other && !f->arguments))
		return;
	if (other && !may_be_shared(t, f->arguments, arguments))
		return;
	if (f->kind == ORDER_OBJECT &&
	    ((object >= t->life.stack_low && object < t->life.stack_high) ||
	     is_printed(object)))
		return;
	if (other)
		accesses_unseen(name);
	else if (f->kind == ORDER_OBJECT)
		accesses_unseen(f->operation);
	else
		order_matters(f->operation ? f->operation : name);
}
