/*
 * text_read.c - the text format (docs/, a superset of RAPID's STD): lines and directives
 * into a builder.  Every refusal names the line, what was expected and what was found.
 */
#include "engine/trace/builder.h"
#include "engine/trace/storage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct span {
	const char *at;
	size_t length;
};

/* A word of up to twelve letters as a number: for finding operations by a hash that
 * compares whole words at once. */
struct word_key {
	uint64_t low;
	uint32_t high;
};

enum { OP_SLOTS = 256 };

struct reader {
	const char *name;
	struct builder *b;
	struct error *error;
	uint64_t line;
	struct span all;   /* the whole line, for messages */
	GArray *arguments; /* uint32_t: values of the line being read */
	GString *scratch;
	GHashTable *unknown; /* unknown directives: name -> count */
	bool filtered, approximate_order;
	bool parsed; /* the line being read has the form of one: its fault is no cut */
	uint8_t op_slots[OP_SLOTS]; /* op + 1, by a hash of its word; 0: free */
	struct word_key op_keys[OP_COUNT];
};

static bool refuse(struct reader *r, const char *remedy, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static bool refuse(struct reader *r, const char *remedy, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(r->error, place_line(r->name, r->line).text, remedy, "%s", what);
	g_free(what);
	return false;
}

#define SHOW(span) (int)MIN((span).length, 60), (span).at

static bool is(struct span s, const char *word)
{
	return strlen(word) == s.length && memcmp(s.at, word, s.length) == 0;
}

static struct span part(struct span s, size_t from, size_t to)
{
	return (struct span){ s.at + from, to - from };
}

static struct span trimmed(struct span s)
{
	while (s.length && (*s.at == ' ' || *s.at == '\t'))
		s = part(s, 1, s.length);
	while (s.length && (s.at[s.length - 1] == ' ' || s.at[s.length - 1] == '\t'))
		s.length--;
	return s;
}

/* -- finding one's way in a line: quotes and brackets
 * -------------------------------------------- */

/* After the closing quote of a string that begins at `i`; the end when it never closes. */
static size_t after_quote(struct span s, size_t i)
{
	for (i++; i < s.length && s.at[i] != '"'; i++)
		if (s.at[i] == '\\')
			i++;
	return MIN(i + 1, s.length + 1);
}

/* What a byte can mean between the parts of a line. */
enum mark {
	MARK_COMMA = 1,
	MARK_SEMICOLON = 2,
	MARK_BAR = 4,
	MARK_GREATER = 8,
	MARK_PARENTHESIS = 16, /* the closing one */
	MARK_OPEN = 32,
	MARK_CLOSE = 64,
	MARK_QUOTE = 128,
};

static const uint8_t marks[256] = {
	[','] = MARK_COMMA,
	[';'] = MARK_SEMICOLON,
	['|'] = MARK_BAR,
	['>'] = MARK_GREATER,
	['('] = MARK_OPEN,
	['['] = MARK_OPEN,
	[')'] = MARK_CLOSE | MARK_PARENTHESIS,
	[']'] = MARK_CLOSE,
	['"'] = MARK_QUOTE,
};

/* The first of `wanted` (a set of marks) outside of quotes and of brackets opened after
 * `from`; s.length when there is none. */
static size_t find_outside(struct span s, size_t from, unsigned wanted)
{
	int depth = 0;
	for (size_t i = from; i < s.length;) {
		unsigned mark = marks[(unsigned char)s.at[i]];
		if (mark == 0) {
			i++;
			continue;
		}
		if (depth == 0 && (mark & wanted))
			return i;
		if (mark == MARK_QUOTE) {
			i = after_quote(s, i);
			continue;
		}
		if (mark & MARK_OPEN)
			depth++;
		else if ((mark & MARK_CLOSE) && depth > 0)
			depth--;
		i++;
	}
	return s.length;
}

/* -- values
 * ------------------------------------------------------------------------------------------ */

static int hex(char c)
{
	return g_ascii_xdigit_value(c);
}

/* The content of a quoted string, escapes resolved, in r->scratch. */
static bool unquote(struct reader *r, struct span s)
{
	g_string_truncate(r->scratch, 0);
	for (size_t i = 1; i < s.length - 1; i++) {
		char c = s.at[i];
		if (c != '\\') {
			g_string_append_c(r->scratch, c);
			continue;
		}
		char e = s.at[++i];
		if (e == '"' || e == '\\')
			g_string_append_c(r->scratch, e);
		else if (e == 'n')
			g_string_append_c(r->scratch, '\n');
		else if (e == 'x' && i + 2 < s.length - 1 && hex(s.at[i + 1]) >= 0 &&
		         hex(s.at[i + 2]) >= 0) {
			char byte = (char)(hex(s.at[i + 1]) * 16 + hex(s.at[i + 2]));
			if (byte == 0)
				return refuse(r, "a string cannot hold a NUL byte",
				              "expected a byte other than NUL, found \\x00");
			g_string_append_c(r->scratch, byte);
			i += 2;
		} else {
			return refuse(r, "the escapes of a string are \\\" \\\\ \\n \\xHH",
			              "expected an escape, found \\%c", e);
		}
	}
	return true;
}

/* A decimal integer: its sign and its digits without leading zeroes; false for others. */
static bool split_integer(struct span s, bool *negative, struct span *digits)
{
	*negative = s.length && *s.at == '-';
	*digits = part(s, *negative ? 1 : 0, s.length);
	if (digits->length == 0)
		return false;
	for (size_t i = 0; i < digits->length; i++)
		if (!g_ascii_isdigit(digits->at[i]))
			return false;
	while (digits->length > 1 && *digits->at == '0')
		*digits = part(*digits, 1, digits->length);
	return true;
}

static bool parse_integer(struct span s, int64_t *integer)
{
	bool negative;
	struct span digits;
	uint64_t magnitude = 0;
	if (!split_integer(s, &negative, &digits) || digits.length > 19)
		return false;
	for (size_t i = 0; i < digits.length; i++)
		magnitude = magnitude * 10 + (uint64_t)(digits.at[i] - '0');
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*integer = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

/* An integer beyond 64 bits still compares as a number: by its digits. */
static uint32_t big_integer(struct reader *r, bool negative, struct span digits)
{
	g_string_truncate(r->scratch, 0);
	if (negative)
		g_string_append_c(r->scratch, '-');
	g_string_append_len(r->scratch, digits.at, (gssize)digits.length);
	return builder_value(r->b, V_TOKEN, r->scratch->str, r->scratch->len);
}

static bool parse_value(struct reader *r, struct span s, uint32_t *value)
{
	int64_t integer;
	bool negative;
	struct span digits;
	s = trimmed(s);
	if (s.length == 0)
		return refuse(r, "write nil for no value", "expected a value, found nothing");
	if (*s.at == '"') {
		if (after_quote(s, 0) != s.length)
			return refuse(r, "strings end in a double quote",
			              "expected one string, found %.*s", SHOW(s));
		if (!unquote(r, s))
			return false;
		*value = builder_value(r->b, V_STRING, r->scratch->str, r->scratch->len);
	} else if (parse_integer(s, &integer)) {
		*value = builder_integer(r->b, integer);
	} else if (split_integer(s, &negative, &digits)) {
		*value = big_integer(r, negative, digits);
	} else {
		enum value_kind kind = is(s, "nil")     ? V_NIL
		                       : is(s, "true")  ? V_TRUE
		                       : is(s, "false") ? V_FALSE
		                                        : V_TOKEN;
		*value = builder_value(r->b, kind, s.at, s.length);
	}
	return true;
}

/* Values split at commas, appended to r->arguments. */
static bool parse_values(struct reader *r, struct span s)
{
	for (size_t from = 0;;) {
		size_t to = find_outside(s, from, MARK_COMMA);
		uint32_t value;
		if (!parse_value(r, part(s, from, to), &value))
			return false;
		g_array_append_val(r->arguments, value);
		if (to == s.length)
			return true;
		from = to + 1;
	}
}

/* Names split at commas as tokens, into a list value. */
static bool parse_tokens(struct reader *r, struct span s, bool any, uint32_t *list)
{
	g_array_set_size(r->arguments, 0);
	for (size_t from = 0; any;) {
		size_t to = find_outside(s, from, MARK_COMMA);
		struct span name = trimmed(part(s, from, to));
		if (name.length == 0)
			return refuse(r, "separate names by single commas",
			              "expected a name, found nothing");
		uint32_t value = builder_value(r->b, V_TOKEN, name.at, name.length);
		g_array_append_val(r->arguments, value);
		if (to == s.length)
			break;
		from = to + 1;
	}
	*list = builder_list(r->b, (uint32_t *)(void *)r->arguments->data, r->arguments->len);
	return true;
}

/* -- one event
 * ------------------------------------------------------------------------------------------ */

struct line { /* an event line in its parts */
	struct span thread, word, operand, values, order, location;
	bool has_values, has_order;
};

static bool split_tail(struct reader *r, struct span tail, struct line *l)
{
	if (tail.length && *tail.at == '=') {
		size_t end = find_outside(tail, 1, MARK_SEMICOLON | MARK_BAR);
		l->has_values = true;
		l->values = part(tail, 1, end);
		tail = part(tail, end, tail.length);
	}
	if (tail.length && *tail.at == ';') {
		size_t end = find_outside(tail, 1, MARK_BAR);
		l->has_order = true;
		l->order = part(tail, 1, end);
		tail = part(tail, end, tail.length);
	}
	if (tail.length == 0)
		return refuse(r, "an event line is thread|op(operand)|location",
		              "expected a third field, found the end of the line");
	if (*tail.at != '|')
		return refuse(r, "after the operand come =values, ;order and |location",
		              "expected '|', found %.*s", SHOW(tail));
	l->location = part(tail, 1, tail.length);
	if (memchr(l->location.at, '|', l->location.length))
		return refuse(r, "an event line has three fields",
		              "expected a location without '|', found %.*s", SHOW(l->location));
	return true;
}

static bool split_line(struct reader *r, struct span s, struct line *l)
{
	const char *bar = memchr(s.at, '|', s.length);
	if (bar == NULL || bar == s.at)
		return refuse(r, "an event line is thread|op(operand)|location",
		              "expected a thread and '|', found %.*s", SHOW(s));
	l->thread = part(s, 0, (size_t)(bar - s.at));
	struct span rest = part(s, l->thread.length + 1, s.length);
	size_t open = 0;
	while (open < rest.length && rest.at[open] != '(' && rest.at[open] != '|')
		open++;
	l->word = part(rest, 0, open);
	if (open == rest.length || rest.at[open] == '|')
		return refuse(r, "an event line is thread|op(operand)|location",
		              "expected an operation with '(', found %.*s", SHOW(l->word));
	size_t close = find_outside(rest, open + 1, MARK_PARENTHESIS);
	if (close >= rest.length)
		return refuse(r, "close the operand's parenthesis",
		              "expected ')', found the end of the line");
	l->operand = part(rest, open + 1, close);
	return split_tail(r, part(rest, close + 1, rest.length), l);
}

static inline bool word_key(struct span word, struct word_key *key)
{
	char bytes[12] = { 0 };
	if (word.length > sizeof bytes)
		return false;
	memcpy(bytes, word.at, word.length);
	memcpy(&key->low, bytes, 8);
	memcpy(&key->high, bytes + 8, 4);
	return true;
}

static inline unsigned op_slot(struct word_key key)
{
	return (unsigned)((key.low * UINT64_C(0x9e3779b97f4a7c15) ^ key.high) >> 56) % OP_SLOTS;
}

static void fill_ops(struct reader *r)
{
	for (int op = 0; op < OP_COUNT; op++) {
		struct word_key key;
		struct span word = { op_table[op].word, strlen(op_table[op].word) };
		BUG_ON(!word_key(word, &key));
		unsigned slot = op_slot(key);
		while (r->op_slots[slot])
			slot = (slot + 1) % OP_SLOTS;
		r->op_slots[slot] = (uint8_t)(op + 1);
		r->op_keys[op] = key;
	}
}

static int find_op(const struct reader *r, struct span word)
{
	struct word_key key;
	if (!word_key(word, &key))
		return -1;
	for (unsigned slot = op_slot(key); r->op_slots[slot]; slot = (slot + 1) % OP_SLOTS) {
		int op = r->op_slots[slot] - 1;
		if (r->op_keys[op].low == key.low && r->op_keys[op].high == key.high)
			return op;
	}
	return -1;
}

/* "rmw4": the operation and the size. */
static bool parse_word(struct reader *r, struct span word, enum op *op, uint32_t *size)
{
	size_t letters = word.length;
	while (letters && g_ascii_isdigit(word.at[letters - 1]))
		letters--;
	struct span digits = part(word, letters, word.length);
	int found = find_op(r, part(word, 0, letters));
	int64_t number = 0;
	*size = 0;
	if (found < 0)
		return refuse(r, "see the table of operations in the manual",
		              "expected an operation, found %.*s", SHOW(word));
	*op = found;
	if (digits.length == 0)
		return true;
	if (!op_is_access(found))
		return refuse(r, "only accesses have a size: r4, w8, ar4, aw4, rmw8",
		              "expected %s without a size, found %.*s", op_table[found].word,
		              SHOW(word));
	if (!parse_integer(digits, &number) || number < 1 || number > INT32_MAX)
		return refuse(r, "sizes are in bytes, as in r4(x)",
		              "expected a size of 1 to 2147483647 bytes, found %.*s",
		              SHOW(word));
	*size = (uint32_t)number;
	return true;
}

static const char *const order_words[] = { "", "rlx", "acq", "rel", "acq_rel", "seq_cst" };

static bool parse_order(struct reader *r, struct span s, struct event *e)
{
	for (int i = ORDER_RLX; i <= ORDER_SEQ_CST; i++)
		if (is(s, order_words[i])) {
			e->flags |= (uint8_t)i;
			return true;
		}
	return refuse(r, "the orders are rlx, acq, rel, acq_rel, seq_cst",
	              "expected a memory order, found %.*s", SHOW(s));
}

static bool parse_access(struct reader *r, const struct line *l, uint32_t size, struct event *e)
{
	if (op_is_atomic(e->op) && !l->has_order)
		e->flags |= ORDER_SEQ_CST;
	else if (op_is_atomic(e->op) && !parse_order(r, l->order, e))
		return false;
	e->target = builder_place_text(r->b, l->operand.at, l->operand.length, size);
	if (!l->has_values)
		return true;
	if (e->op != OP_RMW)
		return parse_value(r, l->values, &e->aux);
	size_t between = find_outside(l->values, 0, MARK_GREATER);
	uint32_t before, after;
	if (between == l->values.length)
		return refuse(r, "an rmw's value is OLD>NEW", "expected OLD>NEW, found %.*s",
		              SHOW(l->values));
	if (!parse_value(r, part(l->values, 0, between), &before) ||
	    !parse_value(r, part(l->values, between + 1, l->values.length), &after))
		return false;
	e->aux = builder_pair(r->b, before, after);
	return true;
}

/* act(o.m,a1,a2)=r, call(o.m,a1,a2), ret(o.m)=r */
static bool parse_call(struct reader *r, const struct line *l, struct event *e)
{
	size_t comma = find_outside(l->operand, 0, MARK_COMMA);
	struct span head = part(l->operand, 0, comma);
	size_t dot = head.length;
	while (dot && head.at[dot - 1] != '.')
		dot--;
	if (dot < 2 || dot == head.length)
		return refuse(r, "an invocation names its object and method: act(o.m,...)",
		              "expected OBJECT.METHOD, found %.*s", SHOW(head));
	if (e->op == OP_RET && comma < l->operand.length)
		return refuse(r, "the arguments stand at the call",
		              "expected ret(OBJECT.METHOD), found arguments");
	if (e->op == OP_CALL && l->has_values)
		return refuse(r, "the results stand at the ret",
		              "expected no results at a call");
	g_array_set_size(r->arguments, 0);
	if (comma < l->operand.length &&
	    !parse_values(r, part(l->operand, comma + 1, l->operand.length)))
		return false;
	guint arguments = r->arguments->len;
	if (l->has_values && !parse_values(r, l->values))
		return false;
	guint results = r->arguments->len - arguments;
	if (arguments > UINT16_MAX || results > UINT16_MAX)
		return refuse(r, "use fewer", "more than 65535 arguments or results");
	e->target = builder_instance(r->b, head.at, dot - 1);
	uint32_t method = builder_string(r->b, head.at + dot, head.length - dot);
	const uint32_t *values = (const uint32_t *)(void *)r->arguments->data;
	e->aux = builder_invocation(r->b, method, values, arguments, values + arguments,
	                            results);
	return true;
}

static bool parse_block(struct reader *r, const struct line *l, struct event *e)
{
	if (e->op == OP_FREE) {
		e->target = builder_block_find(r->b, l->operand.at, l->operand.length);
		if (e->target == NONE)
			e->target = builder_block(r->b, l->operand.at, l->operand.length, 0, 0);
		return true;
	}
	size_t comma = find_outside(l->operand, 0, MARK_COMMA);
	int64_t size;
	if (comma == 0 || comma == l->operand.length ||
	    !parse_integer(trimmed(part(l->operand, comma + 1, l->operand.length)), &size) ||
	    size < 0)
		return refuse(r, "an allocation is alloc(NAME,BYTES)",
		              "expected a name and a size, found %.*s", SHOW(l->operand));
	e->target = builder_block(r->b, l->operand.at, comma, (uint64_t)size, 0);
	return true;
}

static bool parse_scope(struct reader *r, const struct line *l, struct event *e)
{
	bool lists = e->op == OP_UBEG || e->op == OP_MISS;
	size_t comma = lists ? find_outside(l->operand, 0, MARK_COMMA) : l->operand.length;
	if (comma == 0)
		return refuse(r, "name the scope", "expected a name, found %.*s",
		              SHOW(l->operand));
	e->target = builder_string(r->b, l->operand.at, comma);
	if (!lists)
		return true;
	bool any = comma < l->operand.length;
	struct span rest = any ? part(l->operand, comma + 1, l->operand.length) : l->operand;
	return parse_tokens(r, rest, any, &e->aux);
}

static bool parse_operand(struct reader *r, const struct line *l, uint32_t size,
                          struct event *e)
{
	const char *at = l->operand.at;
	size_t length = l->operand.length;
	switch (op_table[e->op].operand) {
	case OPERAND_NOTHING:
		e->target = NONE;
		return e->op != OP_FENCE || parse_order(r, l->operand, e);
	case OPERAND_VARIABLE:
		return parse_access(r, l, size, e);
	case OPERAND_OBJECT:
		e->target = builder_object(r->b, at, length);
		return true;
	case OPERAND_THREAD:
		e->target = builder_thread(r->b, at, length);
		return true;
	case OPERAND_MESSAGE:
		e->target = builder_message(r->b, at, length);
		return true;
	case OPERAND_BLOCK:
		return parse_block(r, l, e);
	case OPERAND_INSTANCE:
		return parse_call(r, l, e);
	case OPERAND_NAME:
		return parse_scope(r, l, e);
	}
	BUG("operand kind %d", op_table[e->op].operand);
}

/* What stands in the line must be what the operation takes. */
static bool check_parts(struct reader *r, const struct line *l, enum op op)
{
	bool nothing = op_table[op].operand == OPERAND_NOTHING && op != OP_FENCE;
	if (nothing && l->operand.length)
		return refuse(r, "leave the parentheses empty", "expected %s(), found %.*s",
		              op_table[op].word, SHOW(l->operand));
	if (!nothing && l->operand.length == 0)
		return refuse(r, "name the operand", "expected an operand of %s, found nothing",
		              op_table[op].word);
	if (l->has_values && !op_is_access(op) && op_table[op].operand != OPERAND_INSTANCE)
		return refuse(r, "only accesses and invocations have values",
		              "expected no value of %s, found %.*s", op_table[op].word,
		              SHOW(l->values));
	if (l->has_order && !op_is_atomic(op))
		return refuse(r, "only atomic accesses have an order: ar, aw, rmw",
		              "expected no order of %s, found %.*s", op_table[op].word,
		              SHOW(l->order));
	return true;
}

static bool read_event(struct reader *r, struct span s)
{
	struct line l = { 0 };
	enum op op = OP_READ;
	uint32_t size = 0;
	if (!split_line(r, s, &l) || !parse_word(r, l.word, &op, &size) ||
	    !check_parts(r, &l, op))
		return false;
	struct event e = { .op = (uint8_t)op };
	uint32_t thread = builder_thread(r->b, l.thread.at, l.thread.length);
	if (thread >= UINT16_MAX)
		return refuse(r, "split the trace", "more than 65534 threads");
	e.thread = (uint16_t)thread;
	if (!parse_operand(r, &l, size, &e))
		return false;
	e.location = builder_location(r->b, l.location.at, l.location.length);
	r->parsed = true;
	return builder_add(r->b, e, r->line, r->error);
}

/* -- directives
 * --------------------------------------------------------------------------------------------
 */

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
	char *remedy = g_strdup_printf("write it as '#! %s'", form);
	refuse(r, remedy, "expected '#! %s', found %.*s", form, SHOW(r->all));
	g_free(remedy);
	return false;
}

static bool directive_heddle(struct reader *r, struct span rest)
{
	if (!is(next_word(&rest), "1") || trimmed(rest).length)
		return refuse(r, "this heddle reads version 1",
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
	uint32_t numbers[2] = { 0, 0 };
	int found = 0;
	size_t end = place.length;
	while (found < 2) {
		size_t from = end;
		while (from && g_ascii_isdigit(place.at[from - 1]))
			from--;
		if (from == end || from < 2 || place.at[from - 1] != ':' || end - from > 9)
			break;
		numbers[1] = numbers[0];
		numbers[0] = (uint32_t)strtoul(place.at + from, NULL, 10);
		end = from - 1;
		found++;
	}
	if (location.length == 0 || found == 0)
		return malformed(r, "source LOCATION FILE:LINE");
	char *file = g_strndup(place.at, end);
	builder_source(r->b, builder_location(r->b, location.at, location.length), file,
	               numbers[0], found == 2 ? numbers[1] : 0);
	g_free(file);
	return true;
}

static bool directive_size(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest), bytes = trimmed(rest);
	int64_t size;
	if (name.length == 0 || !parse_integer(bytes, &size) || size < 1 || size > INT32_MAX)
		return malformed(r, "size VARIABLE BYTES");
	builder_size_directive(r->b, name.at, name.length, (uint32_t)size);
	return true;
}

static bool directive_semaphore(struct reader *r, struct span rest)
{
	struct span name = next_word(&rest), count = trimmed(rest);
	int64_t number;
	if (name.length == 0 || !parse_integer(count, &number) || number < 0 ||
	    number > INT32_MAX)
		return malformed(r, "semaphore NAME COUNT");
	builder_semaphore(r->b, builder_object(r->b, name.at, name.length), (int32_t)number);
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
	char *k = g_strndup(key.at, key.length), *v = g_strndup(value.at, value.length);
	builder_note(r->b, k, v);
	g_free(k);
	g_free(v);
	return true;
}

static bool directive_approximate(struct reader *r, struct span rest)
{
	if (!is(trimmed(rest), "order"))
		return malformed(r, "approximate order");
	r->approximate_order = true;
	return true;
}

static bool directive_filtered(struct reader *r, struct span rest)
{
	r->filtered = true;
	return true;
}

static const struct {
	const char *word;
	bool (*read)(struct reader *r, struct span rest);
} directives[] = {
	{ "heddle", directive_heddle },     { "atomic-set", directive_set },
	{ "object", directive_object },     { "source", directive_source },
	{ "size", directive_size },         { "semaphore", directive_semaphore },
	{ "stack", directive_stack },       { "note", directive_note },
	{ "filtered", directive_filtered }, { "approximate", directive_approximate },
};

static bool read_directive(struct reader *r, struct span s)
{
	struct span rest = part(s, 2, s.length);
	struct span word = next_word(&rest);
	for (size_t i = 0; i < G_N_ELEMENTS(directives); i++)
		if (is(word, directives[i].word))
			return directives[i].read(r, rest);
	char *name = g_strndup(word.at, word.length);
	guint count = GPOINTER_TO_UINT(g_hash_table_lookup(r->unknown, name));
	g_hash_table_insert(r->unknown, name, GUINT_TO_POINTER(count + 1));
	return true;
}

/* -- the file
 * --------------------------------------------------------------------------------------------------
 */

static bool read_line(struct reader *r, struct span s)
{
	if (s.length && s.at[s.length - 1] == '\r')
		s.length--;
	r->all = s;
	r->parsed = false;
	if (s.length == 0 || (*s.at <= ' ' && trimmed(s).length == 0))
		return true;
	if (*s.at == '#')
		return s.length < 2 || s.at[1] != '!' || read_directive(r, s);
	return read_event(r, s);
}

static uint64_t line_of(const char *text, const char *at)
{
	uint64_t line = 1;
	for (const char *c = text; (c = memchr(c, '\n', (size_t)(at - c))); c++)
		line++;
	return line;
}

/* A file that was cut off within a character is shorter by the bytes of that. */
static bool check_bytes(struct reader *r, const char *text, size_t *length)
{
	const char *nul = memchr(text, '\0', *length);
	const char *end = text + *length;
	if (nul) {
		r->line = line_of(text, nul);
		return refuse(r, "a text trace has none; is this another kind of file?",
		              "expected text, found a NUL byte");
	}
	if (!g_utf8_validate(text, (gssize)*length, &end)) {
		size_t rest = *length - (size_t)(end - text);
		if (g_utf8_get_char_validated(end, (gssize)rest) == (gunichar)-2) {
			*length -= rest;
			return true;
		}
		r->line = line_of(text, end);
		return refuse(r, "convert the file to UTF-8",
		              "expected UTF-8, found the byte 0x%02X", (unsigned char)*end);
	}
	return true;
}

static void warn_of_directives(struct reader *r)
{
	GHashTableIter iter;
	gpointer name, count;
	g_hash_table_iter_init(&iter, r->unknown);
	while (g_hash_table_iter_next(&iter, &name, &count))
		builder_warn(r->b, "unknown directive %s (%u times) is not used", (char *)name,
		             GPOINTER_TO_UINT(count));
}

/* A last line without its newline that does not parse is where the file was cut off. */
static bool read_lines(struct reader *r, const char *text, size_t length,
                       const struct progress *progress, bool *complete)
{
	const char *end = text + length;
	for (const char *at = text; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct span s = { at, (size_t)((newline ? newline : end) - at) };
		r->line++;
		if (!read_line(r, s)) {
			if (newline || r->parsed)
				return false;
			builder_warn(r->b,
			             "line %" G_GUINT64_FORMAT
			             " is cut off: truncated after %u events",
			             r->line, builder_event_count(r->b));
			*complete = false;
		}
		at = newline ? newline + 1 : end;
		if ((r->line & 0xffff) == 0 &&
		    !progress_tick(progress, (double)(at - text) / length, "reading"))
			return error_set(r->error, "", NULL, "cancelled");
	}
	return true;
}

/* The mark that some editors put before UTF-8. */
static void skip_mark(const char **text, size_t *length)
{
	if (*length >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0) {
		*text += 3;
		*length -= 3;
	}
}

static void warn_of_scopes(struct reader *r, bool *complete)
{
	uint32_t open = builder_open_scopes(r->b);
	if (open == 0)
		return;
	builder_warn(r->b, "the trace ends inside %u open scope%s: truncated", open,
	             open == 1 ? "" : "s");
	*complete = false;
}

struct trace *text_read(const char *name, const char *text, size_t length,
                        const struct trace_options *options, const struct progress *progress,
                        struct error *error)
{
	struct reader r = { .name = name,
		            .b = builder_new(name, options),
		            .error = error,
		            .arguments = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .scratch = g_string_new(NULL),
		            .unknown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		                                             NULL) };
	bool complete = true;
	fill_ops(&r);
	skip_mark(&text, &length);
	bool good = length == 0 || (check_bytes(&r, text, &length) &&
	                            read_lines(&r, text, length, progress, &complete));
	struct trace *t = NULL;
	if (good) {
		warn_of_directives(&r);
		warn_of_scopes(&r, &complete);
		t = builder_finish(r.b, complete, error);
		if (t) {
			t->filtered = r.filtered;
			t->order_exact = !r.approximate_order;
		}
	} else {
		builder_free(r.b);
	}
	g_array_free(r.arguments, TRUE);
	g_string_free(r.scratch, TRUE);
	g_hash_table_destroy(r.unknown);
	return t;
}
