/*
 * children.c - see children.h. One thread: it starts the command, takes the connections of
 * processes that ask to be recorded (joining.h), forks an attendant for each, and waits.
 */
#include "tui/batch/children/children.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/record/record.h"

#define SOCKET_NAME ".heddle"

/* While it runs. */
struct service {
	struct children *c;
	pid_t command; /* 0: it has ended */
	int folder;    /* that of the socket */
	int listener, signals;
	int turns;       /* joined.h */
	char *temporary; /* the folder, where it was made for the socket alone; or NULL */
	char *absolute;  /* the folder's path */
	char *path;      /* of the socket */
	GArray *asking;  /* int: connections that have not said anything yet */
	GHashTable *names;
	sigset_t mask; /* as it was */
	gint64 ended_us;
};

/* ---- names ---- */

/* The program's name, fit for a file's: libtool's programs have that of their script. */
static char *program_name(const char *file)
{
	enum { LONGEST = 200 };
	g_autofree char *folder = g_path_get_dirname(file), *base = g_path_get_basename(file);
	g_autofree char *within = g_path_get_basename(folder);
	bool libtool = strcmp(within, ".libs") == 0 && g_str_has_prefix(base, "lt-");
	char *name = g_strdup(base + (libtool ? strlen("lt-") : 0));
	for (char *at = name; *at; at++)
		if (!g_ascii_isalnum(*at) && !strchr("._+-=@,", *at))
			*at = '_';
	if (!g_ascii_isalnum(*name))
		*name = '_';
	if (strlen(name) > LONGEST)
		name[LONGEST] = '\0';
	return name;
}

/* What its name begins with: that of its program, or of the process that it was forked from. */
static char *name_base(const struct service *s, const struct joined *j)
{
	for (guint i = s->c->processes->len; j->forked && i-- > 0;) {
		const struct child_process *p = s->c->processes->pdata[i];
		if (p->pid == j->parent)
			return g_strdup(p->name);
	}
	return program_name(j->argv[0]);
}

/* A name that no file in the folder has, nor another process. */
static void name_process(struct service *s, const struct joined *j, struct child_process *p)
{
	char *base = name_base(s, j);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(s->names, base));
	do {
		g_free(p->name);
		g_free(p->output);
		p->name = g_strdup_printf("%s.%u", base, ++number);
		p->output = s->c->folder == NULL
		                    ? NULL
		                    : g_strdup_printf("%s/%s.hdl", s->absolute, p->name);
	} while (p->output && faccessat(AT_FDCWD, p->output, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	g_hash_table_replace(s->names, base, GUINT_TO_POINTER(number));
}

/* ---- attendants ---- */

static int file_of_memory(void)
{
	return memfd_create("heddle-notes", MFD_CLOEXEC);
}

/* In the attendant. It has neither the terminal's signals nor the command's streams, and ends
 * with this process: what it then leaves is the log. */
static _Noreturn void attend(struct service *s, struct child_process *p, struct joined *j,
                             pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	FILE *report = fdopen(p->report_file, "w");
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(null, 0);
	dup2(p->notes_file, 1);
	dup2(p->notes_file, 2);
	close(s->listener);
	close(s->signals);
	close(s->folder);
	for (guint i = 0; i < s->asking->len; i++)
		close(g_array_index(s->asking, int, i));
	for (int number = 1; number < NSIG; number++)
		if (number != SIGPIPE)
			signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	j->again = p->again;
	j->turns = s->turns;
	j->most = MAX(1, g_get_num_processors());
	j->ended = &p->shared->ended;
	if (getppid() == parent && report && joined_become(j))
		s->c->record(s->c->context, j, p->output, report, p->shared);
	fflush(NULL);
	_exit(0);
}

static void close_files(struct child_process *p)
{
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	p->shared = NULL;
	int files[] = { p->again, p->notes_file, p->report_file };
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (files[i] >= 0)
			close(files[i]);
}

static void free_process(gpointer pointer)
{
	struct child_process *p = pointer;
	g_free(p->name);
	g_free(p->output);
	g_free(p->notes);
	g_free(p->report);
	g_free(p);
}

/* A process of that number has become another program. */
static void end_earlier(const struct service *s, pid_t pid)
{
	const uint64_t one = 1;
	for (guint i = 0; i < s->c->processes->len; i++) {
		const struct child_process *p = s->c->processes->pdata[i];
		if (p->attendant && p->pid == pid && write(p->again, &one, sizeof(one)) < 0)
			kill(p->attendant, SIGTERM);
	}
}

/* Begins to attend to it. Where that fails, its connection is closed, and it goes on
 * unrecorded. */
static void begin_process(struct service *s, struct joined *j)
{
	struct child_process *p = g_new0(struct child_process, 1);
	pid_t parent = getpid();
	end_earlier(s, j->pid);
	name_process(s, j, p);
	p->pid = j->pid;
	p->again = eventfd(0, EFD_CLOEXEC);
	p->notes_file = file_of_memory();
	p->report_file = file_of_memory();
	void *shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p->shared = shared == MAP_FAILED ? NULL : shared;
	bool good = p->again >= 0 && p->notes_file >= 0 && p->report_file >= 0 && p->shared;
	p->attendant = good ? fork() : -1;
	if (p->attendant == 0)
		attend(s, p, j, parent);
	if (p->attendant < 0) {
		p->notes =
		        g_strdup_printf("heddle: cannot attend to it: %s\n", g_strerror(errno));
		p->report = g_strdup("");
		p->attendant = 0;
		close_files(p);
	}
	g_ptr_array_add(s->c->processes, p);
	joined_free(j);
}

static char *read_whole(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size == 0)
		return g_strdup("");
	char *text = g_malloc0((gsize)st.st_size + 1);
	if (pread(fd, text, (size_t)st.st_size, 0) < 0)
		*text = '\0';
	return text;
}

