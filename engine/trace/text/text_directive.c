/*
 * text_directive.c - directives (#! WORD ...): facts beside the events. Unknown ones are
 * counted, for a warning.
 */
#include "engine/trace/text/text_reader.h"

static struct span next_word(struct span *s)
{
	*s = trimmed(*s);
	size_t end = 0;
	while (end < s->length && s->at[end] != ' ' && s->at[end] != '\t')
		end++;
	struct span word = part(*s, 0, end);
	*s = part(*s, end, s->length);
	return word;
}

static bool malformed(struct reader *r, const char *form)
{
	g_autofree char *remedy = g_strdup_printf("write it as '#! %s'", form);
	text_refuse(r, remedy, "expected '#! %s', found %.*s", form, SHOW(r->all));
	return false;
}

static bool directive_heddle(struct reader *r, struct span rest)
{
	if (!span_is(next_word(&rest), "1") || trimmed(rest).length)
		return text_refuse(r, "this heddle reads version 1",
		                   "expected '#! heddle 1', found %.*s", SHOW(r->all));
	return true;
}

static bool directive_set(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest);
	g_array_set_size(r->arguments, 0);
	for (struct span m = next_word(&rest); m.length; m = next_word(&rest)) {
		uint32_t value = builder_value(r->b, V_TOKEN, m.at, m.length);
		g_array_append_val(r->arguments, value);
	}
	if (name.length == 0)
		return malformed(r, "atomic-set NAME VARIABLE...");
	builder_atomic_set(
	        r->b, builder_string(r->b, name.at, name.length),
	        builder_list(r->b, (uint32_t *)(void *)r->arguments->data, r->arguments->len));
	return true;
}

static bool directive_object(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest), type = next_word(&rest);
	if (type.length == 0 || trimmed(rest).length)
		return malformed(r, "object NAME TYPE");
	builder_instance_type(r->b, builder_instance(r->b, name.at, name.length),
	                      builder_string(r->b, type.at, type.length));
	return true;
}

static bool directive_source(struct reader *r, struct span rest)
{
	struct span location = next_word(&rest), place = trimmed(rest);
	uint32_t numbers[2];
	size_t end;
	if (location.length == 0 ||
	    !builder_source_position(place.at, place.length, &end, numbers))
		return malformed(r, "source LOCATION FILE:LINE");
	g_autofree char *file = g_strndup(place.at, end);
	builder_source(r->b, builder_location(r->b, location.at, location.length), file,
	               numbers[0], numbers[1]);
	return true;
}

static bool directive_size(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest), bytes = trimmed(rest);
	int64_t size;
	if (name.length == 0 || !text_integer(bytes, &size) || size < 1 || size > INT32_MAX)
		return malformed(r, "size VARIABLE BYTES");
	builder_size_directive(r->b, name.at, name.length, (uint32_t)size);
	return true;
}

static bool directive_semaphore(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest), count = trimmed(rest);
	int64_t number;
	if (name.length == 0 || !text_integer(count, &number) || number < 0 ||
	    number > INT32_MAX)
		return malformed(r, "semaphore NAME COUNT");
	builder_semaphore(r->b, builder_object_text(r->b, name.at, name.length),
	                  (int32_t)number);
	return true;
}

static bool directive_stack(struct reader *r, struct span rest)
{
	struct span thread = next_word(&rest), block = next_word(&rest);
	if (block.length == 0 || trimmed(rest).length)
		return malformed(r, "stack THREAD BLOCK");
	uint32_t life = builder_block_find(r->b, block.at, block.length);
	if (life == NONE)
		life = builder_block(r->b, block.at, block.length, 0, 0);
	builder_stack_block(r->b, builder_thread(r->b, thread.at, thread.length), life);
	return true;
}

static bool directive_note(struct reader *r, struct span rest)
{
	struct span key = next_word(&rest), value = trimmed(rest);
	if (key.length == 0)
		return malformed(r, "note KEY VALUE");
	g_autofree char *k = g_strndup(key.at, key.length),
	                *v = g_strndup(value.at, value.length);
	builder_note(r->b, k, v);
	return true;
}

