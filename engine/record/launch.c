/*
 * launch.c - starts a program with the recording runtime: checks that it can be recorded, finds
 * the runtime's files, makes its environment and options.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/run_private.h"

#define RUNTIME "libheddle-record.so"

/* ---- where things are: beside the binary, in the source tree or where it is installed ---- */

static char *beside_binary(const char *const *candidates, const char *what, struct error *error)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	char *folder = g_path_get_dirname(exe);
	for (; *candidates; candidates++) {
		char *path = g_build_filename(folder, *candidates, NULL);
		char *real = realpath(path, NULL);
		g_free(path);
		if (real) {
			g_free(folder);
			char *result = g_strdup(real);
			free(real);
			return result;
		}
	}
	error_set(error, folder, "build it with 'make', or install Heddle again",
	          "%s is not beside the program", what);
	g_free(folder);
	return NULL;
}

char *record_runtime_path(struct error *error)
{
	static const char *const places[] = { "build/" RUNTIME,
		                              RUNTIME, /* build/asan/heddle: the runtime of
		                                        * that build */
		                              "../" RUNTIME,
		                              "../lib/heddle/" RUNTIME,
		                              "../../" RUNTIME, /* build/tests/bench */
		                              NULL };
	return beside_binary(places, "the recording runtime (" RUNTIME ")", error);
}

/* The runtime without debug information, so that a debugger's step does not enter it. */
static char *debugged_runtime_path(struct error *error)
{
	static const char *const places[] = {
		"build/gdb/" RUNTIME,         "gdb/" RUNTIME,       "../gdb/" RUNTIME,
		"../lib/heddle/gdb/" RUNTIME, "../../gdb/" RUNTIME, NULL
	};
	return beside_binary(places, "the recording runtime for gdb (gdb/" RUNTIME ")", error);
}

char *record_stub_folder(struct error *error)
{
	static const char *const places[] = { "build/stub/libheddle-stub.a",
		                              "stub/libheddle-stub.a",
		                              "../stub/libheddle-stub.a",
		                              "../lib/heddle/stub/libheddle-stub.a", NULL };
	char *file = beside_binary(places, "what programs are linked with (stub/)", error);
	char *folder = file ? g_path_get_dirname(file) : NULL;
	g_free(file);
	return folder;
}

/* ---- the program ---- */

static bool has_string(const char *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* Does the symbol table export `name`? Only its part inside the file is read: the file may be
 * damaged. */
static bool table_defines(const char *bytes, size_t size, const Elf64_Shdr *table,
                          const Elf64_Shdr *names, const char *name)
{
	size_t length = strlen(name) + 1;
	if (table->sh_offset > size || table->sh_size > size - table->sh_offset ||
	    names->sh_offset > size || names->sh_size > size - names->sh_offset)
		return false;
	const char *text = bytes + names->sh_offset;
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size;
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym s;
		memcpy(&s, bytes + table->sh_offset + at, sizeof(s));
		if (s.st_shndx != SHN_UNDEF && ELF64_ST_BIND(s.st_info) != STB_LOCAL &&
		    ELF64_ST_VISIBILITY(s.st_other) != STV_HIDDEN &&
		    s.st_name < names->sh_size && names->sh_size - s.st_name >= length &&
		    memcmp(text + s.st_name, name, length) == 0)
			return true;
	}
	return false;
}

static bool defines(const char *bytes, size_t size, const char *name)
{
	const Elf64_Ehdr *h = (const void *)bytes;
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 || h->e_shoff > size ||
	    h->e_shnum * sizeof(Elf64_Shdr) > size - h->e_shoff)
		return false;
	const Elf64_Shdr *sections = (const void *)(bytes + h->e_shoff);
	for (unsigned i = 0; i < h->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];
		if ((s->sh_type == SHT_DYNSYM || s->sh_type == SHT_SYMTAB) &&
		    s->sh_link < h->e_shnum &&
		    table_defines(bytes, size, s, &sections[s->sh_link], name))
			return true;
	}
	return false;
}

