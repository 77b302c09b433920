/* What one thread does to the process, or to a file, and another asks the system for: no order of these is tried, so no
 * report is complete, whichever of the two outcomes its runs show. */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *which;
static int ends[2], file, from, seen;
static pthread_t threads[2];
static struct sockaddr_in address = { .sin_family = AF_INET };
static void *mapped;
static FILE *stream;

static void first_end(void) { seen = seen * 2 + 1; }
static void second_end(void) { seen = seen * 3; }
static void handler(int number) { seen = number; }
static void other_handler(int number) { seen = -number; }

static int is(const char *name) { return strcmp(which, name) == 0; }

static void *one(void *p)
{
	struct iovec v = { "ab", 2 };
	if (is("pipe") || is("socket"))
		close(ends[0]);
	if (is("shutdown"))
		shutdown(ends[0], SHUT_RDWR);
	if (is("writev") && writev(file, &v, 1) != 2)
		abort();
	if (is("copy") && copy_file_range(from, 0, file, 0, 4, 0) != 4)
		abort();
	if (is("connect"))
		listen(ends[0], 1);
	if (is("dup2"))
		dup2(from, file);
	if (is("mode"))
		fcntl(file, F_SETFL, O_NONBLOCK);
	if (is("name"))
		pthread_setname_np(threads[1], "named");
	if (is("priority"))
		setpriority(PRIO_PROCESS, 0, 5);
	if (is("library"))
		dlopen("libz.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (is("map"))
		mmap(mapped, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (is("number"))
		syscall(SYS_close, file);
	if (is("prctl"))
		prctl(PR_SET_DUMPABLE, 0);
	if (is("semaphore"))
		sem_unlink("/heddle-case");
	if (is("ends"))
		atexit(first_end);
	if (is("handler"))
		signal(SIGUSR1, handler);
	if (is("place"))
		ungetc('x', stream);
	if (is("dup"))
		close(file);
	if (is("static"))
		l64a(5);
	if (is("lock")) {
		struct flock all = { .l_type = F_WRLCK };
		fcntl(from, F_OFD_SETLK, &all);
	}
	if (is("aio")) {
		int bytes = 0;
		struct aiocb b = { .aio_fildes = from, .aio_buf = &bytes, .aio_nbytes = 4 };
		const struct aiocb *list[] = { &b };
		aio_read(&b);
		seen = aio_error(&b);
		while (aio_error(&b) != 0)
			aio_suspend(list, 1, 0);
	}
	return p;
}

static void *two(void *p)
{
	char bytes[16] = "";
	struct stat s;
	if (is("pipe"))
		seen = (int)write(ends[1], "a", 1);
	if (is("socket") || is("shutdown"))
		seen = (int)send(ends[1], "a", 1, MSG_NOSIGNAL);
	if (is("writev") || is("copy"))
		seen = (int)pread(file, bytes, 4, 0);
	if (is("connect"))
		seen = connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address);
	if (is("dup2") && fstat(file, &s) == 0)
		seen = S_ISREG(s.st_mode);
	if (is("mode"))
		seen = fcntl(file, F_GETFL);
	if (is("name") && pthread_getname_np(pthread_self(), bytes, sizeof bytes) == 0)
		seen = bytes[0];
	if (is("priority"))
		seen = getpriority(PRIO_PROCESS, 0);
	if (is("library"))
		seen = dlsym(RTLD_DEFAULT, "deflate") != 0;
	if (is("map"))
		seen = *(int *)mapped;
	if (is("number"))
		seen = (int)syscall(SYS_lseek, file, 0, SEEK_CUR);
	if (is("prctl"))
		seen = prctl(PR_GET_DUMPABLE);
	if (is("ends"))
		atexit(second_end);
	if (is("handler"))
		seen = signal(SIGUSR1, other_handler) == handler;
	if (is("place"))
		seen = (int)ftell(stream);
	if (is("dup"))
		seen = dup(file);
	if (is("static"))
		seen = l64a(70)[0];
	if (is("lock")) {
		struct flock all = { .l_type = F_RDLCK };
		seen = fcntl(file, F_OFD_SETLK, &all);
	}
	if (is("semaphore"))
		seen = sem_open("/heddle-case", 0) != SEM_FAILED;
	return p;
}

int main(int count, char **arguments)
{
	socklen_t length = sizeof address;
	which = count > 1 ? arguments[1] : "none";
	signal(SIGPIPE, SIG_IGN);
	if (pipe(ends) != 0 || (file = fileno(tmpfile())) < 0 || (from = open("/proc/self/exe", O_RDONLY)) < 0)
		abort();
	stream = fopen("/proc/self/exe", "r");
	if (is("socket") || is("shutdown"))
		socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	if (is("connect")) {
		ends[0] = socket(AF_INET, SOCK_STREAM, 0);
		bind(ends[0], (void *)&address, length);
		getsockname(ends[0], (void *)&address, &length);
	}
	mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*(int *)mapped = 5;
	pthread_create(&threads[1], 0, two, 0);
	pthread_create(&threads[0], 0, one, 0);
	pthread_join(threads[0], 0);
	pthread_join(threads[1], 0);
	return 0;
}

//: explore --format json @ none
//= complete yes
//: explore --format json @ {pipe,socket,shutdown}
//= complete yes
//= executions 2
//: explore --format json @ {writev,copy,connect,dup2,mode,name,priority,library,map,number,prctl,semaphore,aio,ends,handler,place,dup,static,lock}
//= complete no
//= exit 3
//~ said what comes of it may depend on the order
