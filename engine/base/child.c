/* child.c - see child.h. */
#include "engine/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Signals that we may ignore are the child's to handle. */
static void default_signals(posix_spawnattr_t *attributes, short flags)
{
	sigset_t defaults;
	posix_spawnattr_init(attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_setsigdefault(attributes, &defaults);
	posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGDEF | flags));
}

static int child_start(char *const *argv, bool silent, pid_t *pid)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	default_signals(&attributes, 0);
	posix_spawn_file_actions_init(&actions);
	for (int fd = STDOUT_FILENO; silent && fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
	int failed = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

int child_run(char *const *argv, bool silent)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_int, old_quit;
	pid_t pid;
	int status = -1;
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	int failed = child_start(argv, silent, &pid);
	while (!failed && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			failed = errno;
			status = -1;
		}
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	errno = failed;
	return status;
}

/* -- beside the caller ---------------------------------------------------------------------- */

/* The program runs in a session of its own, so that the processes it starts end with it, and
 * so that it cannot wait for a terminal. */
static int capture_start(char *const *argv, const char *folder, int out, pid_t *pid)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	default_signals(&attributes, POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&actions);
	if (folder)
		posix_spawn_file_actions_addchdir_np(&actions, folder);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	int failed = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

/* Reads the available bytes; false at the stream's end. */
static bool capture_read(int fd, struct capture *c, uint64_t *total)
{
	char bytes[4096];
	ssize_t length = read(fd, bytes, sizeof bytes);
	if (length <= 0)
		return length < 0 && (errno == EAGAIN || errno == EINTR);
	size_t room = *total < CAPTURE_MOST ? CAPTURE_MOST - *total : 0;
	size_t passed = MIN((size_t)length, room);
	if (passed && c->said)
		c->said(c->context, bytes, passed);
	c->unsaid += (uint64_t)length - passed;
	*total += (uint64_t)length;
	return true;
}

int child_capture(char *const *argv, struct capture *c, const struct progress *progress)
{
	enum { LOOK_MS = 50, GRACE_US = 300000 };
	int pipes[2], status = -1;
	pid_t pid = 0;
	c->stopped = c->timed_out = false;
	c->unsaid = 0;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -1;
	int failed = capture_start(argv, c->folder, pipes[1], &pid);
	close(pipes[1]);
	if (failed) {
		close(pipes[0]);
		errno = failed;
		return -1;
	}
	gint64 end = g_get_monotonic_time() + (gint64)c->seconds * G_USEC_PER_SEC, killed = 0;
	uint64_t total = 0;
	bool open = true, ended = false;
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	/* a process that it left behind may hold the pipe open: the program's own end
	 * suffices */
	while (!ended) {
		struct pollfd fd = { .fd = open ? pipes[0] : -1, .events = POLLIN };
		if (poll(&fd, 1, LOOK_MS) > 0)
			open = capture_read(pipes[0], c, &total);
		ended = waitpid(pid, &status, WNOHANG) == pid;
		gint64 now = g_get_monotonic_time();
		if (!ended && !killed) {
			c->timed_out = c->seconds && now >= end;
			c->stopped = !c->timed_out && !progress_tick(progress, 0, "");
			if (c->timed_out || c->stopped) {
				kill(-pid, SIGTERM);
				killed = now;
			}
		} else if (!ended && now - killed > GRACE_US) {
			kill(-pid, SIGKILL);
		}
	}
	kill(-pid, SIGKILL);
	struct pollfd rest = { .fd = pipes[0], .events = POLLIN };
	while (open && poll(&rest, 1, 0) > 0)
		open = capture_read(pipes[0], c, &total);
	close(pipes[0]);
	return status;
}

char *child_spelt(char *const *words)
{
	GString *out = g_string_new(NULL);
	for (; *words; words++) {
		bool plain = **words && strpbrk(*words, " \t\n'\"\\$`;&|<>()*?[]#~!{}") == NULL;
		g_autofree char *quoted = plain ? g_strdup(*words) : g_shell_quote(*words);
		g_string_append_printf(out, "%s%s", out->len ? " " : "", quoted);
	}
	return g_string_free(out, FALSE);
}
