/*
 * builder_names.c - names at the end of a recording: requested from the namer
 * (engine/record/names/name.c) for each block, object, location and variable. Text traces have
 * names already.
 */
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/binary/tape.h"

/* The current tables, borrowed: strings and locations may still move. */
static struct trace trace_view(struct builder *b, struct cut *c)
{
	struct trace t = { 0 };
#define LEND(member, array) \
	t.member = (void *)(array)->data; \
	t.member##_count = (array)->len
	t.events_count = b->events.count;
	t.values = (void *)b->values_array.data;
	t.values_count = b->values_array.count;
	LEND(value_lists, b->value_lists);
	LEND(variables, c->variables);
	LEND(wides, c->wides);
	LEND(threads, b->threads);
	LEND(objects, b->objects);
	LEND(blocks, b->blocks);
	LEND(locations, b->locations);
	LEND(contexts, b->contexts);
	LEND(modules, b->modules);
	LEND(string_offsets, b->string_offsets);
	LEND(string_bytes, b->string_bytes);
#undef LEND
	return t;
}

/* -- clues: the events that names may depend on ----------------------------------------- */

static void keep_clue(struct builder *b, const struct event *e)
{
	*(struct clue *)column_push(&b->clues.list) =
	        (struct clue){ .event = *e, .id = (uint32_t)b->events.count };
}

/* Of the names of locals it matters in which frame they are. */
static void take_local(struct builder *b, struct line *l, const struct event *e)
{
	uint64_t bit = line_bit(e->target);
	bool spent = builder_place_spent(b, l, e->target, e->thread);
	*builder_frames_at(b, l, e->target) = builder_frame_now(b, l, e->target, e->thread);
	if (spent || b->namer == NULL || b->namer->local == NULL ||
	    (l->settled & bit && builder_is_own(b, l, e->thread)))
		return;
	struct local_access access = { e, (uint32_t)b->events.count, l->block,
		                       builder_local_address(b, e->target) };
	if (b->namer->local(b->namer->context, &access))
		l->settled |= bit;
}

uint32_t builder_frame_number(struct builder *b, struct call_frame frame)
{
	struct clues *g = &b->clues;
	if (g->frames_of == NULL)
		g->frames_of = g_new0(struct frame_memo, FRAMES_KEPT);
	uint64_t hash = hash_word(frame.function ^ frame.begin << 16);
	struct frame_memo *m = &g->frames_of[hash_top(hash) % FRAMES_KEPT];
	if (m->number == 0 || m->frame.function != frame.function ||
	    m->frame.begin != frame.begin)
		*m = (struct frame_memo){ frame, ++g->frames };
	return m->number;
}

/* The innermost open frame that begins above the address; behind one whose beginning is not
 * known it is not known either. */
uint32_t builder_frame_around(const struct builder *b, uint32_t place, uint32_t thread)
{
	const struct column *scopes = &AT(b->states, struct thread_state, thread)->scopes;
	uint64_t address = builder_local_address(b, place);
	for (uint64_t i = scopes->count; i-- > 0;) {
		const struct scope *s = AT(scopes, struct scope, i);
		if (s->op == OP_ENTER && (s->begin == 0 || s->begin > address))
			return s->begin ? s->aux : 0;
	}
	return 0;
}

bool builder_noted_in_call(const struct builder *b, uint32_t place, uint32_t thread)
{
	const struct line *l = builder_line(b, place);
	return l->met & line_bit(place) && builder_place_spent(b, l, place, thread);
}

static void take_object(struct builder *b, const struct event *e)
{
	if (e->target != NONE && b->namer && b->namer->used)
		b->namer->used(b->namer->context, e, (uint32_t)b->events.count,
		               AT(b->objects, struct object, e->target)->address);
}

static void take_block(struct builder *b, const struct event *e)
{
	struct clues *g = &b->clues;
	uint64_t address =
	        e->target == NONE ? 0 : AT(b->blocks, struct block, e->target)->address;
	if (e->op == OP_ALLOC && address) {
		struct block_bounds *l = &g->blocks;
		l->low = l->bits ? MIN(l->low, address) : address;
		l->high = MAX(l->high, address);
		l->bits |= address;
		g_hash_table_insert(g->live, GSIZE_TO_POINTER(address),
		                    GUINT_TO_POINTER(e->target + 1));
	} else if (e->op == OP_FREE) {
		g_hash_table_remove(g->live, GSIZE_TO_POINTER(address));
	}
	keep_clue(b, e);
}

static struct clue_counts *counts_of(struct clues *g, uint32_t block)
{
	if (g->counts->len <= block)
		g_array_set_size(g->counts, MAX(block + 1, 2 * g->counts->len));
	return AT(g->counts, struct clue_counts, block);
}

static bool first_of_block(struct clues *g, uint32_t block)
{
	struct clue_counts *c = counts_of(g, block);
	return c->accesses < CLUE_ACCESSES && ++c->accesses;
}

/* The integer that the event writes, or 0. */
static uint64_t written_integer(const struct builder *b, const struct event *e)
{
	if (!op_writes(e->op))
		return 0;
	struct value v = value_at(b, e->aux);
	if (v.kind == V_PAIR)
		v = value_at(b, v.second);
	return v.kind == V_INT ? (uint64_t)v.integer : 0;
}

