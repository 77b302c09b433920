/*
 * preinit.c - takes the place of gcc's libtsan_preinit.o, which would call libtsan. Part of
 * each executable: runs before all constructors, those of its libraries included.
 */
#define _GNU_SOURCE
#include "engine/record/stub/join.h"

static void before_all(int argc, char **argv, char **env)
{
	(void)argc;
	join_program(argv, env);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int, char **, char **) = before_all;
