/* code_map.c - see code_map.h. */
#include "engine/debug/code_map.h"

#include <stdio.h>
#include <string.h>

void code_map_init(struct code_map *m)
{
	*m = (struct code_map){ .ranges =
		                        g_array_new(FALSE, FALSE, sizeof(struct code_range)) };
}

void code_map_release(struct code_map *m)
{
	if (m->ranges)
		g_array_free(m->ranges, TRUE);
	g_free(m->program);
}

void code_map_name_program(struct code_map *m, const struct inferior *f)
{
	char *link = g_strdup_printf("/proc/%d/exe", (int)f->process.pid);
	if (!m->program)
		m->program = g_file_read_link(link, NULL);
	g_free(link);
	if (!m->program)
		m->program = g_strdup("");
}

static bool file_mentions(const char *path, const char *text)
{
	char *bytes = NULL;
	gsize size = 0;
	bool found = g_file_get_contents(path, &bytes, &size, NULL) &&
	             memmem(bytes, size, text, strlen(text)) != NULL;
	g_free(bytes);
	return found;
}

static bool is_foreign(const struct code_map *m, const char *path)
{
	if (*path != '/')
		return *path == '['; /* [vdso]; code made at run time is the program's */
	if (strcmp(path, m->program) == 0)
		return false;
	return strstr(path, "libheddle-record.so") || !file_mentions(path, "__tsan_func_entry");
}

/* A path of /proc's maps, where a line end is \012; owned by the caller. */
static char *mapped_path(const char *escaped)
{
	char **parts = g_strsplit(escaped, "\\012", -1);
	char *path = g_strjoinv("\n", parts);
	g_strfreev(parts);
	return path;
}

static void read_code(struct code_map *m, const struct inferior *f)
{
	char *path = g_strdup_printf("/proc/%d/maps", (int)f->process.pid), *text = NULL;
	g_array_set_size(m->ranges, 0);
	if (g_file_get_contents(path, &text, NULL, NULL)) {
		char **lines = g_strsplit(text, "\n", -1);
		for (char **line = lines; *line; line++) {
			struct code_range r = { 0 };
			int at = 0;
			char bits[5];
			if (sscanf(*line, "%lx-%lx %4s %*s %*s %*s %n", &r.low, &r.high, bits,
			           &at) < 3 ||
			    bits[2] != 'x' || at == 0)
				continue;
			char *of = mapped_path(*line + at);
			r.foreign = is_foreign(m, of);
			r.runtime = strstr(of, "libheddle-record.so") != NULL;
			g_free(of);
			g_array_append_val(m->ranges, r);
		}
		g_strfreev(lines);
	}
	g_free(text);
	g_free(path);
}

const struct code_range *code_map_known(const struct code_map *m, uint64_t pc)
{
	for (guint i = 0; i < m->ranges->len; i++) {
		const struct code_range *r = &g_array_index(m->ranges, struct code_range, i);
		if (pc >= r->low && pc < r->high)
			return r;
	}
	return NULL;
}

const struct code_range *code_map_at(struct code_map *m, const struct inferior *f, uint64_t pc)
{
	const struct code_range *r = code_map_known(m, pc);
	if (r == NULL) {
		read_code(m, f);
		r = code_map_known(m, pc);
	}
	return r;
}

/* A stub reads: endbr64; bnd jmp *slot(%rip). */
bool code_map_leads_out(struct code_map *m, const struct inferior *f, uint64_t pc)
{
	unsigned char c[16];
	int32_t offset;
	uint64_t target;
	const struct code_range *r = code_map_at(m, f, pc);
	if (r == NULL || r->foreign)
		return r != NULL;
	if (!inferior_read(f, pc, c, sizeof(c)))
		return false;
	unsigned at = memcmp(c, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
	at += c[at] == 0xf2;
	if (c[at] != 0xff || c[at + 1] != 0x25)
		return false;
	memcpy(&offset, c + at + 2, sizeof(offset));
	if (!inferior_read(f, pc + at + 6 + (uint64_t)(int64_t)offset, &target, sizeof(target)))
		return false;
	r = code_map_at(m, f, target);
	return r && r->foreign;
}