/* The block that begins at the address now, or NONE. */
static uint32_t block_at(const struct builder *b, uint64_t address)
{
	gpointer key = GSIZE_TO_POINTER(address);
	return builder_may_be_block(b, address)
	               ? GPOINTER_TO_UINT(g_hash_table_lookup(b->clues.live, key)) - 1
	               : NONE;
}

/* A local variable receives a block's address. */
static void take_receiver(struct builder *b, const struct event *e)
{
	uint32_t block = block_at(b, written_integer(b, e));
	struct clue_counts *c = block != NONE ? counts_of(&b->clues, block) : NULL;
	if (c != NULL && c->locals < CLUE_LOCALS) {
		c->locals++;
		keep_clue(b, e);
	}
}

static void take_access(struct builder *b, const struct event *e)
{
	struct clues *g = &b->clues;
	struct line *l = builder_line(b, e->target);
	bool heap = l->block != NONE, news;
	if (l->stack) {
		take_local(b, l, e);
		take_receiver(b, e);
		return;
	}
	if (heap)
		news = first_of_block(g, l->block);
	else
		news = !(l->spent & line_bit(e->target));
	if (news || block_at(b, written_integer(b, e)) != NONE)
		keep_clue(b, e);
	l->spent |= !heap ? line_bit(e->target) : news ? 0 : UINT64_MAX;
}

void builder_take_clue(struct builder *b, const struct event *e)
{
	if (op_is_access(e->op))
		take_access(b, e);
	else if (e->op == OP_ENTER || e->op == OP_LEAVE)
		b->clues.calls++;
	else if (e->op == OP_ALLOC || e->op == OP_FREE)
		take_block(b, e);
	else if (op_table[e->op].operand == OPERAND_OBJECT)
		take_object(b, e);
}

struct wide builder_place_variables(struct clue_list clues, const struct trace *partial,
                                    uint32_t place)
{
	uint32_t variable = clues.places[place];
	return variable & PLACE_WIDE ? partial->wides[variable & ~PLACE_WIDE]
	                             : (struct wide){ variable, 1 };
}

/* -- names --------------------------------------------------------------------------------- */

static void name_locations(struct builder *b, const struct namer *n)
{
	for (guint i = 0; n->location && i < b->locations->len; i++) {
		/* Adding locations may move the array. */
		struct location l = *AT(b->locations, struct location, i);
		if (l.module == NONE)
			continue;
		n->location(n->context, b, &l);
		*AT(b->locations, struct location, i) = l;
		builder_location_site(b, i);
	}
}

static void name_blocks(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->block && i < b->blocks->len; i++) {
		struct block *block = AT(b->blocks, struct block, i);
		g_string_truncate(name, 0);
		n->block(n->context, b, block, name);
		if (name->len)
			block->name = builder_string(b, name->str, name->len);
	}
}

static void name_objects(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->object && i < b->objects->len; i++) {
		g_string_truncate(name, 0);
		n->object(n->context, AT(b->objects, struct object, i), name);
		if (name->len)
			AT(b->objects, struct object, i)->name =
			        builder_string(b, name->str, name->len);
	}
}

uint32_t builder_spelling(struct builder *b, const GString *name)
{
	return builder_append_string(b, name->str, name->len);
}

uint32_t builder_name_rule(struct builder *b, struct name_rule rule, const char *path,
                           const char *rest)
{
	rule.path = builder_append_string(b, path, strlen(path));
	rule.rest = builder_append_string(b, rest, strlen(rest));
	g_array_append_val(b->name_rules, rule);
	return NAME_BY_RULE | (b->name_rules->len - 1);
}

/* Distinct names are not interned, and nothing is interned afterwards. */
static void name_variables(struct builder *b, const struct trace *view, struct cut *c,
                           GString *name)
{
	const struct namer *n = b->namer;
	b->sealed = true;
	if (n && n->variables)
		n->variables(n->context, b, view,
		             (struct variable *)(void *)c->variables->data);
	for (guint i = 0; i < c->variables->len; i++) {
		struct variable *v = AT(c->variables, struct variable, i);
		if (v->spelling != NONE)
			continue;
		g_string_truncate(name, 0);
		builder_append_plain_name(b, v, name);
		v->spelling = builder_spelling(b, name);
	}
}

/* The table of places, which may be as large as that of the variables, goes to the file before
 * memory for names is needed. */
static void release_places(struct builder *b, struct cut *c)
{
	if (b->writer)
		binary_places(b->writer, c->places, c->places_count);
	g_clear_pointer(&c->places, g_free);
}

/* Request all names. */
void builder_ask_names(struct builder *b, struct cut *c)
{
	const struct namer *n = b->namer;
	g_autoptr(GString) name = g_string_new(NULL);
	struct trace view = trace_view(b, c);
	if (n && n->begin)
		n->begin(n->context, &view,
		         (struct clue_list){ (void *)b->clues.list.data, b->clues.list.count,
		                             c->places });
	release_places(b, c);
	if (n) {
		name_blocks(b, n, name);
		name_objects(b, n, name);
		name_locations(b, n);
		view = trace_view(b, c); /* the tables have moved */
	}
	name_variables(b, &view, c, name);
	if (n && n->forms)
		n->forms(n->context, b);
	view = trace_view(b, c);
	builder_settle_late(b, &view);
}
