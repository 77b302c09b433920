/*
 * guard.c - reads a module in a child process: libdwarf and libelf crash on some damaged files
 * (libdwarf 20210528 frees damaged range lists twice), which must not end this program.
 *
 * The child writes the arrays of its struct debuginfo, sorted, into a memory file, with
 * pointers to strings that are right where the file is mapped at the address of its module's
 * key. At that address no pointer needs a change, and unused pages are not even read;
 * elsewhere the pointers are changed. If the child dies, a second one reads symbols as they
 * are in the file, and a third one these alone, without DWARF.
 */
#include "debuginfo/private.h"
#include "engine/base/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <libdwarf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSOR_SECONDS =
	        1200,      /* bound of the child's CPU time; large programs take a minute */
	IDLE_SECONDS = 60, /* bound without progress of the child */
};

/* An array of struct debuginfo: its member, its element size, and the strings in an element
 * (offset + 1; 0: end). */
struct array_form {
	size_t member, element, strings[2];
};
#define FORM(member, type, ...) \
	{ \
		offsetof(struct debuginfo, member), sizeof(type), \
		{ \
			__VA_ARGS__ \
		} \
	}
#define STRING(type, member) offsetof(type, member) + 1
static const struct array_form forms[] = {
	FORM(files, struct file_name, STRING(struct file_name, file),
	     STRING(struct file_name, path)),
	FORM(lines, struct line_row, 0),
	FORM(scopes, struct code_scope, 0),
	FORM(segments, struct scope_segment, 0),
	FORM(functions, struct function_record, STRING(struct function_record, public.name),
	     STRING(struct function_record, public.file)),
	FORM(locals, struct debug_local, STRING(struct debug_local, name)),
	FORM(slots, struct frame_slot, STRING(struct frame_slot, name)),
	FORM(types, struct type_record, STRING(struct type_record, public.name)),
	FORM(members, struct debug_member, STRING(struct debug_member, name)),
	FORM(variables, struct debug_variable, STRING(struct debug_variable, name),
	     STRING(struct debug_variable, file)),
	FORM(code_symbols, struct elf_symbol, STRING(struct elf_symbol, name),
	     STRING(struct elf_symbol, shown)),
	FORM(data_symbols, struct elf_symbol, STRING(struct elf_symbol, name),
	     STRING(struct elf_symbol, shown)),
	FORM(taken, uint64_t, 0),
	FORM(types_by_name, uint32_t, 0),
	FORM(functions_by_name, uint32_t, 0),
};

static GArray **array_at(struct debuginfo *d, const struct array_form *form)
{
	return (GArray **)(void *)((char *)d + form->member);
}

static GArray *array_of(const struct debuginfo *d, const struct array_form *form)
{
	return *array_at((struct debuginfo *)d, form);
}

/* Header of the child's output, followed by the arrays, each from a multiple of 8 bytes on, and
 * the strings. */
struct child_message {
	uint64_t base; /* where it is to be mapped */
	bool good, has_dwarf, damaged;
	enum debug_reads reads;
	struct debug_links links;
	char damage[512];
	struct error error;
	uint64_t counts[G_N_ELEMENTS(forms)];
};

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* The address of a module's image, by its key: of a thousand where other mappings rarely are
 * (also under the sanitizers), 256 MB apart. */
static void *image_base(const char *key)
{
	enum { IMAGES = 1024 };
	uint64_t number = key ? g_ascii_strtoull(key + strlen(key) - 8, NULL, 16) : 0;
	return key ? (void *)(uintptr_t)(UINT64_C(0x7e9000000000) + (number % IMAGES << 28))
	           : NULL;
}

bool debuginfo_read_here(struct debuginfo *d, enum reading most, struct error *error)
{
	if (!debuginfo_read_elf(d, error))
		return false;
	if (most >= READ_DWARF)
		debuginfo_read_dwarf(d);
	if (most >= READ_NAMES)
		debuginfo_show_symbols(d);
	return true;
}

/* -- the child ----------------------------------------------------------------------------- */

struct string_table {
	GHashTable *places; /* string -> offset in `bytes` + 1 */
	GByteArray *bytes;
	uint64_t base; /* where `bytes` will be */
};

