/*
 * main.c - entry point; commands are in tui/batch.
 */
#include "tui/batch/command.h"

#include <signal.h>

int main(int argc, char **argv)
{
	/* With SIGCHLD inherited as ignored, exit statuses of children would be lost. */
	signal(SIGCHLD, SIG_DFL);
	return command_main(argc, argv);
}
