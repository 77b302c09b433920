/*
 * text_event.c - parses an event line, thread|op(operand)=values;order|location, and adds it to
 * the builder.
 */
#include "engine/trace/text/text_reader.h"
#include "engine/base/hash.h"
#include "engine/trace/text/spell.h"

/* The parts of an event line. */
struct line {
	struct span thread, word, operand, values, order, location;
	bool has_values, has_order;
};

static bool split_tail(struct reader *r, struct span tail, struct line *l)
{
	if (tail.length && *tail.at == '=') {
		size_t end = text_find(tail, 1, MARK_SEMICOLON | MARK_BAR);
		l->has_values = true;
		l->values = part(tail, 1, end);
		tail = part(tail, end, tail.length);
	}
	if (tail.length && *tail.at == ';') {
		size_t end = text_find(tail, 1, MARK_BAR);
		l->has_order = true;
		l->order = part(tail, 1, end);
		tail = part(tail, end, tail.length);
	}
	if (tail.length == 0)
		return text_refuse(r, "an event line is thread|op(operand)|location",
		                   "expected a third field, found the end of the line");
	if (*tail.at != '|')
		return text_refuse(r, "after the operand come =values, ;order and |location",
		                   "expected '|', found %.*s", SHOW(tail));
	l->location = part(tail, 1, tail.length);
	if (memchr(l->location.at, '|', l->location.length))
		return text_refuse(r, "an event line has three fields",
		                   "expected a location without '|', found %.*s",
		                   SHOW(l->location));
	return true;
}