/* ThreadSanitizer's own runtime, linked into the program, would run beside ours.  The stub of
 * `heddle cc` hides the names that it defines. */
static bool check_runtime(const char *path, const char *bytes, size_t size, struct error *error)
{
	if (!defines(bytes, size, "__tsan_init") &&
	    !defines(bytes, size, "__interceptor_pthread_create"))
		return true;
	return error_set(
	        error, path,
	        "link it with 'heddle cc' (CC=clang heddle cc ...), or with "
	        "-shared-libsan (clang), without -static-libtsan (gcc)",
	        "has ThreadSanitizer's own runtime linked into it (clang's default), in "
	        "whose place Heddle's cannot come");
}

static bool check_elf(const char *path, const char *bytes, size_t size, struct error *error)
{
	const Elf64_Ehdr *h = (const void *)bytes;
	if (size >= 2 && bytes[0] == '#' && bytes[1] == '!')
		return error_set(error, path, "record the program that it starts",
		                 "is a script, and only programs can be recorded");
	if (size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return error_set(error, path, NULL, "is not a program (no ELF file)");
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return error_set(error, path, "build it for 64 bits (without -m32)",
		                 "is a 32-bit program; Heddle records x86-64");
	if (h->e_machine != EM_X86_64)
		return error_set(error, path, "build it for this machine",
		                 "is for another architecture (ELF machine %u, expected %u)",
		                 h->e_machine, EM_X86_64);
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return error_set(error, path, "link it first", "is no executable (ELF type %u)",
		                 h->e_type);
	if (h->e_phoff > size || h->e_phnum * sizeof(Elf64_Phdr) > size - h->e_phoff)
		return error_set(error, path, NULL,
		                 "is damaged: its program headers lie outside");
	const Elf64_Phdr *ph = (const void *)(bytes + h->e_phoff);
	for (int i = 0; i < h->e_phnum; i++)
		if (ph[i].p_type == PT_INTERP)
			return check_runtime(path, bytes, size, error);
	return error_set(error, path, "link it without -static",
	                 "is statically linked, so that the recorder cannot be loaded into it");
}

bool record_check_program(const char *program, char **path, bool *instrumented,
                          bool *needs_clang_name, struct error *error)
{
	char *found =
	        strchr(program, '/') ? g_strdup(program) : g_find_program_in_path(program);
	struct stat status;
	*path = NULL;
	if (!found || stat(found, &status) != 0) {
		const char *why = found ? g_strerror(errno) : "not found in PATH";
		error_set(error, program, "check the name; './prog' for one in this folder",
		          "cannot run it: %s", why);
		g_free(found);
		return false;
	}
	bool ok = true;
	if (S_ISDIR(status.st_mode))
		ok = error_set(error, found, NULL, "is a folder, not a program");
	else if (access(found, X_OK) != 0)
		ok = error_set(error, found, "chmod +x it", "is not executable");
	else if (status.st_mode & (S_ISUID | S_ISGID))
		ok = error_set(
		        error, found, "record a copy without the bit",
		        "is setuid or setgid, and the system loads nothing into such programs");
	int fd = ok ? open(found, O_RDONLY | O_CLOEXEC) : -1;
	if (ok && fd < 0)
		ok = error_set(error, found, NULL, "cannot read it: %s", g_strerror(errno));
	char *bytes = MAP_FAILED;
	if (ok && status.st_size > 0)
		bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ok && bytes == MAP_FAILED)
		ok = error_set(error, found, NULL, "is empty or cannot be read");
	if (fd >= 0)
		close(fd);
	if (ok)
		ok = check_elf(found, bytes, status.st_size, error);
	if (ok) {
		*instrumented = has_string(bytes, status.st_size, "__tsan_func_entry");
		*needs_clang_name =
		        has_string(bytes, status.st_size, "libclang_rt.tsan-x86_64.so");
	}
	if (bytes != MAP_FAILED)
		munmap(bytes, status.st_size);
	if (!ok) {
		g_free(found);
		return false;
	}
	*path = found;
	return true;
}

