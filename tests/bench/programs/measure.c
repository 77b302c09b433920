/*
 * measure.c - runs a command and writes "seconds seconds-of-children" of processor time (user
 * and system) to a file: of the command with all that it waited for, and the latter's part
 * alone.  Of `heddle record` the second is the recorded program, without making the trace.
 * Third and fourth: seconds passed, and the largest resident set in kB. Passes signals on, so
 * that a server can be ended through it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static void pass_on(int number)
{
	kill(child, number);
}

/* From the table of processes while it is there as a zombie: fields 16 and 17, in ticks. */
static double of_children(pid_t pid)
{
	char name[64];
	long user = 0, system = 0;
	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(name, "r");
	if (f &&
	    fscanf(f,
	           "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld",
	           &user, &system) != 2)
		user = system = 0;
	if (f)
		fclose(f);
	return (double)(user + system) / sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND...\n");
		return 125;
	}
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	signal(SIGINT, pass_on);
	signal(SIGTERM, pass_on);
	siginfo_t end;
	while (waitid(P_PID, child, &end, WEXITED | WNOWAIT) != 0)
		;
	double children = of_children(child);
	struct rusage usage;
	int status;
	wait4(child, &status, 0, &usage);
	clock_gettime(CLOCK_MONOTONIC, &to);
	FILE *f = fopen(argv[1], "w");
	if (!f)
		return 125;
	fprintf(f, "%.3f %.3f %.3f %ld\n",
	        usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	                1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
	        children,
	        (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec),
	        usage.ru_maxrss);
	fclose(f);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