static void end_process(struct child_process *p, int status)
{
	p->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	p->attended = *p->shared;
	p->notes = read_whole(p->notes_file);
	p->report = read_whole(p->report_file);
	p->attendant = 0;
	close_files(p);
}

/* Takes note of the children of this process that have ended. */
static void reap(struct service *s)
{
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		if (pid == s->command) {
			s->command = 0;
			s->ended_us = g_get_monotonic_time();
			s->c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
			                                   : WEXITSTATUS(status);
		}
		for (guint i = 0; i < s->c->processes->len; i++) {
			struct child_process *p = s->c->processes->pdata[i];
			if (p->attendant == pid)
				end_process(p, status);
		}
	}
}

/* How many are attended to; of these, how many have ended, and wait for their traces. */
static guint attended(const struct service *s, guint *ended)
{
	guint count = 0;
	*ended = 0;
	for (guint i = 0; i < s->c->processes->len; i++) {
		const struct child_process *p = s->c->processes->pdata[i];
		count += p->attendant != 0;
		*ended += p->attendant != 0 &&
		          __atomic_load_n(&p->shared->ended, __ATOMIC_ACQUIRE);
	}
	return count;
}

/* Ends attendants: all, or those whose processes go on. The logs stay. */
static void leave(struct service *s, bool all)
{
	for (guint i = 0; i < s->c->processes->len; i++) {
		struct child_process *p = s->c->processes->pdata[i];
		if (p->attendant == 0 ||
		    (!all && __atomic_load_n(&p->shared->ended, __ATOMIC_ACQUIRE)))
			continue;
		p->left = true;
		kill(p->attendant, SIGTERM);
	}
}

/* ---- the socket ---- */