bool record_file_instrumented(const char *path)
{
	GMappedFile *file = g_mapped_file_new(path, FALSE, NULL);
	bool found = file && g_mapped_file_get_length(file) > 0 &&
	             has_string(g_mapped_file_get_contents(file),
	                        g_mapped_file_get_length(file), "__tsan_func_entry");
	if (file)
		g_mapped_file_unref(file);
	return found;
}

/* Finds the build-id note in `notes`, which may be damaged. */
static char *build_id_in(const char *notes, size_t size)
{
	for (size_t at = 0; at < size && size - at > sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr n;
		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		size_t name = ((size_t)n.n_namesz + 3) & ~3ul,
		       id = ((size_t)n.n_descsz + 3) & ~3ul;
		if (name > size - at || id > size - at - name)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0) {
			GString *hex = g_string_new(NULL);
			for (size_t i = 0; i < n.n_descsz; i++)
				g_string_append_printf(hex, "%02x",
				                       (unsigned char)notes[at + name + i]);
			return g_string_free(hex, FALSE);
		}
		at += name + id;
	}
	return NULL;
}

char *record_build_id(const char *program)
{
	char *path = strchr(program, '/') ? g_strdup(program) : g_find_program_in_path(program);
	char *bytes = NULL, *id = NULL;
	gsize size = 0;
	if (path && g_file_get_contents(path, &bytes, &size, NULL) &&
	    check_elf(path, bytes, size, &(struct error){ 0 })) {
		const Elf64_Ehdr *h = (const void *)bytes;
		const Elf64_Phdr *ph = (const void *)(bytes + h->e_phoff);
		for (int i = 0; !id && i < h->e_phnum; i++)
			if (ph[i].p_type == PT_NOTE && ph[i].p_offset < size &&
			    ph[i].p_filesz <= size - ph[i].p_offset)
				id = build_id_in(bytes + ph[i].p_offset, ph[i].p_filesz);
	}
	g_free(bytes);
	g_free(path);
	return id;
}

/* ---- running ---- */

