/* main.c - the program: everything it can do is a command. */
#include "tui/batch/command.h"

#include <signal.h>

int main(int argc, char **argv)
{
	/* A parent that ignores its children's ends leaves us that: ours would have no status.
	 */
	signal(SIGCHLD, SIG_DFL);
	return command_main(argc, argv);
}
