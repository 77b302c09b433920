/*
 * finding_key.c - the name of a finding that survives a new recording; see finding_key.h.
 */
#include "engine/finding_key.h"
#include "engine/trace/own_site.h"

#include <string.h>

void finding_append_subject(const struct trace *t, const struct finding *f, GString *out)
{
	if (f->sets && f->sets->len) {
		for (guint i = 0; i < f->sets->len; i++)
			g_string_append_printf(out, "%s%s", i ? ", " : "",
			                       (char *)f->sets->pdata[i]);
	} else if (f->variables && f->variables->len) {
		uint32_t v = g_array_index(f->variables, uint32_t, 0);
		const char *name = trace_variable_name(t, v);
		append_escaped(out, name, strlen(name));
		if (f->variables->len > 1)
			g_string_append_printf(out, " and %u more", f->variables->len - 1);
	} else {
		trace_append_operand(t, f->first, out);
	}
}

/* Units distinguish cycles over the same sets; predicted cycles differ from those that
 * happened. */
static void append_cycle(const struct finding *f, GString *out)
{
	for (guint i = 0; f->units && i < f->units->len; i++)
		g_string_append_printf(out, " %s",
		                       g_array_index(f->units, struct cycle_unit, i).unit);
	if (f->units && f->verdict != VERDICT_HAPPENED)
		g_string_append(out, " predicted");
}

char *finding_key(const struct trace *t, const struct finding *f)
{
	g_autoptr(GString) subject = g_string_new(NULL);
	finding_append_subject(t, f, subject);
	append_cycle(f, subject);
	const char *a = own_site_name(t, f->first), *b = own_site_name(t, f->second);
	bool swap = strcmp(a, b) > 0;
	return g_strdup_printf("%s|%s|%s|%s", finding_kind_word(f->kind), swap ? b : a,
	                       swap ? a : b, f->sets || f->requests ? subject->str : "");
}