static bool split_line(struct reader *r, struct span s, struct line *l)
{
	const char *bar = memchr(s.at, '|', s.length);
	if (s.length > 0 && *s.at == '{' && r->line == 1)
		return text_refuse(
		        r,
		        "of an exploration's tree, open a run, as in 'heddle "
		        "TREE.run0.hdl', and press X",
		        "this is JSON, a report or the tree of an exploration, and no "
		        "trace");
	if (bar == NULL || bar == s.at)
		return text_refuse(r, "an event line is thread|op(operand)|location",
		                   "expected a thread and '|', found %.*s", SHOW(s));
	l->thread = part(s, 0, (size_t)(bar - s.at));
	struct span rest = part(s, l->thread.length + 1, s.length);
	size_t open = 0;
	while (open < rest.length && rest.at[open] != '(' && rest.at[open] != '|')
		open++;
	l->word = part(rest, 0, open);
	if (open == rest.length || rest.at[open] == '|')
		return text_refuse(r, "an event line is thread|op(operand)|location",
		                   "expected an operation with '(', found %.*s", SHOW(l->word));
	size_t close = text_find(rest, open + 1, MARK_PARENTHESIS);
	if (close >= rest.length)
		return text_refuse(r, "close the operand's parenthesis",
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
	return (unsigned)((hash_word(key.low) ^ key.high) >> 56) % OP_SLOTS;
}

static void fill_op(struct reader *r, int code, const char *word)
{
	struct word_key key;

	BUG_ON(!word_key((struct span){ word, strlen(word) }, &key));
	unsigned slot = op_slot(key);
	while (r->op_slots[slot])
		slot = (slot + 1) % OP_SLOTS;
	r->op_slots[slot] = (uint8_t)(code + 1);
	r->op_keys[code] = key;
}

/* The first of two operations with the same word is used. */
void text_fill_ops(struct reader *r)
{
	for (int op = 0; op < OP_COUNT; op++) {
		fill_op(r, op, op_table[op].word);
		if (op_table[op].tried)
			fill_op(r, OP_COUNT + op, op_table[op].tried);
	}
}

/* The operation, plus OP_COUNT for a try; -1: unknown. */
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

/* "rmw4", "tryacq": the operation with its flag, and the size. */
static bool parse_word(struct reader *r, struct span word, struct event *e, uint32_t *size)
{
	size_t letters = word.length;
	while (letters && g_ascii_isdigit(word.at[letters - 1]))
		letters--;
	struct span digits = part(word, letters, word.length);
	int found = find_op(r, part(word, 0, letters));
	int64_t number = 0;
	*size = 0;
	if (found < 0)
		return text_refuse(r, "see the table of operations in the manual",
		                   "expected an operation, found %.*s", SHOW(word));
	e->op = (uint8_t)(found % OP_COUNT);
	e->flags = found >= OP_COUNT ? EVENT_TRY : 0;
	if (digits.length == 0)
		return true;
	if (!op_is_access(e->op))
		return text_refuse(r, "only accesses have a size: r4, w8, ar4, aw4, rmw8",
		                   "expected %s without a size, found %.*s", event_word(e),
		                   SHOW(word));
	if (!text_integer(digits, &number) || number < 1 || number > INT32_MAX)
		return text_refuse(r, "sizes are in bytes, as in r4(x)",
		                   "expected a size of 1 to 2147483647 bytes, found %.*s",
		                   SHOW(word));
	*size = (uint32_t)number;
	return true;
}

static bool parse_order(struct reader *r, struct span s, struct event *e)
{
	for (int i = ORDER_RLX; i <= ORDER_SEQ_CST; i++)
		if (span_is(s, memory_order_words[i])) {
			e->flags |= (uint8_t)i;
			return true;
		}
	return text_refuse(r, "the orders are rlx, acq, rel, acq_rel, seq_cst",
	                   "expected a memory order, found %.*s", SHOW(s));
}

/* "timed" of a wait: the operation's word with a flag. */
static bool parse_flag(struct span s, struct event *e)
{
	for (size_t i = 0; i < FLAG_WORDS; i++) {
		if (flag_words[i].op == e->op && span_is(s, flag_words[i].word)) {
			e->flags |= flag_words[i].flag;
			return true;
		}
	}
	return false;
}

/* "acq", "timed", or "acq,failed": a memory order, then a word of the operation. */
static bool parse_tail(struct reader *r, const struct line *l, struct event *e)
{
	struct span s = l->order, last = s;
	bool atomic = op_is_atomic(e->op);
	size_t comma = text_find(s, 0, MARK_COMMA);

	if (l->has_order && comma < s.length)
		last = part(s, comma + 1, s.length);
	bool flagged = l->has_order && parse_flag(last, e);
	if (!l->has_order || (flagged && comma == s.length)) {
		e->flags |= atomic ? ORDER_SEQ_CST : 0;
		return true;
	}
	if (!atomic)
		return text_refuse(r,
		                   "only atomic accesses have an order: ar, aw, rmw; a word of "
		                   "its own have wait(c);timed, wake(c);timeout, "
		                   "tryacq(l);timed, tryfail(l);shared, r(x);volatile, "
		                   "snd(g);failed and ret(o.m);left",
		                   "expected no order of %s, found %.*s", event_word(e),
		                   SHOW(s));
	return parse_order(r, flagged ? part(s, 0, comma) : s, e);
}

static bool parse_access(struct reader *r, const struct line *l, uint32_t size, struct event *e)
{
	e->target = builder_place_text(r->b, l->operand.at, l->operand.length, size);
	if (!l->has_values)
		return true;
	if (e->op != OP_RMW)
		return text_value(r, l->values, &e->aux);
	size_t between = text_find(l->values, 0, MARK_GREATER);
	uint32_t before, after;
	if (between == l->values.length)
		return text_refuse(r, "an rmw's value is OLD>NEW",
		                   "expected OLD>NEW, found %.*s", SHOW(l->values));
	if (!text_value(r, part(l->values, 0, between), &before) ||
	    !text_value(r, part(l->values, between + 1, l->values.length), &after))
		return false;
	e->aux = builder_pair(r->b, before, after);
	return true;
}

/* act(o.m,a1,a2)=r, call(o.m,a1,a2), ret(o.m)=r */
static bool parse_call(struct reader *r, const struct line *l, struct event *e)
{
	size_t comma = text_find(l->operand, 0, MARK_COMMA);
	struct span head = part(l->operand, 0, comma);
	size_t dot = head.length;
	while (dot && head.at[dot - 1] != '.')
		dot--;
	if (dot < 2 || dot == head.length)
		return text_refuse(r, "an invocation names its object and method: act(o.m,...)",
		                   "expected OBJECT.METHOD, found %.*s", SHOW(head));
	if (e->op == OP_RET && comma < l->operand.length)
		return text_refuse(r, "the arguments stand at the call",
		                   "expected ret(OBJECT.METHOD), found arguments");
	if (e->op == OP_CALL && l->has_values)
		return text_refuse(r, "the results stand at the ret",
		                   "expected no results at a call");
	g_array_set_size(r->arguments, 0);
	if (comma < l->operand.length &&
	    !text_values(r, part(l->operand, comma + 1, l->operand.length)))
		return false;
	guint arguments = r->arguments->len;
	if (l->has_values && !text_values(r, l->values))
		return false;
	guint results = r->arguments->len - arguments;
	if (arguments > UINT16_MAX || results > UINT16_MAX)
		return text_refuse(r, "use fewer", "more than 65535 arguments or results");
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
	size_t comma = text_find(l->operand, 0, MARK_COMMA);
	int64_t size;
	if (comma == 0 || comma == l->operand.length ||
	    !text_integer(trimmed(part(l->operand, comma + 1, l->operand.length)), &size) ||
	    size < 0)
		return text_refuse(r, "an allocation is alloc(NAME,BYTES)",
		                   "expected a name and a size, found %.*s", SHOW(l->operand));
	e->target = builder_block(r->b, l->operand.at, comma, (uint64_t)size, 0);
	return true;
}

static bool parse_scope(struct reader *r, const struct line *l, struct event *e)
{
	bool lists = e->op == OP_UBEG || e->op == OP_MISS;
	size_t comma = lists ? text_find(l->operand, 0, MARK_COMMA) : l->operand.length;
	if (comma == 0)
		return text_refuse(r, "name the scope", "expected a name, found %.*s",
		                   SHOW(l->operand));
	e->target = builder_string(r->b, l->operand.at, comma);
	if (!lists)
		return true;
	bool any = comma < l->operand.length;
	struct span rest = any ? part(l->operand, comma + 1, l->operand.length) : l->operand;
	return text_tokens(r, rest, any, &e->aux);
}

/* want(o): an object, unless only a thread has the name. */
static bool parse_want(struct reader *r, const struct line *l, struct event *e)
{
	const char *at = l->operand.at;
	size_t length = l->operand.length;

	if (!builder_is_object(r->b, at, length) && builder_is_thread(r->b, at, length)) {
		e->op = OP_WANTJOIN;
		e->target = builder_thread(r->b, at, length);
		return true;
	}
	e->target = builder_object_text(r->b, at, length);
	return true;
}

/* misuse(m,RULE) */
static bool parse_misuse(struct reader *r, const struct line *l, struct event *e)
{
	size_t comma = text_find(l->operand, 0, MARK_COMMA);

	if (comma == 0 || comma + 1 >= l->operand.length)
		return text_refuse(
		        r, "a misuse is misuse(OBJECT,RULE)",
		        "expected an object and the rule that was broken, found %.*s",
		        SHOW(l->operand));
	e->target = builder_object_text(r->b, l->operand.at, comma);
	struct span rule = part(l->operand, comma + 1, l->operand.length);
	e->aux = builder_value(r->b, V_TOKEN, rule.at, rule.length);
	return true;
}

static bool parse_object(struct reader *r, const struct line *l, struct event *e)
{
	if (e->op == OP_WANT)
		return parse_want(r, l, e);
	if (e->op == OP_MISUSE)
		return parse_misuse(r, l, e);
	e->target = builder_object_text(r->b, l->operand.at, l->operand.length);
	return true;
}

/* flush(E): the id of the store that arrives. */
static bool parse_flush(struct reader *r, const struct line *l, struct event *e)
{
	int64_t store;

	if (!text_integer(l->operand, &store) || store < 0 ||
	    store >= builder_event_count(r->b))
		return text_refuse(r, "a store arrives by flush(ID of its event)",
		                   "expected the id of an earlier event, found %.*s",
		                   SHOW(l->operand));
	e->aux = (uint32_t)store;
	r->flushes = true;
	return true;
}

static bool parse_operand(struct reader *r, const struct line *l, uint32_t size,
                          struct event *e)
{
	const char *at = l->operand.at;
	size_t length = l->operand.length;
	switch (op_table[e->op].operand) {
	case OPERAND_NOTHING:
		e->target = NONE;
		if (e->op == OP_FLUSH)
			return parse_flush(r, l, e);
		return e->op != OP_FENCE || parse_order(r, l->operand, e);
	case OPERAND_VARIABLE:
		return parse_access(r, l, size, e);
	case OPERAND_OBJECT:
		return parse_object(r, l, e);
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

/* The line's parts must match the operation. */
static bool check_parts(struct reader *r, const struct line *l, const struct event *e)
{
	enum op op = e->op;
	bool nothing =
	        op_table[op].operand == OPERAND_NOTHING && op != OP_FENCE && op != OP_FLUSH;
	if (nothing && l->operand.length)
		return text_refuse(r, "leave the parentheses empty",
		                   "expected %s(), found %.*s", event_word(e),
		                   SHOW(l->operand));
	if (!nothing && l->operand.length == 0)
		return text_refuse(r, "name the operand",
		                   "expected an operand of %s, found nothing", event_word(e));
	if (l->has_values && !op_is_access(op) && op_table[op].operand != OPERAND_INSTANCE)
		return text_refuse(r, "only accesses and invocations have values",
		                   "expected no value of %s, found %.*s", event_word(e),
		                   SHOW(l->values));
	return true;
}

bool text_event(struct reader *r, struct span s)
{
	struct line l = { 0 };
	struct event e = { 0 };
	uint32_t size = 0;
	if (!split_line(r, s, &l) || !parse_word(r, l.word, &e, &size) ||
	    !check_parts(r, &l, &e) || !parse_tail(r, &l, &e))
		return false;
	e.thread = builder_thread(r->b, l.thread.at, l.thread.length);
	if (!parse_operand(r, &l, size, &e))
		return false;
	e.location = builder_location(r->b, l.location.at, l.location.length);
	r->parsed = true;
	return builder_add(r->b, e, r->line, r->error);
}
