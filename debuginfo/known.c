/*
 * known.c - a module's debug information in the user's cache (engine/base/kept.h) so that a
 * module is read once and not by each command. The key is of the module's path, inode, length
 * and times, and of this program; the file begins with the same of the places where a
 * separate debug file is looked for, so that one that comes or goes counts.
 */
#include "debuginfo/private.h"
#include "engine/base/kept.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* To be raised where the same file is read in another way. */
#define READING_VERSION 5

static const struct kept_kind modules = { "debug-", ".module", 64, 256 << 20 };
static const struct kept_kind answers = { "debug-", ".atomic", 256, 1 << 20 };

bool known_settled(const struct stat *st, struct timespec now)
{
	enum { TICK = 100000000 };
	bool whole = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;
	int64_t past = (int64_t)(now.tv_sec - st->st_ctim.tv_sec) * 1000000000 +
	               (now.tv_nsec - st->st_ctim.tv_nsec);
	return past > (whole ? 20 * (int64_t)TICK : TICK);
}

char *known_key(const char *path, enum reading most)
{
	struct stat module, program;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	g_autofree char *whole = g_canonicalize_filename(path, NULL);
	if (stat(path, &module) != 0 || !S_ISREG(module.st_mode) ||
	    !known_settled(&module, now) || stat("/proc/self/exe", &program) != 0)
		return NULL;
	g_autofree char *of = kept_identity(&module), *by = kept_identity(&program);
	g_autofree char *text =
	        g_strdup_printf("%d %d %s\n%s\n%s", READING_VERSION, (int)most, by, of, whole);
	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

/* -- separate debug files ------------------------------------------------------------------ */

static void add_place(GString *places, char *path)
{
	struct stat st;
	g_autofree char *identity = stat(path, &st) == 0 ? kept_identity(&st) : g_strdup("-");
	g_string_append_printf(places, "%s %s\n", path, identity);
	g_free(path);
}

/* The places where libdwarf looks for a separate debug file, with its identity or "none", a
 * line each. */
static char *separate_places(const char *path, const struct debug_links *links)
{
	const char *build_id = links->build_id, *link = links->link;
	GString *places = g_string_new(NULL);
	g_autofree char *whole = g_canonicalize_filename(path, NULL);
	g_autofree char *folder = g_path_get_dirname(whole), *last = g_path_get_basename(whole);
	add_place(places, g_strdup_printf("%s.dSYM/Contents/Resources/DWARF/%s", path, last));
	if (strlen(build_id) > 2)
		add_place(places, g_strdup_printf("/usr/lib/debug/.build-id/%.2s/%s.debug",
		                                  build_id, build_id + 2));
	if (link[0] != '\0') {
		add_place(places, g_build_filename(folder, link, NULL));
		add_place(places, g_build_filename(folder, ".debug", link, NULL));
		add_place(places, g_build_filename("/usr/lib/debug", folder, link, NULL));
	}
	return g_string_free(places, FALSE);
}

/* -- modules ------------------------------------------------------------------------------- */

/* Trailer of the file, after the arrays and the paths with their 0. */
struct known_tail {
	uint64_t places; /* bytes */
	struct debug_links links;
};

void *known_take(const char *key, const char *path, void *base, size_t *length)
{
	struct known_tail tail;
	char *bytes = key ? kept_take_at(&modules, key, base, length) : NULL;
	if (bytes == NULL)
		return NULL;
	size_t before = *length - MIN(*length, sizeof tail);
	memcpy(&tail, bytes + before, MIN(*length, sizeof tail));
	if (before > 0 && tail.places <= before) {
		g_autofree char *now = separate_places(path, &tail.links);
		const char *places = bytes + before - tail.places;
		if (strlen(now) + 1 == tail.places && memcmp(places, now, tail.places) == 0)
			return bytes;
	}
	kept_release(bytes, *length);
	return NULL;
}

void known_keep(const char *key, const char *path, enum reading most,
                const struct debug_links *links, const char *read, size_t length)
{
	g_autofree char *now = known_key(path, most);
	if (key == NULL || g_strcmp0(key, now) != 0) /* it has changed meanwhile */
		return;
	struct known_tail tail;
	memset(&tail, 0, sizeof tail);
	tail.links = *links;
	g_autofree char *places = separate_places(path, links);
	tail.places = strlen(places) + 1;
	const struct kept_part parts[] = { { read, length },
		                           { places, tail.places },
		                           { &tail, sizeof tail } };
	kept_keep(&modules, key, parts, G_N_ELEMENTS(parts));
}

/* -- answers ------------------------------------------------------------------------------- */

bool known_answer(const struct debuginfo *d, uint64_t *answer)
{
	size_t length;
	const void *bytes = d->key ? kept_take(&answers, d->key, &length) : NULL;
	bool known = bytes != NULL && length == sizeof *answer;
	if (known)
		memcpy(answer, bytes, sizeof *answer);
	kept_release(bytes, bytes ? length : 0);
	return known;
}

void known_keep_answer(const struct debuginfo *d, uint64_t answer)
{
	g_autofree char *now = d->key ? known_key(d->path, READ_NAMES) : NULL;
	if (now != NULL && strcmp(now, d->key) == 0)
		kept_keep(&answers, d->key, &(struct kept_part){ &answer, sizeof answer }, 1);
}
