/* misuse.c - see misuse.h. */
#include "engine/predict/misuse.h"
#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"

#include <string.h>

enum cause {
	CAUSE_NONE,
	CAUSE_HOLDER,
	CAUSE_HELD_AT_FORK,
	CAUSE_OWN,
	CAUSE_DESTRUCTION,
	CAUSE_FREE
};

static const struct rule {
	const char *word; /* in the trace; the recorder's are in layout.h */
	enum cause cause;
	const char *text;
	bool unlocks;
} rules[] = {
	{ "unlock-by-other", CAUSE_HOLDER, "unlocks what another thread has locked", true },
	{ "unlock-not-held", CAUSE_NONE, "unlocks what nobody has locked", true },
	{ "read-unlock", CAUSE_HOLDER, "unlocks for reading what is locked for writing", true },
	{ "double-lock", CAUSE_OWN, "locks what it has locked already", false },
	{ "fork-held", CAUSE_HELD_AT_FORK,
	  "made a child process that locks, and waits for ever: another thread held it then, and "
	  "is not in the child",
	  false },
	{ "lock-held", CAUSE_HOLDER, "locks what another thread has locked", false },
	{ "destroy-locked", CAUSE_HOLDER, "destroys what is locked", false },
	{ "destroy-waited", CAUSE_NONE, "destroys what another thread waits for", false },
	{ "use-destroyed", CAUSE_DESTRUCTION, "uses what was destroyed", false },
	{ "never-initialised", CAUSE_NONE, "uses what was never initialised", false },
	{ "init-twice", CAUSE_NONE, "initialises what is initialised already", false },
	{ "invalid-value", CAUSE_NONE,
	  "initialises it with a number or attributes that are refused (EINVAL)", false },
	{ "invalid-time", CAUSE_NONE,
	  "waits until a time whose nanoseconds are not below 1000000000 (refused: EINVAL)",
	  false },
	{ "post-overflow", CAUSE_NONE, "posts it beyond SEM_VALUE_MAX (refused: EOVERFLOW)",
	  false },
	{ "join-self", CAUSE_NONE, "joins itself (refused: EDEADLK)", false },
	{ "join-ended", CAUSE_NONE,
	  "joins a thread that was joined or detached already (undefined; EINVAL or ESRCH)",
	  false },
	{ "detach-ended", CAUSE_NONE,
	  "detaches a thread that was joined or detached already (undefined; EINVAL or ESRCH)",
	  false },
	{ "cancel-ended", CAUSE_NONE,
	  "cancels a thread that was joined already (undefined, or ESRCH)", false },
	{ "impossible-size", CAUSE_NONE,
	  "asks for more bytes than an object may have (refused: ENOMEM)", false },
	{ "invalid-alignment", CAUSE_NONE,
	  "asks for an alignment that is no power of two or too small (undefined, or EINVAL)",
	  false },
};
static const struct rule other_rule = { "", CAUSE_NONE, "misuses it", false };
/* The recorder judges by the object's bytes. After the free of its block they may hold any
 * value, so that the recorded rule says nothing. */
static const struct rule freed_rule = { "", CAUSE_FREE, "uses what was freed", false };

static const struct rule *rule_named(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
		if (strcmp(rules[i].word, word) == 0)
			return &rules[i];
	}
	return &other_rule;
}

bool misuse_uses_ended(const char *text)
{
	return strcmp(text, freed_rule.text) == 0 ||
	       strcmp(text, rule_named("use-destroyed")->text) == 0;
}

/* The free of the block of the event's object, if it comes before the event, or NONE. */
static uint32_t free_before(const struct trace *t, uint32_t e)
{
	uint32_t block = t->objects[t->events[e].target].block;
	return block != NONE && t->blocks[block].free < e ? t->blocks[block].free : NONE;
}

