/* recorded.c - see recorded.h. */
#include "engine/record/recorded.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 65, MOST_LINES = 4096 }; /* 64 hexadecimal digits and the end of the line */

/* Writes "DIGEST\n"; false when the program does not exist. */
static bool line_of(char *const *argv, char line[LINE + 1])
{
	g_autofree char *found =
	        strchr(argv[0], '/') ? g_strdup(argv[0]) : g_find_program_in_path(argv[0]);
	char *path = found ? realpath(found, NULL) : NULL;
	if (path == NULL)
		return false;
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_checksum_update(sum, (const guchar *)path, (gssize)strlen(path) + 1);
	for (char *const *word = argv + 1; *word; word++)
		g_checksum_update(sum, (const guchar *)*word, (gssize)strlen(*word) + 1);
	g_snprintf(line, LINE + 1, "%s\n", g_checksum_get_string(sum));
	free(path);
	return true;
}

static char *registry_path(void)
{
	return g_build_filename(g_get_user_state_dir(), "heddle", "recorded", NULL);
}

/* The file's lines; NULL if it is missing, or another user could have written it. */
static char *read_registry(const char *path)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 && st.st_size <= LINE * 2 * MOST_LINES) {
		text = g_malloc0((gsize)st.st_size + 1);
		if (read(fd, text, (size_t)st.st_size) < 0)
			*text = '\0';
	}
	close(fd);
	return text;
}

bool recorded_here(char *const *argv)
{
	char line[LINE + 1];
	if (argv[0] == NULL || !line_of(argv, line))
		return false;
	g_autofree char *path = registry_path(), *text = read_registry(path);
	return text && strstr(text, line) != NULL;
}

/* The later half stays. */
static void shorten(const char *path)
{
	g_autofree char *text = read_registry(path);
	size_t length = text ? strlen(text) : 0, lines = length / LINE;
	if (lines >= MOST_LINES)
		file_write_whole(path, text + lines / 2 * LINE, length - lines / 2 * LINE,
		                 NULL);
}

void recorded_remember(char *const *argv)
{
	char line[LINE + 1];
	if (argv[0] == NULL || recorded_here(argv) || !line_of(argv, line))
		return;
	g_autofree char *path = registry_path(), *folder = g_path_get_dirname(path);
	int fd = -1;
	if (g_mkdir_with_parents(folder, 0700) == 0) {
		shorten(path);
		fd = open(path,
		          O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		          0600);
	}
	if (fd >= 0) {
		(void)!write(fd, line, LINE);
		close(fd);
	}
}