static uintptr_t place_of(struct string_table *s, const char *text)
{
	if (text == NULL)
		return 0;
	uintptr_t place = (uintptr_t)g_hash_table_lookup(s->places, text);
	if (place == 0) {
		place = s->bytes->len + 1;
		g_byte_array_append(s->bytes, (const guint8 *)text, (guint)strlen(text) + 1);
		g_hash_table_insert(s->places, (void *)text, (void *)place);
	}
	return s->base + place - 1;
}

/* Call `change` for each pointer to a string in the records. */
static void change_strings(const struct debuginfo *d, void *context,
                           void change(void *context, char *at))
{
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);

		for (size_t i = 0; i < array->len * (size_t)(forms[f].strings[0] != 0); i++)
			for (int k = 0; k < 2 && forms[f].strings[k]; k++)
				change(context, array->data + i * forms[f].element +
				                        forms[f].strings[k] - 1);
	}
}

static void string_to_place(void *context, char *at)
{
	const char *text;

	memcpy(&text, at, sizeof text);
	uintptr_t place = place_of(context, text);
	memcpy(at, &place, sizeof place);
}

static void move_string(void *context, char *at)
{
	uint64_t *distance = context;
	uintptr_t place;

	memcpy(&place, at, sizeof place);
	place += place ? *distance : 0;
	memcpy(at, &place, sizeof place);
}

/* An empty array may have no address. */
static void child_write(const void *elements, size_t size, size_t count, FILE *out)
{
	static const char zeroes[8];
	if (count > 0)
		fwrite(elements, size, count, out);
	fwrite(zeroes, 1, padded(size * count) - size * count, out);
}

static bool child_send(const struct debuginfo *d, struct child_message *m, FILE *out)
{
	struct string_table s = { g_hash_table_new(g_direct_hash, g_direct_equal),
		                  g_byte_array_new(), m->base + padded(sizeof *m) };

	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		m->counts[f] = array_of(d, &forms[f])->len;
		s.base += padded(m->counts[f] * forms[f].element);
	}
	change_strings(d, &s, string_to_place);
	m->has_dwarf = d->has_dwarf;
	m->reads = d->reads;
	m->links = d->links;
	m->damaged = d->damage != NULL;
	g_strlcpy(m->damage, d->damage ? d->damage : "", sizeof m->damage);
	child_write(m, sizeof *m, 1, out);
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);
		child_write(array->data, forms[f].element, array->len, out);
	}
	child_write(s.bytes->data, 1, s.bytes->len, out);
	return fflush(out) == 0 && !ferror(out);
}

/* The C library prints the reason when it aborts; the parent reports instead. */
static void child_limit(void)
{
	struct rlimit none = { 0, 0 }, cpu = { PROCESSOR_SECONDS, PROCESSOR_SECONDS };
	static const int faults[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		signal(faults[i], SIG_DFL);
}

static _Noreturn void child_main(struct debuginfo *d, enum reading most, void *base, int fd)
{
	struct child_message m = { .base = (uintptr_t)base, .good = false };

	child_limit();
	/* libdwarf would look up each allocation in a tree to free it at the end. */
	dwarf_set_de_alloc_flag(0);
	m.good = debuginfo_read_here(d, most, &m.error);
	if (m.good)
		debuginfo_index(d);
	FILE *out = fdopen(fd, "wb");
	errno = 0;
	if (out && child_send(d, &m, out))
		_exit(0);
	_exit(errno > 0 && errno < 256 ? errno : EIO); /* the parent says which */
}

/* -- the parent ---------------------------------------------------------------------------- */

/* CPU seconds used by a process; negative: unknown. */
static double processor_time(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Wait for the child. After a fork in a threaded process it can block on a lock of another
 * thread: a child that uses no CPU time is killed. */
static int child_wait(pid_t pid)
{
	gint64 since = g_get_monotonic_time();
	double used = -1;
	int status;

	for (useconds_t nap = 200;; nap = MIN(nap * 2, 5000)) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return -1;
		usleep(nap);
		double now = processor_time(pid);
		if (now != used) {
			used = now;
			since = g_get_monotonic_time();
		} else if (g_get_monotonic_time() - since > IDLE_SECONDS * G_USEC_PER_SEC) {
			kill(pid, SIGKILL);
		}
	}
}

/* Take the child's output over: the arrays are in it. */
static void take_image(struct debuginfo *d, void *image, size_t length, bool kept)
{
	const struct child_message *m = image;
	char *bytes = (char *)image + padded(sizeof *m);
	uint64_t distance = (uintptr_t)image - m->base;

	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray **array = array_at(d, &forms[f]);

		g_array_unref(*array);
		*array = g_new(GArray, 1);
		(*array)->data = bytes;
		(*array)->len = (guint)m->counts[f];
		bytes += padded(m->counts[f] * forms[f].element);
	}
	d->image = image;
	d->image_length = length;
	d->image_kept = kept;
	if (distance != 0)
		change_strings(d, &distance, move_string);
	d->has_dwarf = m->has_dwarf;
	d->reads = m->reads;
	d->links = m->links;
	if (m->damaged)
		d->damage = g_strdup(m->damage);
}

