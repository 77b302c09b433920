/* capstone.c - loads libcapstone; see machine.h. */
#include "debuginfo/machine.h"

#include <dlfcn.h>
#include <glib.h>

#define TEXT(number)    #number
#define LIBRARY(number) "libcapstone.so." TEXT(number)

struct capstone capstone;

static void *load(void *none)
{
	void *library = dlopen(LIBRARY(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		g_error("cannot decode machine code: %s", dlerror());
#define C(name) \
	capstone.name = dlsym(library, "cs_" #name); \
	if (capstone.name == NULL) \
		g_error("cannot decode machine code: %s", dlerror());
	CAPSTONE_CALLS(C)
#undef C
	return library;
}

void capstone_load(void)
{
	static GOnce once = G_ONCE_INIT;
	g_once(&once, load, NULL);
}