int run_config_file(const struct record_options *o, const struct log_config *config,
                    struct error *error)
{
	int fd = memfd_create("heddle", MFD_CLOEXEC);
	ssize_t size = sizeof(*config);
	if (fd < 0 || write(fd, config, size) != size ||
	    (o->plan_bytes &&
	     pwrite(fd, o->plan, o->plan_bytes, sizeof(*config)) != (ssize_t)o->plan_bytes)) {
		error_set(error, "memfd", NULL, "cannot pass options to the program: %s",
		          g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int run_high_descriptor(pid_t pid)
{
	struct rlimit limit;
	int wanted = 997;
	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur <= (rlim_t)wanted)
		wanted = limit.rlim_cur - 1;
	return wanted;
}

char **run_environment(const struct record_options *o, struct log_config *config, int fd,
                       const char *runtime, bool clang_name)
{
	char **env = g_get_environ();
	const char *preload = g_environ_getenv(env, "LD_PRELOAD");
	if (preload) {
		config->had_preload = 1;
		g_strlcpy(config->preload, preload, sizeof(config->preload));
	}
	char *value = preload && *preload ? g_strdup_printf("%s:%s", runtime, preload)
	                                  : g_strdup(runtime);
	if (o->preload) {
		char *first = g_strdup_printf("%s:%s", o->preload, value);
		g_free(value);
		value = first;
	}
	env = g_environ_setenv(env, "LD_PRELOAD", value, TRUE);
	g_free(value);
	const char *library_path = g_environ_getenv(env, "LD_LIBRARY_PATH");
	if (library_path) {
		config->had_library_path = 1;
		g_strlcpy(config->library_path, library_path, sizeof(config->library_path));
	}
	if (clang_name) { /* preload the runtime by the name of clang's, too */
		char *folder = config->hold == LOG_HOLD_CLOCK
		                       ? g_strdup_printf("%.*s/stub",
		                                         (int)(strrchr(runtime, '/') - runtime),
		                                         runtime)
		                       : record_stub_folder(NULL);
		if (folder) {
			value = library_path && *library_path
			                ? g_strdup_printf("%s:%s", folder, library_path)
			                : g_strdup(folder);
			env = g_environ_setenv(env, "LD_LIBRARY_PATH", value, TRUE);
			g_free(value);
			g_free(folder);
		}
	}
	/* The C library's cache of freed blocks stores a random number in each. */
	env = g_environ_setenv(env, "GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", FALSE);
	if (o->bind_now || config->hold == LOG_HOLD_CLOCK)
		env = g_environ_setenv(env, "LD_BIND_NOW", LOG_BIND_NOW, FALSE);
	value = g_strdup_printf("%d", fd);
	env = g_environ_setenv(env, LOG_ENVIRONMENT, value, TRUE);
	g_free(value);
	return env;
}

/* Descriptors that a child begins with. */
struct child_descriptors {
	int config, buffer; /* the runtime's, given as `target` and the number before it */
	int target;
	int report; /* an error number is written here when the program cannot be started */
};

static _Noreturn void become(const struct record_options *o, const char *path, char **env,
                             const struct child_descriptors *h)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (dup2(h->config, h->target) < 0 || dup2(h->buffer, h->target - 1) < 0)
		goto failed;
	if (o->stdout_path) {
		int out = open(o->stdout_path, O_WRONLY | O_TRUNC);
		if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			goto failed;
		close(out);
	}
	if (o->stderr_path) {
		int out = open(o->stderr_path, O_WRONLY | O_TRUNC);
		if (out < 0 || dup2(out, 2) < 0)
			goto failed;
		close(out);
	}
	execve(path, o->argv, env);
failed:;
	int code = errno;
	if (write(h->report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(125);
}

/* Exploration starts thousands of runs, and must not copy its large tables each time. */
static __attribute__((noinline)) pid_t start(const struct record_options *o, const char *path,
                                             char **env, const struct child_descriptors *h)
{
	pid_t pid = vfork();
	if (pid == 0)
		become(o, path, env, h);
	return pid;
}

bool run_launch(struct record_options *o, const char *path, bool clang_name, int buffer,
                pid_t *pid, struct error *error)
{
	char *runtime = o->config.hold == LOG_HOLD_CLOCK ? debugged_runtime_path(error)
	                                                 : record_runtime_path(error);
	int report[2] = { -1, -1 }, code = 0;
	if (!runtime)
		return false;
	int old = personality(0xffffffff);
	if (old >= 0 && personality(old | ADDR_NO_RANDOMIZE) >= 0 &&
	    personality(0xffffffff) & ADDR_NO_RANDOMIZE)
		o->config.flags |= LOG_ASLR_OFF;
	int target = run_high_descriptor(0);
	char **env = run_environment(o, &o->config, target, runtime, clang_name);
	o->config.buffer = target - 1;
	int config = run_config_file(o, &o->config, error);
	*pid = -1;
	if (config >= 0 && pipe2(report, O_CLOEXEC) == 0) {
		/* The descriptor must differ from the one that it is copied to. */
		*pid = start(o, path, env,
		             &(struct child_descriptors){ config, buffer, target, report[1] });
	}
	bool good = *pid >= 0;
	if (!good && config >= 0)
		error_set(error, path, NULL, "cannot start it: %s", g_strerror(errno));
	if (old >= 0)
		personality(old);
	g_strfreev(env);
	g_free(runtime);
	if (config >= 0)
		close(config);
	if (report[1] >= 0)
		close(report[1]);
	ssize_t n = 0;
	while (good && (n = read(report[0], &code, sizeof(code))) < 0 && errno == EINTR)
		;
	if (report[0] >= 0)
		close(report[0]);
	if (n == (ssize_t)sizeof(code)) {
		waitpid(*pid, NULL, 0);
		return error_set(error, path, NULL, "cannot start it: %s", g_strerror(code));
	}
	return good;
}
