/*
 * guard.c - a module is read in a child process: libdwarf and libelf have faults that damaged
 * files reach (libdwarf 20210528 frees twice on damaged range lists), and a fault in somebody
 * else's binary must not end this program.
 *
 * The child reads into its copy of struct debuginfo and writes the arrays into a file in
 * memory, with offsets into one table in the place of pointers to strings; this process takes
 * them over.  A child that dies is tried again without the DWARF; the symbols may do.
 */
#include "debuginfo/private.h"

#include <errno.h>
#include <fcntl.h>
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
	PROCESSOR_SECONDS = 1200, /* of the child: larger programs take a minute */
	IDLE_SECONDS = 60,        /* without any progress of the child */
};

/* An array of struct debuginfo: where it is, its elements, and the strings in one of them
 * (offset + 1; 0: no more). */
struct form {
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
static const struct form forms[] = {
	FORM(files, struct file_name, STRING(struct file_name, file),
	     STRING(struct file_name, path)),
	FORM(lines, struct line_row, 0),
	FORM(scopes, struct scope, 0),
	FORM(ranges, struct scope_range, 0),
	FORM(functions, struct function_record, STRING(struct function_record, public.name),
	     STRING(struct function_record, public.file)),
	FORM(locals, struct debug_local, STRING(struct debug_local, name)),
	FORM(slots, struct frame_slot, STRING(struct frame_slot, name)),
	FORM(types, struct type_record, STRING(struct type_record, public.name)),
	FORM(members, struct debug_member, STRING(struct debug_member, name)),
	FORM(variables, struct debug_variable, STRING(struct debug_variable, name),
	     STRING(struct debug_variable, file)),
	FORM(code_symbols, struct symbol, STRING(struct symbol, name)),
	FORM(data_symbols, struct symbol, STRING(struct symbol, name)),
	FORM(taken, uint64_t, 0),
};

static GArray *array_of(const struct debuginfo *d, const struct form *form)
{
	return *(GArray *const *)(const void *)((const char *)d + form->member);
}

/* What the child says; the arrays follow, then the strings. */
struct message {
	bool good, has_dwarf, damaged;
	char build_id[sizeof(((struct debuginfo *)NULL)->build_id)];
	char damage[512];
	struct error error;
	uint64_t counts[G_N_ELEMENTS(forms)], string_bytes;
};

/* ---- the child ---- */

struct strings {
	GHashTable *places; /* the string -> its place in `bytes`, + 1 */
	GByteArray *bytes;
};

static uintptr_t place_of(struct strings *s, const char *text)
{
	uintptr_t place;

	if (text == NULL)
		return 0;
	place = (uintptr_t)g_hash_table_lookup(s->places, text);
	if (place == 0) {
		place = s->bytes->len + 1;
		g_byte_array_append(s->bytes, (const guint8 *)text, (guint)strlen(text) + 1);
		g_hash_table_insert(s->places, (void *)text, (void *)place);
	}
	return place;
}

static void strings_to_places(const struct debuginfo *d, struct strings *s)
{
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);

		for (size_t i = 0; i < array->len * (size_t)(forms[f].strings[0] != 0); i++) {
			for (int k = 0; k < 2 && forms[f].strings[k]; k++) {
				char *at = array->data + i * forms[f].element +
				           forms[f].strings[k] - 1;
				const char *text;
				uintptr_t place;

				memcpy(&text, at, sizeof text);
				place = place_of(s, text);
				memcpy(at, &place, sizeof place);
			}
		}
	}
}

/* An empty array may have no address. */
static void put(const void *elements, size_t size, size_t count, FILE *out)
{
	if (count > 0)
		fwrite(elements, size, count, out);
}

static bool send(const struct debuginfo *d, struct message *m, FILE *out)
{
	struct strings s = { g_hash_table_new(g_direct_hash, g_direct_equal),
		             g_byte_array_new() };

	strings_to_places(d, &s);
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++)
		m->counts[f] = array_of(d, &forms[f])->len;
	m->string_bytes = s.bytes->len;
	m->has_dwarf = d->has_dwarf;
	memcpy(m->build_id, d->build_id, sizeof m->build_id);
	m->damaged = d->damage != NULL;
	g_strlcpy(m->damage, d->damage ? d->damage : "", sizeof m->damage);
	put(m, sizeof *m, 1, out);
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);
		put(array->data, forms[f].element, array->len, out);
	}
	put(s.bytes->data, 1, s.bytes->len, out);
	return fflush(out) == 0 && !ferror(out);
}

