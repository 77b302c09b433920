/* main.c - the program: everything it can do is a command. */
#include "tui/batch/command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
