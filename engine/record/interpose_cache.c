/* interpose_cache.c - see interpose_cache.h. */
#include "engine/record/interpose_cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/kept.h"

static const struct kept_kind libraries = { "bind-", ".library", 64, 256 << 20 };

char *interpose_cache_key(const char *source, char *const *compiler)
{
	g_autofree char *path = g_find_program_in_path(compiler[0]);
	struct stat st;

	if (path == NULL || stat(path, &st) != 0)
		return NULL;
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *identity = kept_identity(&st);
	g_autofree char *which = g_strdup_printf("%s %s", path, identity);
	/* each word with its end, so that different lists never have one key */
	g_checksum_update(sum, (const guchar *)which, (gssize)strlen(which) + 1);
	for (char *const *word = compiler; *word; word++)
		g_checksum_update(sum, (const guchar *)*word, (gssize)strlen(*word) + 1);
	g_checksum_update(sum, (const guchar *)"", 1);
	g_checksum_update(sum, (const guchar *)source, -1);
	return g_strdup(g_checksum_get_string(sum));
}

bool interpose_cache_take(const char *key, const char *path)
{
	size_t length;
	const void *bytes = kept_take(&libraries, key, &length);
	int to = bytes ? open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool taken = to >= 0 && file_write_all(to, bytes, length, -1);
	if (to >= 0)
		close(to);
	kept_release(bytes, length);
	return taken;
}

void interpose_cache_keep(const char *key, const char *path)
{
	g_autofree char *bytes = NULL;
	gsize length = 0;
	if (g_file_get_contents(path, &bytes, &length, NULL))
		kept_keep(&libraries, key, &(struct kept_part){ bytes, length }, 1);
}
