/* surroundings.c - see surroundings.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/record/joining.h"
#include "engine/record/surroundings.h"

enum { LOOKED_AT = 1024 }; /* descriptors; higher ones are rare, and near ours */

/* ---- one description: "fd=N:KIND", "cwd=PATH", "env=NAME:HASH", separated by blanks ---- */

static bool is_terminal(const struct stat *s)
{
	enum {
		CONSOLES = 4,
		TTYS = 5,
		PTYS = 136,
		LAST_PTYS = 143
	}; /* Linux' device numbers */
	unsigned kind = major(s->st_rdev);
	return kind == CONSOLES || kind == TTYS || (kind >= PTYS && kind <= LAST_PTYS);
}

/* A file of procfs on a descriptor: /proc/PID/WHAT/FD. */
static char *proc_of(pid_t pid, const char *what, int fd)
{
	return pid ? g_strdup_printf("/proc/%d/%s/%d", (int)pid, what, fd)
	           : g_strdup_printf("/proc/self/%s/%d", what, fd);
}

static const char *kind_of(pid_t pid, int fd)
{
	g_autofree char *path = proc_of(pid, "fd", fd);
	struct stat s;
	if (stat(path, &s) != 0)
		return "other";
	return S_ISREG(s.st_mode)    ? "file"
	       : S_ISDIR(s.st_mode)  ? "folder"
	       : S_ISFIFO(s.st_mode) ? "pipe"
	       : S_ISSOCK(s.st_mode) ? "socket"
	       : S_ISCHR(s.st_mode)  ? (is_terminal(&s) ? "terminal" : "device")
	                             : "other";
}

static bool is_inherited(int fd)
{
	int flags = fcntl(fd, F_GETFD);
	return flags >= 0 && !(flags & FD_CLOEXEC);
}

static bool is_inherited_by(pid_t pid, int fd)
{
	if (pid == 0)
		return is_inherited(fd);
	g_autofree char *path = proc_of(pid, "fdinfo", fd), *text = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	const char *flags = strstr(text, "flags:");
	return flags && !(strtoul(flags + strlen("flags:"), NULL, 8) & O_CLOEXEC);
}