/* The ids of an event and of a store ("-": the initial value). */
static bool directive_weak(struct reader *r, struct span rest, enum weak_kind kind,
                           const char *form)
{
	struct span event = next_word(&rest), store = trimmed(rest);
	int64_t numbers[2] = { 0, NONE };
	bool initial = span_is(store, "-");

	if (!text_integer(event, &numbers[0]) ||
	    (!initial && !text_integer(store, &numbers[1])) || numbers[0] < 0 ||
	    numbers[1] < 0 || numbers[0] >= NONE || (!initial && numbers[1] >= numbers[0]))
		return malformed(r, form);
	builder_weak(r->b, (struct weak_source){ .event = (uint32_t)numbers[0],
	                                         .store = (uint32_t)numbers[1],
	                                         .kind = kind });
	return true;
}

static bool directive_reads(struct reader *r, struct span rest)
{
	return directive_weak(r, rest, WEAK_READS, "reads EVENT STORE (an earlier one, or -)");
}

static bool directive_after(struct reader *r, struct span rest)
{
	return directive_weak(r, rest, WEAK_AFTER, "after EVENT STORE (an earlier one, or -)");
}

static bool directive_approximate(struct reader *r, struct span rest)
{
	if (!span_is(trimmed(rest), "order"))
		return malformed(r, "approximate order");
	r->approximate_order = true;
	return true;
}

static bool directive_filtered(struct reader *r, struct span rest)
{
	r->filtered = true;
	return true;
}

static bool directive_truncated(struct reader *r, struct span rest)
{
	r->truncated = true;
	return true;
}

static bool directive_lenient(struct reader *r, struct span rest)
{
	builder_lenient(r->b);
	return true;
}

static const struct {
	const char *word;
	bool (*read)(struct reader *r, struct span rest);
	bool once; /* one line for each name */
} directives[] = {
	{ "heddle", directive_heddle, false },
	{ "atomic-set", directive_set, false },
	{ "object", directive_object, true },
	{ "source", directive_source, true },
	{ "size", directive_size, true },
	{ "semaphore", directive_semaphore, true },
	{ "stack", directive_stack, true },
	{ "note", directive_note, false },
	{ "reads", directive_reads, false },
	{ "after", directive_after, false },
	{ "filtered", directive_filtered, false },
	{ "approximate", directive_approximate, false },
	{ "truncated", directive_truncated, false },
	{ "lenient", directive_lenient, false },
};

/* Refuse contradicting lines of this kind on one name. */
static bool said_once(struct reader *r, const char *word, struct span rest)
{
	struct span name = next_word(&rest);
	struct span says = trimmed(rest);
	char *key = g_strdup_printf("%s %.*s", word, (int)name.length, name.at);
	const char *before = g_hash_table_lookup(r->said, key);
	bool same = before == NULL || span_is(says, before);
	if (!same)
		text_refuse(r, "leave one of the two lines out",
		            "expected one '#! %s' line of %.*s, found another that says "
		            "something else",
		            word, SHOW(name));
	if (before == NULL)
		g_hash_table_insert(r->said, key, g_strndup(says.at, says.length));
	else
		g_free(key);
	return same;
}

bool text_directive(struct reader *r, struct span s)
{
	struct span rest = part(s, 2, s.length);
	struct span word = next_word(&rest);
	for (size_t i = 0; i < G_N_ELEMENTS(directives); i++)
		if (span_is(word, directives[i].word))
			return directives[i].read(r, rest) &&
			       (!directives[i].once || said_once(r, directives[i].word, rest));
	char *name = g_strndup(word.at, word.length);
	guint count = GPOINTER_TO_UINT(g_hash_table_lookup(r->unknown, name));
	g_hash_table_insert(r->unknown, name, GUINT_TO_POINTER(count + 1));
	return true;
}
