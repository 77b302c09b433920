/* missing.c - see missing.h; the lines are read by runtime/missing/modules.c. */
#include "engine/record/import/missing.h"

#include "engine/record/layout.h"

#include <string.h>

/* Bit set of the arguments that a list names. */
static unsigned mask_of(const struct spec_missing_function *f, const GPtrArray *names)
{
	unsigned mask = 0;
	for (guint i = 0; i < f->parameters->len && i < LOG_ARGUMENTS; i++)
		for (guint k = 0; k < names->len; k++)
			if (strcmp(f->parameters->pdata[i], names->pdata[k]) == 0)
				mask |= 1u << i;
	return mask;
}

static void append_block(const struct spec_missing *m, GString *out)
{
	for (guint i = 0; i < m->libraries->len; i++)
		g_string_append_printf(out, "L %s\n", (const char *)m->libraries->pdata[i]);
	for (guint i = 0; i < m->functions->len; i++) {
		const struct spec_missing_function *f = m->functions->pdata[i];
		g_string_append_printf(out, "F %s %u\n", f->name,
		                       mask_of(f, f->reaches) |
		                               mask_of(f, f->bytes) << LOG_ARGUMENTS |
		                               mask_of(f, f->near) << 2 * LOG_ARGUMENTS);
	}
}

bool missing_lines(const GPtrArray *files, char *lines, size_t room, struct error *error)
{
	struct specs *specs = specs_new();
	g_autoptr(GString) out = g_string_new(NULL);
	bool ok = true;
	for (guint i = 0; ok && files != NULL && i < files->len; i++)
		ok = specs_load(specs, files->pdata[i], error);
	for (guint i = 0; ok && i < specs->missing->len; i++)
		append_block(specs->missing->pdata[i], out);
	if (ok && out->len >= room)
		ok = error_set(error, "missing", "name fewer functions",
		               "expected at most %zu bytes of libraries and functions, found "
		               "%zu",
		               room - 1, out->len);
	if (ok)
		memcpy(lines, out->str, out->len + 1);
	specs_free(specs);
	return ok;
}
