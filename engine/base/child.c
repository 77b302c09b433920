/* child.c - see child.h. */
#include "engine/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int child_start(char *const *argv, bool silent, pid_t *pid)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t defaults;
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&actions);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
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

char *child_spelt(char *const *words)
{
	GString *out = g_string_new(NULL);
	for (; *words; words++) {
		bool plain = **words && strpbrk(*words, " \t\n'\"\\$`;&|<>()*?[]#~!{}") == NULL;
		char *quoted = plain ? g_strdup(*words) : g_shell_quote(*words);
		g_string_append_printf(out, "%s%s", out->len ? " " : "", quoted);
		g_free(quoted);
	}
	return g_string_free(out, FALSE);
}