/* The C library says on the terminal why it aborts; that is said in our words. */
static void be_quiet_and_bounded(void)
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

static _Noreturn void child(struct debuginfo *d, bool dwarf, int fd)
{
	struct message m = { .good = false };
	FILE *out;

	be_quiet_and_bounded();
	m.good = debuginfo_read_here(d, dwarf, &m.error);
	out = fdopen(fd, "wb");
	_exit(out && send(d, &m, out) ? 0 : 1);
}

/* ---- this process ---- */

/* Seconds of the processor that a process has used; negative when that cannot be told. */
static double processor_time(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Waits for its end.  A child of a process with threads can wait for ever for a lock that
 * another thread held when it was forked: one that uses no time at all is ended. */
static int wait_for(pid_t pid)
{
	gint64 since = g_get_monotonic_time();
	double used = -1;
	int status;

	for (useconds_t nap = 200;; nap = MIN(nap * 2, 5000)) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		double now;

		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return -1;
		usleep(nap);
		now = processor_time(pid);
		if (now != used) {
			used = now;
			since = g_get_monotonic_time();
		} else if (g_get_monotonic_time() - since > IDLE_SECONDS * G_USEC_PER_SEC) {
			kill(pid, SIGKILL);
		}
	}
}

static void places_to_strings(struct debuginfo *d)
{
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);

		for (size_t i = 0; i < array->len * (size_t)(forms[f].strings[0] != 0); i++) {
			for (int k = 0; k < 2 && forms[f].strings[k]; k++) {
				char *at = array->data + i * forms[f].element +
				           forms[f].strings[k] - 1;
				uintptr_t place;
				const char *text;

				memcpy(&place, at, sizeof place);
				text = place ? d->read_strings + place - 1 : NULL;
				memcpy(at, &text, sizeof text);
			}
		}
	}
}

/* What the child has written becomes the module's. */
static void take_over(struct debuginfo *d, const char *bytes)
{
	const struct message *m = (const struct message *)(const void *)bytes;

	bytes += sizeof *m;
	for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
		GArray *array = array_of(d, &forms[f]);

		g_array_set_size(array, 0);
		g_array_append_vals(array, bytes, (guint)m->counts[f]);
		bytes += m->counts[f] * forms[f].element;
	}
	d->read_strings = g_memdup2(bytes, m->string_bytes);
	places_to_strings(d);
	d->has_dwarf = m->has_dwarf;
	memcpy(d->build_id, m->build_id, sizeof d->build_id);
	if (m->damaged)
		d->damage = g_strdup(m->damage);
}

/* 1 read, 0 refused (`error` says why), -1 the child died (`how`). */
static int read_in_child(struct debuginfo *d, bool dwarf, char *how, size_t room,
                         struct error *error)
{
	int fd = memfd_create("heddle-debuginfo", MFD_CLOEXEC), status, result = -1;
	struct stat st;
	pid_t pid;

	pid = fd < 0 ? -1 : fork();
	if (pid == 0)
		child(d, dwarf, fd);
	status = pid < 0 ? -1 : wait_for(pid);
	if (pid < 0)
		g_snprintf(how, room, "could not be started: %s", g_strerror(errno));
	else if (status != -1 && WIFSIGNALED(status))
		g_snprintf(how, room, "was ended by signal %d (%s)", WTERMSIG(status),
		           strsignal(WTERMSIG(status)));
	else
		g_snprintf(how, room, "ended with status %d", WEXITSTATUS(status));
	if (status == 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(struct message)) {
		char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (bytes != MAP_FAILED) {
			const struct message *m = (const struct message *)(void *)bytes;

			result = m->good;
			if (m->good)
				take_over(d, bytes);
			else if (error)
				*error = m->error;
			munmap(bytes, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	return result;
}

bool debuginfo_read_guarded(struct debuginfo *d, struct error *error)
{
	char how[128];
	int result = read_in_child(d, true, how, sizeof how, error);

	if (result >= 0)
		return result;
	result = read_in_child(d, false, (char[128]){ 0 }, 128, error);
	if (result == 1)
		d->damage = g_strdup_printf("the process that reads it %s", how);
	if (result < 0)
		return error_set(error, place_line(d->path, 0).text,
		                 "build it again, or go on without its source lines",
		                 "cannot be read: the process that reads it %s", how);
	return result;
}
