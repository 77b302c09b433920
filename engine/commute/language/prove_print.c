/*
 * prove_print.c - prints models of the solver in the specification's syntax: invocations with
 * values, and states at the values that occur.
 */
#include "engine/commute/language/prove_terms.h"

bool prove_holds(struct prover *p, Z3_model model, Z3_ast truth)
{
	Z3_ast result;
	return Z3_model_eval(p->z, model, truth, true, &result) &&
	       Z3_get_bool_value(p->z, result) == Z3_L_TRUE;
}

static void print_number(struct prover *p, Z3_model model, Z3_ast term, GString *out)
{
	Z3_ast result;
	if (Z3_model_eval(p->z, model, term, true, &result))
		g_string_append(out, Z3_get_numeral_string(p->z, result));
}

static void print_value(struct prover *p, Z3_model model, Z3_ast term, GString *out)
{
	static const char *const words[] = { "nil", "false", "true" };
	for (int c = C_NIL; c <= C_TRUE; c++)
		if (prove_holds(p, model, term_apply(p, p->is[c], term))) {
			g_string_append(out, words[c]);
			return;
		}
	if (prove_holds(p, model, term_apply(p, p->is[C_INT], term))) {
		print_number(p, model, term_apply(p, p->integer_of, term), out);
		return;
	}
	g_autoptr(GString) n = g_string_new(NULL);
	print_number(p, model, term_apply(p, p->rest_of, term), n);
	uint64_t index = g_ascii_strtoull(n->str, NULL, 10);
	if (n->str[0] != '-' && index < p->texts->len)
		g_string_append_printf(out, "\"%s\"", (char *)p->texts->pdata[index]);
	else
		g_string_append_printf(out, "c%s", n->str[0] == '-' ? n->str + 1 : n->str);
}

void prove_print_invocation(struct prover *p, Z3_model model, const struct spec_method *m,
                            const Z3_ast *names, GString *out)
{
	g_string_append_printf(out, "%s(", m->name);
	for (uint32_t i = 0; i < m->arguments + m->results; i++) {
		if (i == m->arguments)
			g_string_append(out, ") / ");
		else if (i > 0)
			g_string_append(out, ", ");
		print_value(p, model, names[i], out);
	}
	if (m->results == 0)
		g_string_append_c(out, ')');
}

/* Maps, sets and partitions are shown at the values that the invocations name. */
static void print_at_values(struct prover *p, Z3_model model, const struct sym_slot *slot,
                            const struct spec_state *s, GPtrArray *values, GString *out)
{
	g_autoptr(GHashTable) seen =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < values->len; i++) {
		GString *key = g_string_new(NULL);
		print_value(p, model, values->pdata[i], key);
		if (g_hash_table_contains(seen, key->str)) {
			g_string_free(key, TRUE);
			continue;
		}
		g_string_append(out, out->len ? ", " : "");
		if (s->sort == SORT_MAP) {
			g_string_append_printf(out, "%s[%s] = ", s->name, key->str);
			print_value(p, model, Z3_mk_select(p->z, slot->term, values->pdata[i]),
			            out);
		} else if (s->sort == SORT_SET) {
			bool in = prove_holds(p, model,
			                      Z3_mk_select(p->z, slot->term, values->pdata[i]));
			g_string_append_printf(out, "%s %s %s", key->str, in ? "in" : "not in",
			                       s->name);
		} else {
			g_string_append_printf(out, "%s in the class ", key->str);
			print_value(p, model,
			            state_representative(p, slot, slot->union_count,
			                                 values->pdata[i]),
			            out);
		}
		g_hash_table_add(seen, g_string_free(key, FALSE));
	}
}

char *prove_print_state(struct prover *p, Z3_model model, const struct sym_state *state,
                        GPtrArray *values)
{
	GString *out = g_string_new(NULL);
	for (guint i = 0; i < p->o->states->len; i++) {
		const struct spec_state *s = &g_array_index(p->o->states, struct spec_state, i);
		const struct sym_slot *slot = state_slot(state, i);
		if (s->sort == SORT_MAP || s->sort == SORT_SET || s->sort == SORT_PARTITION) {
			print_at_values(p, model, slot, s, values, out);
			continue;
		}
		g_string_append_printf(out, "%s%s = ", out->len ? ", " : "", s->name);
		if (s->sort == SORT_INT)
			print_number(p, model, slot->term, out);
		else if (s->sort == SORT_BOOL)
			g_string_append(out,
			                prove_holds(p, model, slot->term) ? "true" : "false");
		else
			print_value(p, model, slot->term, out);
	}
	return g_string_free(out, FALSE);
}
