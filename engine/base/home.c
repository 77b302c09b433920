/*
 * home.c - see home.h.
 */
#include "engine/base/home.h"
#include "engine/base/base.h"

#include <sys/stat.h>
#include <unistd.h>

static char *existing(char *path)
{
	if (g_file_test(path, G_FILE_TEST_EXISTS))
		return path;
	g_free(path);
	return NULL;
}

char *home_find(const char *relative)
{
	g_autofree char *binary = g_file_read_link("/proc/self/exe", NULL);
	if (binary == NULL)
		return NULL;
	char *folder = g_path_get_dirname(binary);
	char *found =
	        existing(g_build_filename(folder, "..", "share", "heddle", relative, NULL));
	if (found == NULL)
		found = existing(
		        g_build_filename(folder, "..", "lib", "heddle", relative, NULL));
	/* in the source tree: ./heddle, build/asan/heddle, build/tests/unit/test_x */
	for (int up = 0; found == NULL && up <= 4; up++) {
		found = existing(g_build_filename(folder, relative, NULL));
		char *parent = g_path_get_dirname(folder);
		g_free(folder);
		folder = parent;
	}
	g_free(folder);
	return found;
}

char *home_cache(void)
{
	struct stat st;
	char *folder = g_build_filename(g_get_user_cache_dir(), "heddle", NULL);

	if (g_mkdir_with_parents(folder, 0700) == 0 && lstat(folder, &st) == 0 &&
	    S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return folder;
	g_free(folder);
	return NULL;
}
