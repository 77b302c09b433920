/*
 * spec_model.c - a model from `atomics` blocks of specifications, and the operations that split
 * units.
 */
#include "engine/atomic/layout.h"

#include <string.h>

static const struct {
	const char *word;
	enum op op;            /* OP_COUNT: none */
	enum atomic_call call; /* of the C library, or CALL_OTHER */
} splits[] = {
	{ "wait", OP_WAIT, CALL_OTHER }, { "join", OP_JOIN, CALL_OTHER },
	{ "fork", OP_FORK, CALL_OTHER }, { "barrier", OP_ARRIVE, CALL_OTHER },
	{ "take", OP_TAKE, CALL_OTHER }, { "sleep", OP_COUNT, CALL_SLEEP },
	{ "poll", OP_COUNT, CALL_POLL },
};

static void cut_at_calls(struct atomic_model *m, const struct trace *t, enum atomic_call call)
{
	if (m->cuts == NULL)
		m->cuts = g_new0(bool, t->string_offsets_count + 1);
	for (uint32_t s = 1; s + 1 < t->string_offsets_count; s++)
		m->cuts[s] |= atomic_call_named(trace_string(t, s)) == call;
}

void atomic_model_split(struct atomic_model *m, const struct trace *t, const GPtrArray *words)
{
	for (guint w = 0; words && w < words->len; w++)
		for (size_t i = 0; i < G_N_ELEMENTS(splits); i++) {
			if (strcmp(words->pdata[w], splits[i].word) != 0)
				continue;
			if (splits[i].op != OP_COUNT)
				m->splits |= UINT64_C(1) << splits[i].op;
			if (splits[i].call != CALL_OTHER)
				cut_at_calls(m, t, splits[i].call);
		}
}

static void warn_of_empty_sets(const struct layout *l, const struct spec_atomics *a)
{
	for (guint i = 0; i < a->sets->len; i++) {
		const struct spec_set *s = a->sets->pdata[i];
		guint kind = 0;
		bool seen = false;
		g_ptr_array_find(l->kinds, s, &kind);
		for (guint j = 0; j < l->sets->len && !seen; j++) {
			const GArray *kinds =
			        g_array_index(l->sets, struct layout_set, j).kinds;
			for (guint n = 0; kinds && n < kinds->len; n++)
				seen |= g_array_index(kinds, uint32_t, n) == kind;
		}
		if (!seen)
			g_ptr_array_add(l->m->notes,
			                g_strdup_printf("%s:%u: no variable of this "
			                                "trace is in set %s",
			                                a->file, a->line, s->name));
	}
}

bool atomic_model_specify(struct atomic_model *m, struct trace *t, const struct specs *specs)
{
	if (specs->atomics->len == 0)
		return false;
	struct layout l;
	layout_begin(&l, t, m, 'B');
	for (guint i = 0; i < specs->atomics->len; i++)
		g_ptr_array_add(l.blocks, specs->atomics->pdata[i]);
	layout_sets(&l);
	layout_declare_units(&l);
	layout_units(&l);
	for (guint i = 0; i < specs->atomics->len; i++) {
		const struct spec_atomics *a = specs->atomics->pdata[i];
		atomic_model_split(m, t, a->splits);
		warn_of_empty_sets(&l, a);
	}
	layout_end(&l);
	return true;
}