/* Is it a variable that the shell or the terminal changes by itself? */
static bool is_restless(const char *name)
{
	static const char *const names[] = { "_",          "OLDPWD",
		                             "PWD",        "SHLVL",
		                             "LINES",      "COLUMNS",
		                             "LD_PRELOAD", JOINING_ENVIRONMENT };
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *surroundings_of(pid_t pid)
{
	enum { HASH = 6 }; /* digits of 4 bits */
	GString *text = g_string_new(NULL);
	g_autofree char *folder = g_get_current_dir();
	char *escaped = g_uri_escape_string(folder, "/", FALSE);
	g_string_append_printf(text, "cwd=%s", escaped);
	g_free(escaped);
	for (int fd = 0; fd < LOOKED_AT; fd++)
		if (is_inherited_by(pid, fd))
			g_string_append_printf(text, " fd=%d:%s", fd, kind_of(pid, fd));
	g_auto(GStrv) names = g_listenv();
	qsort(names, g_strv_length(names), sizeof(*names), by_name);
	for (char **name = names; *name; name++) {
		if (is_restless(*name))
			continue;
		g_autofree char *hash =
		        g_compute_checksum_for_string(G_CHECKSUM_SHA256, g_getenv(*name), -1);
		escaped = g_uri_escape_string(*name, NULL, FALSE);
		g_string_append_printf(text, " env=%s:%.*s", escaped, HASH, hash);
		g_free(escaped);
	}
	return g_string_free(text, FALSE);
}

char *surroundings_brief(const char *recorded)
{
	g_auto(GStrv) words = g_strsplit(recorded, " ", -1);
	g_autofree char *folder = NULL;
	unsigned descriptors = 0, variables = 0;
	for (char **w = words; *w; w++) {
		if (g_str_has_prefix(*w, "cwd=") && folder == NULL)
			folder = g_uri_unescape_string(*w + strlen("cwd="), NULL);
		descriptors += g_str_has_prefix(*w, "fd=");
		variables += g_str_has_prefix(*w, "env=");
	}
	return g_strdup_printf("folder %s, %u descriptor%s, %u environment variable%s",
	                       folder ? folder : "?", descriptors, descriptors == 1 ? "" : "s",
	                       variables, variables == 1 ? "" : "s");
}

/* ---- descriptors ---- */

/* The kinds of descriptors in a note, by number; NULL: not open. */
static void kinds_in(char **words, const char *kinds[LOOKED_AT])
{
	memset(kinds, 0, LOOKED_AT * sizeof(*kinds));
	for (char **w = words; *w; w++) {
		char *end;
		if (!g_str_has_prefix(*w, "fd="))
			continue;
		unsigned long fd = strtoul(*w + 3, &end, 10);
		if (*end == ':' && fd < LOOKED_AT)
			kinds[fd] = end + 1;
	}
}

/* Creates a descriptor of that number and kind; nothing else of it matters, as its input is
 * replayed. */
static void stand_in(int fd, const char *kind)
{
	int ends[2] = { -1, -1 }, made;
	if (strcmp(kind, "socket") == 0)
		made = socket(AF_UNIX, SOCK_STREAM, 0);
	else if (strcmp(kind, "pipe") == 0 && pipe(ends) == 0)
		made = ends[0];
	else
		made = open("/dev/null", O_RDWR);
	if (made >= 0 && made != fd && dup2(made, fd) == fd)
		close(made);
	if (ends[1] >= 0)
		close(ends[1]);
}

void surroundings_inherit(const char *recorded)
{
	g_auto(GStrv) words = g_strsplit(recorded, " ", -1);
	const char *kinds[LOOKED_AT];
	kinds_in(words, kinds);
	for (int fd = 3; fd < LOOKED_AT; fd++) {
		bool open_now = is_inherited(fd);
		if (open_now && !kinds[fd])
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		else if (!open_now && kinds[fd] && fcntl(fd, F_GETFD) < 0)
			stand_in(fd, kinds[fd]);
	}
}

/* ---- comparing ---- */

static void compare_kinds(char **recorded, char **now, GPtrArray *out)
{
	static const char *const names[] = { "standard input", "standard output",
		                             "standard error" };
	const char *was[LOOKED_AT], *is[LOOKED_AT];
	kinds_in(recorded, was);
	kinds_in(now, is);
	for (int fd = 0; fd < 3; fd++)
		if (g_strcmp0(was[fd], is[fd]) != 0)
			g_ptr_array_add(out,
			                g_strdup_printf("%s is %s%s, in the recording %s%s",
			                                names[fd], is[fd] ? "a " : "",
			                                is[fd] ? is[fd] : "closed",
			                                was[fd] ? "a " : "",
			                                was[fd] ? was[fd] : "closed"));
}

/* NAME -> HASH of the environment; borrows the words, which it cuts. */
static GHashTable *variables_in(char **words)
{
	GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
	for (char **w = words; *w; w++) {
		char *colon = strchr(*w, ':');
		if (!g_str_has_prefix(*w, "env=") || !colon)
			continue;
		*colon = '\0';
		g_hash_table_insert(table, *w + 4, colon + 1);
	}
	return table;
}

/* Lists the variables of `a` that `b` lacks, or (`both`) has with another value. */
static void list_variables(GHashTable *a, GHashTable *b, bool both, const char *words,
                           GPtrArray *out)
{
	enum { MOST = 8 };
	GList *names = g_list_sort(g_hash_table_get_keys(a), (GCompareFunc)strcmp);
	g_autoptr(GString) list = g_string_new(NULL);
	unsigned count = 0;
	for (GList *i = names; i; i = i->next) {
		const char *other = g_hash_table_lookup(b, i->data);
		if (both ? !other || strcmp(other, g_hash_table_lookup(a, i->data)) == 0
		         : other != NULL)
			continue;
		g_autofree char *name = g_uri_unescape_string(i->data, NULL);
		if (count++ < MOST)
			g_string_append_printf(list, "%s%s", list->len ? ", " : "",
			                       name ? name : (char *)i->data);
	}
	if (count > MOST)
		g_string_append_printf(list, " and %u more", count - MOST);
	if (count)
		g_ptr_array_add(out, g_strdup_printf(words, list->str));
	g_list_free(names);
}

static void compare_folders(char **recorded, char **now, GPtrArray *out)
{
	if (!recorded[0] || !now[0] || !g_str_has_prefix(recorded[0], "cwd=") ||
	    strcmp(recorded[0], now[0]) == 0)
		return;
	g_autofree char *folder = g_uri_unescape_string(recorded[0] + 4, NULL);
	g_ptr_array_add(out, g_strdup_printf("the working directory was %s in the recording",
	                                     folder ? folder : recorded[0] + 4));
}

GPtrArray *surroundings_compare(const char *recorded, const char *now)
{
	GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) was = g_strsplit(recorded, " ", -1), is = g_strsplit(now, " ", -1);
	compare_folders(was, is, out);
	compare_kinds(was, is, out);
	GHashTable *old = variables_in(was), *new = variables_in(is);
	list_variables(old, new, true, "environment: another value of %s", out);
	list_variables(old, new, false, "environment: %s, which the recording had, not set",
	               out);
	list_variables(new, old, false, "environment: %s set, which the recording had not",
	               out);
	g_hash_table_destroy(old);
	g_hash_table_destroy(new);
	return out;
}
