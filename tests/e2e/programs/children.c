/* A process with a thread, that ends as its first argument says, or makes another process. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int x;

static void *work(void *p)
{
	x = 1;
	return p;
}

static int status_of(pid_t child)
{
	int status;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int by_popen(const char *self)
{
	char command[500], line[500] = "";
	snprintf(command, sizeof command, "%s name", self);
	FILE *f = popen(command, "r");
	printf("popen: %s", fgets(line, sizeof line, f));
	return WEXITSTATUS(pclose(f));
}

static int by_spawn(char *self)
{
	pid_t child;
	char *argv[] = { "spawned", "exit", NULL };
	posix_spawn(&child, self, NULL, NULL, argv, environ);
	return status_of(child);
}

static int by_fork(char *self, char **env)
{
	char *argv[] = { "forked", "exit", NULL };
	pid_t child = fork();
	if (child == 0) {
		execve(self, argv, env);
		_exit(127);
	}
	return status_of(child);
}

static int by_system(const char *self)
{
	char command[500];
	snprintf(command, sizeof command, "%s exit", self);
	return WEXITSTATUS(system(command));
}

static int forked_alone(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(6);
	return status_of(child);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *self = argc > 2 ? argv[2] : argv[0], *none[] = { NULL };
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(8);
	if (!strcmp(how, "exit"))
		exit(9);
	if (!strcmp(how, "stderr"))
		fputs("a line on standard error\n", stderr);
	if (!strcmp(how, "name"))
		puts(argv[0]);
	if (!strcmp(how, "popen"))
		return by_popen(self);
	if (!strcmp(how, "posix_spawn"))
		return by_spawn(self);
	if (!strcmp(how, "fork"))
		return by_fork(self, environ);
	if (!strcmp(how, "cleared"))
		return by_fork(self, none);
	if (!strcmp(how, "system"))
		return by_system(self);
	if (!strcmp(how, "alone"))
		return forked_alone();
	if (!strcmp(how, "pid"))
		printf("%d %d\n", (int)getpid(), (int)getppid());
	if (!strcmp(how, "waits")) {
		puts("waits");
		fflush(stdout);
		return getchar() == EOF ? 3 : 4;
	}
	if (!strcmp(how, "self"))
		execl(self, "itself", "name", NULL);
	if (!strcmp(how, "shell"))
		execl("/bin/sh", "sh", "-c", "echo a shell; exit 4", NULL);
	return 0;
}