void debuginfo_release_image(struct debuginfo *d)
{
	for (size_t f = 0; d->image && f < G_N_ELEMENTS(forms); f++)
		g_clear_pointer(array_at(d, &forms[f]), g_free);
	if (d->image_kept)
		kept_release(d->image, d->image_length);
	else if (d->image)
		munmap(d->image, d->image_length);
	d->image = NULL;
}

/* 1: read, for `base`; 0: refused, with `error`; -1: the child died, with `how`. `key`: to be
 * kept; or NULL. */
static int read_in_child(struct debuginfo *d, enum reading most, const char *key, void *base,
                         char *how, size_t room, struct error *error)
{
	int fd = memfd_create("heddle-debuginfo", MFD_CLOEXEC), status, result = -1;
	struct stat st;

	pid_t pid = fd < 0 ? -1 : fork();
	if (pid == 0)
		child_main(d, most, base, fd);
	status = pid < 0 ? -1 : child_wait(pid);
	if (pid < 0)
		g_snprintf(how, room, "could not be started: %s", g_strerror(errno));
	else if (status != -1 && WIFSIGNALED(status))
		g_snprintf(how, room, "was ended by signal %d (%s)", WTERMSIG(status),
		           strsignal(WTERMSIG(status)));
	else if (status != 0)
		g_snprintf(how, room, "could not write what it had read: %s",
		           status == -1 ? "it was lost" : g_strerror(WEXITSTATUS(status)));
	else if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(struct child_message))
		g_snprintf(how, room, "wrote nothing");
	else {
		size_t size = (size_t)st.st_size;
		void *bytes = kept_map(fd, size, base);

		if (bytes != MAP_FAILED) {
			const struct child_message *m = bytes;

			result = m->good;
			if (m->good && !m->damaged)
				known_keep(key, d->path, most, &m->links, bytes, size);
			if (m->good)
				take_image(d, bytes, size, false);
			else if (error)
				*error = m->error;
			if (!m->good)
				munmap(bytes, size);
		} else {
			g_snprintf(how, room,
			           "had a result of %zu bytes, which has no place: %s", size,
			           g_strerror(errno));
		}
	}
	if (fd >= 0)
		close(fd);
	return result;
}

bool debuginfo_read_guarded(struct debuginfo *d, enum reading most, struct error *error)
{
	char how[128] = "", last[128];
	int result = -1;
	g_autofree char *key = known_key(d->path, most);

	if (most == READ_NAMES)
		d->key = g_strdup(key);
	void *base = image_base(key);
	size_t length;
	void *known = known_take(key, d->path, base, &length);
	if (known != NULL) {
		take_image(d, known, length, true);
		return true;
	}
	for (int part = (int)most; part >= READ_SYMBOLS && result < 0; part--) {
		result = read_in_child(d, (enum reading)part, part == (int)most ? key : NULL,
		                       base, last, sizeof last, error);
		if (result < 0)
			g_strlcpy(how, last, sizeof how);
		else if (result > 0 && part < READ_DWARF && most >= READ_DWARF)
			d->damage = g_strdup_printf("the process that reads it %s", how);
	}
	if (result < 0)
		return error_set(error, place_line(d->path, 0).text,
		                 "build it again, or go on without its source lines",
		                 "cannot be read: the process that reads it %s", how);
	return result;
}