/* The folder for the traces, which is this command's alone while it runs. */
static bool open_folder(struct service *s, const char *path, struct error *error)
{
	if (g_mkdir_with_parents(path, 0777) != 0)
		return error_set(error, path, "choose another folder with -o",
		                 "cannot make the folder for the traces: %s",
		                 g_strerror(errno));
	s->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->folder < 0)
		return error_set(error, path, "choose another folder with -o",
		                 "cannot open the folder for the traces: %s",
		                 g_strerror(errno));
	if (flock(s->folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return error_set(error, path, "choose another folder with -o",
		                 "another 'heddle record --children' is writing there");
	struct stat old;
	if (fstatat(s->folder, SOCKET_NAME, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(old.st_mode))
		unlinkat(s->folder, SOCKET_NAME, 0); /* of one that was killed */
	return true;
}

static bool open_temporary(struct service *s, struct error *error)
{
	GError *g = NULL;
	s->temporary = g_dir_make_tmp("heddle-XXXXXX", &g);
	s->folder = s->temporary ? open(s->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (s->folder >= 0)
		return true;
	error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder that can be written to",
	          "cannot make a folder there: %s", g ? g->message : g_strerror(errno));
	g_clear_error(&g);
	return false;
}

static bool listen_there(struct service *s, const char *folder, struct error *error)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	g_snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" SOCKET_NAME,
	           s->folder);
	s->absolute = g_canonicalize_filename(folder, NULL);
	s->path = g_build_filename(s->absolute, SOCKET_NAME, NULL);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t mask = umask(0077);
	bool bound = s->listener >= 0 &&
	             bind(s->listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	             listen(s->listener, SOMAXCONN) == 0;
	int why = errno;
	umask(mask);
	if (bound)
		return true;
	g_clear_pointer(&s->path, g_free);
	return error_set(error, folder, "choose another folder with -o",
	                 "cannot make a socket in it, at which programs ask to be recorded: %s",
	                 g_strerror(why));
}

/* ---- the command ---- */

static bool set_environment(const struct service *s, struct error *error)
{
	g_autofree char *runtime = record_runtime_path(error);
	if (runtime == NULL)
		return false;
	/* programs that were built with -fsanitize=thread find the runtime by its library's
	 * name */
	g_autofree char *folder = g_path_get_dirname(runtime);
	g_autofree char *tsan = g_build_filename(folder, "tsan", NULL);
	const char *old = g_getenv("LD_LIBRARY_PATH");
	g_autofree char *path = old && *old ? g_strconcat(tsan, ":", old, NULL) : NULL;
	g_setenv("LD_LIBRARY_PATH", path ? path : tsan, TRUE);
	g_setenv(JOINING_ENVIRONMENT, s->path, TRUE);
	return true;
}

static bool start_command(struct service *s, struct error *error)
{
	int report[2], why = 0;
	if (!set_environment(s, error))
		return false;
	if (pipe2(report, O_CLOEXEC) != 0)
		return error_set(error, s->c->argv[0], NULL, "cannot start it: %s",
		                 g_strerror(errno));
	fflush(NULL);
	s->command = fork();
	if (s->command == 0) {
		sigprocmask(SIG_SETMASK, &s->mask, NULL);
		execvp(s->c->argv[0], s->c->argv);
		why = errno;
		_exit(write(report[1], &why, sizeof(why)) < 0 ? 126 : 125);
	}
	why = s->command < 0 ? errno : 0;
	close(report[1]);
	ssize_t n = 0;
	while (s->command > 0 && (n = read(report[0], &why, sizeof(why))) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (s->command > 0 && n <= 0)
		return true;
	if (s->command > 0)
		waitpid(s->command, NULL, 0);
	s->command = 0;
	return error_set(error, s->c->argv[0],
	                 "check the name; './prog' for one in this folder", "cannot run it: %s",
	                 g_strerror(why));
}

/* ---- waiting ---- */

/* Signals wait for read_signals from now on. */
static bool hold_signals(struct service *s, struct error *error)
{
	static const int numbers[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction now;
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals >= 0 || error_set(error, s->c->argv[0], NULL,
	                                    "cannot wait for it: %s", g_strerror(errno));
}

/* A signal is the command's while it runs (a terminal's Ctrl-C reaches it anyway), then it ends
 * the making of traces. */
static void read_signals(struct service *s)
{
	struct signalfd_siginfo info;
	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;
		if (number == SIGCHLD)
			reap(s);
		else if (s->command == 0 && s->c->interrupted)
			leave(s,
			      true); /* once more: for those that take the first as the run's */
		else if (s->command == 0)
			s->c->interrupted = number;
		else if (number == SIGTERM || number == SIGHUP)
			kill(s->command, number);
	}
}

static void take_connection(struct service *s, int socket)
{
	char *late;
	struct joined *j = joined_take(socket, &late);
	if (j)
		begin_process(s, j);
	if (late && !record_file_instrumented(late))
		g_hash_table_add(s->c->late, g_steal_pointer(&late));
	g_free(late);
}

/* Waits for something to happen, at most `limit_ms` (-1: any time). Processes that ask wait,
 * too, while `full`. */
static void wait_once(struct service *s, bool full, int limit_ms)
{
	enum { OWN = 2 };
	guint count = full ? 0 : s->asking->len;
	g_autofree struct pollfd *list = g_new0(struct pollfd, OWN + count);
	list[0] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	list[1] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
	for (guint i = 0; i < count; i++)
		list[OWN + i] = (struct pollfd){ .fd = g_array_index(s->asking, int, i),
			                         .events = POLLIN };
	if (poll(list, OWN + count, limit_ms) <= 0)
		return;
	for (guint i = count; i-- > 0;)
		if (list[OWN + i].revents) {
			g_array_remove_index(s->asking, i);
			take_connection(s, list[OWN + i].fd);
			break; /* now there may be enough */
		}
	int socket = list[1].revents ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
	if (socket >= 0)
		g_array_append_val(s->asking, socket);
	if (list[0].revents)
		read_signals(s);
}

/* Up to the end of the command, and of what it leaves behind: processes that go on for a second
 * are left to themselves. */
static void serve(struct service *s)
{
	enum { PATIENCE_US = 1000000, LOOK_MS = 20, MOST = 128 };
	bool left = false, given_up = false;
	for (;;) {
		guint ended, all = attended(s, &ended);
		gint64 since = s->command ? 0 : g_get_monotonic_time() - s->ended_us;
		if (s->command == 0 && all == 0 && s->asking->len == 0)
			return;
		if (s->c->interrupted && !given_up) {
			given_up = true;
			leave(s, true);
		}
		if (s->command == 0 && since > PATIENCE_US && !left) {
			left = true;
			leave(s, false);
		}
		if (left || given_up) { /* nothing new begins */
			for (guint i = 0; i < s->asking->len; i++)
				close(g_array_index(s->asking, int, i));
			g_array_set_size(s->asking, 0);
		}
		wait_once(s, ended >= MOST, s->command ? -1 : LOOK_MS);
	}
}

/* ---- the whole ---- */

/* The user's folders are named by this process's environment, not by a test's. */
static void settle_folders(void)
{
	g_get_user_cache_dir();
	g_get_user_state_dir();
	g_get_user_config_dir();
	g_get_user_data_dir();
	g_get_home_dir();
	g_get_tmp_dir();
}

static void end_service(struct service *s)
{
	if (s->path)
		unlinkat(s->folder, SOCKET_NAME, 0);
	int files[] = { s->listener, s->signals, s->folder, s->turns };
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (files[i] >= 0)
			close(files[i]);
	if (s->temporary)
		rmdir(s->temporary);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	g_array_free(s->asking, TRUE);
	g_hash_table_destroy(s->names);
	g_free(s->temporary);
	g_free(s->absolute);
	g_free(s->path);
}

bool children_run(struct children *c, struct error *error)
{
	struct service s = { .c = c, .folder = -1, .listener = -1, .signals = -1, .turns = -1 };
	c->processes = g_ptr_array_new_with_free_func(free_process);
	c->late = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s.asking = g_array_new(FALSE, FALSE, sizeof(int));
	s.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s.turns = file_of_memory();
	sigprocmask(SIG_SETMASK, NULL, &s.mask);
	settle_folders();
	bool good =
	        (c->folder ? open_folder(&s, c->folder, error) : open_temporary(&s, error)) &&
	        listen_there(&s, c->folder ? c->folder : s.temporary, error) &&
	        hold_signals(&s, error) && start_command(&s, error);
	if (good)
		serve(&s);
	end_service(&s);
	return good;
}

void children_release(struct children *c)
{
	g_ptr_array_free(c->processes, TRUE);
	g_hash_table_destroy(c->late);
}
