/*
 * orders.c - operations whose outcome may depend on the order of the threads, and whose other
 * outcomes exploration does not try: that the program came to one is noted, each once.
 *
 * Those that the runtime stands before call order_matters; those of the C library and of
 * libstdc++ with a state of their own that it does not are named here, and met at the import
 * tables (missing/imports.c).
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/record/runtime/sched/sched_private.h"

void order_matters(const char *operation)
{
	if (rt.thread_count >= 2)
		order_matters_later(operation);
}

void order_matters_later(const char *operation)
{
	enum { MOST = 64 };
	static const char *known[MOST];
	static unsigned count;
	const struct thread *t = me;
	unsigned i = 0;
	if (!(rt.config.flags & LOG_EXPLORE) || !rt.on || t->gate)
		return;
	while (i < count && strcmp(known[i], operation) != 0)
		i++;
	if (i < count || count == MOST)
		return;
	known[count++] = operation;
	int error = errno;
	log_note("unordered", operation);
	errno = error;
}

void order_of_descriptor(int fd, bool writes, bool at_offset)
{
	struct stat s;
	if (!(rt.config.flags & LOG_EXPLORE) || rt.thread_count < 2 || fd <= 2)
		return;
	int error = errno, flags = fcntl(fd, F_GETFL);
	bool known = fstat(fd, &s) == 0 && flags != -1;
	errno = error;
	order_of_use(fd, !known);
	if (!known)
		return;
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

/*
 * Functions whose object (the first argument) counts when it is on no stack of the caller's.
 * Constructors run before there are other threads.
 */
static const struct ordered named[] = {
	{ "rand", ORDER_ALWAYS, NULL },
	{ "random", ORDER_ALWAYS, NULL },
	{ "srand", ORDER_ALWAYS, NULL },
	{ "srandom", ORDER_ALWAYS, NULL },
	{ "[dlm]rand48", ORDER_ALWAYS, NULL },
	{ "srand48", ORDER_ALWAYS, NULL },
	{ "setenv", ORDER_ALWAYS, NULL },
	{ "putenv", ORDER_ALWAYS, NULL },
	{ "unsetenv", ORDER_ALWAYS, NULL },
	{ "clearenv", ORDER_ALWAYS, NULL },
	{ "setlocale", ORDER_ALWAYS, NULL },
	{ "lockf*", ORDER_ALWAYS, NULL },
	{ "mkdir*", ORDER_ALWAYS, NULL },
	{ "rename*", ORDER_ALWAYS, NULL },
	{ "link", ORDER_ALWAYS, NULL },
	{ "symlink", ORDER_ALWAYS, NULL },
	{ "remove", ORDER_ALWAYS, NULL },
	{ "unlink*", ORDER_ALWAYS, NULL },
	{ "rmdir", ORDER_ALWAYS, NULL },
	{ "mknod*", ORDER_ALWAYS, NULL },
	{ "mkfifo*", ORDER_ALWAYS, NULL },
	{ "chdir", ORDER_ALWAYS, NULL },
	{ "fchdir", ORDER_ALWAYS, NULL },
	{ "umask", ORDER_ALWAYS, NULL },
	{ "truncate*", ORDER_ALWAYS, NULL },
	{ "fallocate*", ORDER_ALWAYS, NULL },
	{ "posix_fallocate*", ORDER_ALWAYS, NULL },
	{ "setrlimit*", ORDER_ALWAYS, NULL },
	{ "opendir", ORDER_ALWAYS, NULL },
	{ "scandir*", ORDER_ALWAYS, NULL },
	{ "glob*", ORDER_ALWAYS, NULL },
	{ "access", ORDER_LOOKS, NULL },
	{ "euidaccess", ORDER_LOOKS, NULL },
	{ "faccessat", ORDER_LOOKS_IN, NULL },
	{ "stat", ORDER_LOOKS, NULL },
	{ "stat64", ORDER_LOOKS, NULL },
	{ "lstat*", ORDER_LOOKS, NULL },
	{ "fstatat*", ORDER_LOOKS_IN, NULL },
	{ "statx", ORDER_LOOKS_IN, NULL },
	{ "__xstat*", ORDER_LOOKS_IN, NULL },
	{ "__lxstat*", ORDER_LOOKS_IN, NULL },
	{ "readlink", ORDER_LOOKS, NULL },
	{ "realpath", ORDER_LOOKS, NULL },
	{ "lseek*", ORDER_ALWAYS, NULL },
	{ "ftruncate*", ORDER_ALWAYS, NULL },
	{ "semctl", ORDER_ALWAYS, NULL },
	{ "msgctl", ORDER_ALWAYS, NULL },
	{ "mq_getattr", ORDER_ALWAYS, NULL },
	{ "mq_notify", ORDER_ALWAYS, NULL },
	{ "sigpending", ORDER_ALWAYS, NULL },
	{ "_ZNSt7__cxx1112basic_stringI*[CD][12]E*", ORDER_NEVER, NULL },
	{ "_ZNSt7__cxx1112basic_stringI*_M_create*", ORDER_NEVER, NULL },
	{ "_ZNSt7__cxx1112basic_stringI*_M_construct*", ORDER_NEVER, NULL },
	{ "_ZNSt7__cxx1112basic_stringI*_M_dispose*", ORDER_NEVER, NULL },
	{ "_ZNSt7__cxx1112basic_stringI*", ORDER_OBJECT, "changing a std::string" },
	{ "_ZNSo*", ORDER_OBJECT, "a std::ostream" },
	{ "_ZNSi*", ORDER_OBJECT, "a std::istream" },
	{ "_ZStlsI*", ORDER_OBJECT, "a std::ostream" },
	{ "_ZStrsI*", ORDER_OBJECT, "a std::istream" },
	{ "_ZSt16__ostream_insertI*", ORDER_OBJECT, "a std::ostream" },
};

const struct ordered *order_named(const char *name)
{
	for (unsigned i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (fnmatch(named[i].pattern, name, 0) == 0)
			return &named[i];
	return NULL;
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

void order_call(const struct thread *t, const struct ordered *f, const char *name,
                const uint64_t *arguments)
{
	uintptr_t object = arguments[0];
	if (f->kind == ORDER_LOOKS || f->kind == ORDER_LOOKS_IN) {
		order_of_name((const char *)arguments[f->kind == ORDER_LOOKS_IN], false);
		return;
	}
	if (sched_alone())
		return;
	if (f->kind == ORDER_OBJECT &&
	    ((object >= t->life.stack_low && object < t->life.stack_high) ||
	     is_printed(object)))
		return;
	order_matters(f->operation ? f->operation : name);
}
