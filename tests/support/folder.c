/* folder.c - see folder.h. */
#include "tests/support/folder.h"

#include <glib.h>
#include <glib/gstdio.h>

void folder_remove(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		char *inner = g_build_filename(path, name, NULL);
		if (g_file_test(inner, G_FILE_TEST_IS_DIR))
			folder_remove(inner);
		else
			g_unlink(inner);
		g_free(inner);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(path);
}