static const struct rule *rule_of(const struct trace *t, uint32_t misuse)
{
	const struct value v = trace_value(t, t->events[misuse].aux);
	const struct rule *rule =
	        rule_named(v.kind == V_TOKEN ? trace_string(t, v.string) : "");
	bool freed = rule->cause != CAUSE_DESTRUCTION && free_before(t, misuse) != NONE;

	return freed ? &freed_rule : rule;
}

const char *misuse_text(const char *rule)
{
	return rule_named(rule)->text;
}

bool misuse_of_ended(const struct trace *t, uint32_t misuse)
{
	enum cause cause = rule_of(t, misuse)->cause;
	return cause == CAUSE_DESTRUCTION || cause == CAUSE_FREE;
}

/* An unlock that takes effect is a release behind its mark, or behind the wait for a condition
 * that it is a part of; one that the C library refuses is no event. */
bool misuse_unlocks(const struct trace *t, uint32_t misuse)
{
	const struct event *m = &t->events[misuse];
	if (!rule_of(t, misuse)->unlocks)
		return false;
	for (uint32_t e = misuse + 1; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->thread == m->thread && x->op != OP_WAIT)
			return op_releases(x->op) && x->target == m->target;
	}
	return false;
}

/* The message that the event's thread sent to its child process, its last one. */
static uint32_t fork_before(const struct trace *t, uint32_t event)
{
	uint32_t e = event;
	while (e-- > 0)
		if (t->events[e].op == OP_SND && t->events[e].thread == t->events[event].thread)
			return e;
	return event;
}

/* The earlier event that makes it a misuse, or the misuse. */
static uint32_t cause_of(const struct trace *t, uint32_t misuse, enum cause cause)
{
	const struct event *m = &t->events[misuse];
	g_autofree int *released =
	        NULL; /* by thread: releases that come after, back to their acquires */
	uint32_t found = misuse, from = misuse;

	if (cause == CAUSE_NONE)
		return misuse;
	if (cause == CAUSE_FREE)
		return free_before(t, misuse);
	released = g_new0(int, t->threads_count + 1);
	if (cause == CAUSE_HELD_AT_FORK)
		from = fork_before(t, misuse);
	for (uint32_t e = from; e-- > 0 && found == misuse;) {
		const struct event *x = &t->events[e];
		bool own = x->thread == m->thread;

		if (x->target != m->target || event_inert(x))
			continue;
		if (cause == CAUSE_DESTRUCTION && x->op == OP_DESTROY)
			found = e;
		if (op_releases(x->op))
			released[x->thread]++;
		else if (op_acquires(x->op) && released[x->thread] > 0)
			released[x->thread]--;
		else if (op_acquires(x->op) &&
		         (cause == CAUSE_HOLDER || cause == CAUSE_HELD_AT_FORK ||
		          (cause == CAUSE_OWN && own)))
			found = e;
	}
	return found;
}

/* Misuses with one key are one finding: the same rule, at the same place, of the same object or
 * of others that have its name. */
static char *key_of(const struct trace *t, uint32_t misuse, const struct rule *rule)
{
	GString *key = g_string_new(NULL);
	g_autoptr(GString) object = g_string_new(NULL);
	trace_append_operand(t, misuse, object);
	g_string_printf(key, "%s %u ", rule->text, own_site(t, misuse));
	own_code_append_kind(object->str, key);
	return g_string_free(key, FALSE);
}

void misuse_add(const struct trace *t, bool each, struct report *report)
{
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t e = 0; trace_has(t, OPERATION(OP_MISUSE)) && e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (G_LIKELY(x->op != OP_MISUSE))
			continue;
		const struct rule *rule = rule_of(t, e);
		char *key = key_of(t, e, rule);
		struct finding *f = each ? NULL : g_hash_table_lookup(known, key);
		if (f != NULL) {
			f->count++;
			g_free(key);
			continue;
		}
		f = finding_new(FINDING_LOCK_MISUSE, cause_of(t, e, rule->cause), e);
		f->verdict = VERDICT_HAPPENED;
		f->counted_all = true;
		f->note = rule->text;
		f->by = "recording";
		g_hash_table_replace(known, key, f);
		report_add(report, f);
	}
}
