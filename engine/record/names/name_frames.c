/*
 * name_frames.c - which function's local variable lies at an address of a stack.
 *
 * The log says where each frame begins; the frame that holds an address is the innermost one
 * of that stack that begins above it, whoever touches it.  A stack's bytes belong to many
 * frames in turn: a name is given only where every access of them was to the same place of
 * the same function's frame, or every one by other threads than the stack's was.
 *
 * While events are added only the frames that are open are kept, and a few facts of each place
 * that was accessed, not the accesses; at the end the places become variables.
 */
#include "engine/base/column.h"
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/record/names/name_private.h"

#include <string.h>

struct open_frames { /* of a thread, the innermost one last */
	struct call_frame *at;
	uint32_t count, room;
	bool left; /* behind them is the last one that the innermost one's function called */
};

/* The frames that held bytes of a stack. A function is an address in it: 0: none yet; 1: not
 * known. */
struct held {
	uint64_t function; /* at the first access */
	uint64_t cfa;      /* of the frame; 0: not always the same, or not known */
	uint64_t sharer;   /* the function when another thread first touched it */
	uint64_t lent;     /* the CFA at all touches by other threads; 0 as of `cfa` */
	uint32_t shared;   /* the number of the first of these events, or NONE */
};

struct local_place {
	struct held held;
	uint32_t place, location; /* location: of the first access */
};

struct object_use {
	struct held held;
	struct first_use first; /* number NONE: not used yet */
	uint32_t stack;         /* the block of the stack that it lies in, or NONE */
	uint64_t address;
};

struct stack {
	uint64_t low, high;
	uint32_t block;
};

/* A variable in a stack. */
struct local {
	uint64_t function; /* of the frame; where it is shared, of `sharer` of its places */
	uint32_t variable;
	int32_t offset; /* from the CFA; 0: not always the same, or not known */
	int32_t lent;   /* the same of what other threads than the stack's touched alone */
	bool shared;    /* such a thread has touched it */
};

struct frame_names {
	GArray *open;         /* struct open_frames, by thread */
	GTree *stacks;        /* low -> struct stack, owned: the last of each address */
	GArray *thread_of;    /* uint32_t, by block: the thread whose stack it is, or NONE */
	struct column places; /* struct local_place, by their first accesses */
	uint32_t *place_at;   /* hash table of places, open addressing: index + 1; owned */
	uint32_t place_mask;
	GArray *objects; /* struct object_use, by object */
	GArray *locals;  /* struct local, by variable; NULL: not yet known */
};

/* --- while events are added ------------------------------------------------------------ */

static gint by_low(gconstpointer a, gconstpointer b, gpointer unused)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	(void)unused;
	return x < y ? -1 : x > y;
}

static struct frame_names *frames_of(struct names *n)
{
	struct frame_names *f = n->frames;
	if (f != NULL)
		return f;
	f = n->frames = g_new0(struct frame_names, 1);
	f->open = g_array_new(FALSE, TRUE, sizeof(struct open_frames));
	f->stacks = g_tree_new_full(by_low, NULL, NULL, g_free);
	f->thread_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	column_init(&f->places, sizeof(struct local_place), NULL, 0);
	f->objects = g_array_new(FALSE, FALSE, sizeof(struct object_use));
	return f;
}

void names_stack(struct names *n, uint32_t thread, uint32_t block, uint64_t address,
                 uint64_t size)
{
	struct frame_names *f = frames_of(n);
	const uint32_t none = NONE;
	struct stack *stack = g_new(struct stack, 1);
	*stack = (struct stack){ address, address + size, block };
	g_tree_replace(f->stacks, &stack->low, stack);
	while (f->thread_of->len <= block)
		g_array_append_val(f->thread_of, none);
	g_array_index(f->thread_of, uint32_t, block) = thread;
}

void names_enter(struct names *n, uint32_t thread, struct call_frame frame)
{
	enum { FIRST = 16 };
	struct frame_names *f = frames_of(n);
	if (f->open->len <= thread)
		g_array_set_size(f->open, thread + 1);
	struct open_frames *open = &g_array_index(f->open, struct open_frames, thread);
	if (open->count == open->room) {
		open->room = MAX(FIRST, 2 * open->room);
		open->at = g_renew(struct call_frame, open->at, open->room);
	}
	open->at[open->count++] = frame;
	open->left = false;
}

/* (A thread that has left all of its functions has mostly ended.) */
void names_leave(struct names *n, uint32_t thread)
{
	struct open_frames *open = &g_array_index(n->frames->open, struct open_frames, thread);
	open->left = --open->count > 0;
	if (open->left)
		return;
	g_clear_pointer(&open->at, g_free);
	open->room = 0;
}

static uint32_t thread_of(const struct frame_names *f, uint32_t stack)
{
	return stack < f->thread_of->len ? g_array_index(f->thread_of, uint32_t, stack) : NONE;
}

/* The innermost open frame of the thread that begins above the address. Where another thread
 * asks, it may be one that was left: a frame that calls ends where those of its calls begin. */
static const struct call_frame *holder(const struct frame_names *f, uint32_t thread,
                                       uint64_t address, bool own)
{
	if (thread >= f->open->len)
		return NULL;
	const struct open_frames *open = &g_array_index(f->open, struct open_frames, thread);
	if (!own && open->left && open->at[open->count].begin > address)
		return &open->at[open->count];
	for (uint32_t i = open->count; i-- > 0;) {
		const struct call_frame *frame = &open->at[i];
		if (frame->begin == 0)
			return NULL; /* it may be this one's */
		if (frame->begin > address)
			return frame;
	}
	return NULL;
}

static bool has_left_all(const struct frame_names *f, uint32_t thread)
{
	return thread < f->open->len &&
	       g_array_index(f->open, struct open_frames, thread).count == 0;
}

static void note(const struct frame_names *f, struct held *held, uint32_t stack,
                 uint64_t address, uint32_t thread, uint32_t number)
{
	uint32_t owner = thread_of(f, stack);
	const struct call_frame *frame = holder(f, owner, address, owner == thread);
	uint64_t function = frame ? frame->function : 1, cfa = frame ? frame->begin : 0;
	if (owner != thread && held->function != 0 && has_left_all(f, owner))
		return; /* a use after the end: it tells nothing of the frame */
	if (held->function == 0)
		*held = (struct held){ .function = function, .cfa = cfa, .shared = NONE };
	else if (held->function != function || held->cfa != cfa)
		held->cfa = 0;
	if (owner == thread)
		return;
	if (held->shared == NONE) {
		held->sharer = function;
		held->lent = cfa;
		held->shared = number;
	} else if (held->sharer != function || held->lent != cfa) {
		held->lent = 0;
	}
}

static uint32_t *place_slot(const struct frame_names *f, uint32_t place)
{
	uint32_t at = hash_top(hash_word(place)) & f->place_mask;
	while (f->place_at[at] != 0 &&
	       ((struct local_place *)column_at(&f->places, f->place_at[at] - 1))->place !=
	               place)
		at = (at + 1) & f->place_mask;
	return &f->place_at[at];
}

static void more_places(struct frame_names *f)
{
	enum { FIRST = 256 };
	uint32_t slots = f->place_at ? 2 * (f->place_mask + 1) : FIRST;
	g_free(f->place_at);
	f->place_at = g_new0(uint32_t, slots);
	f->place_mask = slots - 1;
	for (uint32_t i = 0; i < f->places.count; i++)
		*place_slot(f, ((struct local_place *)column_at(&f->places, i))->place) = i + 1;
}

static struct local_place *place_of(struct frame_names *f, const struct event *e)
{
	if (2 * f->places.count >= f->place_mask)
		more_places(f);
	uint32_t *slot = place_slot(f, e->target);
	if (*slot == 0) {
		*(struct local_place *)column_push(&f->places) =
		        (struct local_place){ .place = e->target, .location = e->location };
		*slot = (uint32_t)f->places.count;
	}
	return column_at(&f->places, *slot - 1);
}

uint32_t names_stack_thread(const struct names *n, uint32_t block)
{
	return n->frames == NULL ? NONE : thread_of(n->frames, block);
}

bool names_local(void *context, const struct local_access *access)
{
	struct frame_names *f = frames_of(context);
	struct held *held = &place_of(f, access->event)->held;
	note(f, held, access->stack, access->address, access->event->thread, access->number);
	return held->cfa == 0;
}

/* The stack that was last made at an address, or NONE. */
static uint32_t stack_at(const struct frame_names *f, uint64_t address)
{
	GTreeNode *node = g_tree_upper_bound(f->stacks, &address);
	node = node ? g_tree_node_previous(node) : g_tree_node_last(f->stacks);
	const struct stack *stack = node ? g_tree_node_value(node) : NULL;
	return stack && address < stack->high ? stack->block : NONE;
}

void names_used(void *context, const struct event *e, uint32_t number, uint64_t address)
{
	struct frame_names *f = frames_of(context);
	const struct object_use unused = { .first = { NONE, NONE } };
	while (f->objects->len <= e->target)
		g_array_append_val(f->objects, unused);
	struct object_use *use = &g_array_index(f->objects, struct object_use, e->target);
	if (use->first.number == NONE)
		*use = (struct object_use){ .first = { number, e->location },
			                    .stack = address ? stack_at(f, address) : NONE,
			                    .address = address };
	if (use->stack != NONE)
		note(f, &use->held, use->stack, address, e->thread, number);
}

/* --- at the end ------------------------------------------------------------------------ */

static int32_t offset_of(uint64_t cfa, uint64_t address)
{
	int64_t offset = cfa ? (int64_t)(address - cfa) : 0;
	return offset < INT32_MIN ? 0 : (int32_t)offset;
}

struct covered { /* a variable, and one of its places */
	uint32_t variable, place;
};

static gint by_variable(gconstpointer a, gconstpointer b)
{
	const struct covered *x = a, *y = b;
	if (x->variable != y->variable)
		return x->variable < y->variable ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The variable of the places in [at, end), the first accessed of which is the first. */
static struct local local_of(const struct names *n, const struct covered *at,
                             const struct covered *end)
{
	const struct column *places = &n->frames->places;
	uint64_t address = n->trace->variables[at->variable].address;
	struct local local = { .variable = at->variable };
	uint32_t shared = NONE;
	for (const struct covered *c = at; c < end; c++) {
		const struct local_place *p = column_at(places, c->place);
		int32_t offset = offset_of(p->held.cfa, address);
		if (c == at) {
			local.function = p->held.function;
			local.offset = offset;
		} else if (local.offset != offset || local.function != p->held.function) {
			local.offset = 0;
		}
	}
	for (const struct covered *c = at; c < end; c++) {
		const struct local_place *p = column_at(places, c->place);
		int32_t lent = offset_of(p->held.lent, address);
		if (p->held.shared == NONE)
			continue;
		bool same = !local.shared ||
		            (local.lent == lent && local.function == p->held.sharer);
		local.lent = same ? lent : 0;
		if (p->held.shared < shared) {
			shared = p->held.shared;
			local.function = p->held.sharer;
			local.shared = true;
		}
	}
	return local;
}

void names_begin_frames(struct names *n)
{
	struct frame_names *f = frames_of(n);
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct covered));
	f->locals = g_array_new(FALSE, FALSE, sizeof(struct local));
	for (uint32_t i = 0; i < f->places.count; i++) {
		const struct local_place *p = column_at(&f->places, i);
		struct wide range = builder_place_variables(n->clues, n->trace, p->place);
		for (uint32_t k = 0; k < range.count; k++) {
			struct covered c = { range.first + k, i };
			g_array_append_val(all, c);
		}
		if (range.count > 0 && n->first_location[range.first] == NONE)
			n->first_location[range.first] = p->location;
	}
	g_array_sort(all, by_variable);
	const struct covered *at = (const void *)all->data, *end = at + all->len;
	while (at < end) {
		const struct covered *next = at;
		while (next < end && next->variable == at->variable)
			next++;
		struct local local = local_of(n, at, next);
		g_array_append_val(f->locals, local);
		at = next;
	}
	g_clear_pointer(&f->place_at, g_free);
	column_free(&f->places);
}

void names_end_frames(struct names *n)
{
	struct frame_names *f = n->frames;
	if (f == NULL)
		return;
	for (guint i = 0; i < f->open->len; i++)
		g_free(g_array_index(f->open, struct open_frames, i).at);
	g_array_unref(f->open);
	g_tree_unref(f->stacks);
	g_array_unref(f->thread_of);
	column_free(&f->places);
	g_free(f->place_at);
	g_array_unref(f->objects);
	if (f->locals)
		g_array_unref(f->locals);
	g_free(f);
}

struct first_use names_first_use(const struct names *n, size_t object)
{
	const GArray *objects = n->trace && n->frames ? n->frames->objects : NULL;
	return objects && object < objects->len
	               ? g_array_index(objects, struct object_use, object).first
	               : (struct first_use){ NONE, NONE };
}

/* NULL: no variable in a stack, or never touched. */
static const struct local *local_at(const struct names *n, uint32_t variable)
{
	const GArray *locals = n->frames->locals;
	guint at = search_end(i, 0u, locals->len,
	                      g_array_index(locals, struct local, i).variable < variable);
	const struct local *l = &g_array_index(locals, struct local, at);
	return at < locals->len && l->variable == variable ? l : NULL;
}

bool names_append_sharer(struct names *n, uint32_t variable, GString *name)
{
	const struct local *l = local_at(n, variable);
	uint32_t module = l && l->shared ? names_module_below(n, l->function) : NONE;
	return module != NONE &&
	       names_function(n, module, l->function - names_base(n, module), name);
}

/* The local variable at an offset of the function's frame: "function::local" and its part. */
static bool find_local(struct names *n, uint64_t function, int32_t offset, uint64_t size,
                       GString *local, struct debug_part *part, uint32_t *module)
{
	if (offset == 0)
		return false;
	*module = names_module_below(n, function);
	struct debuginfo *d = names_debuginfo(n, *module);
	return d && debuginfo_frame_name(d, function - names_base(n, *module), offset, size,
	                                 local, part);
}

bool names_local_part(struct names *n, uint32_t variable, uint64_t size, GString *name,
                      struct debug_part *part, uint32_t *module)
{
	const struct local *l = local_at(n, variable);
	return l && find_local(n, l->function, l->offset, size, name, part, module);
}

/* By its offset in the frame that all accesses fell into, or else by `lent`, that of the
 * accesses by other threads; then its values have no form, as others are beside its own. */
static bool append(struct names *n, uint64_t function, int32_t offset, int32_t lent,
                   uint64_t size, GString *name)
{
	g_autoptr(GString) local = g_string_new(NULL);
	struct debug_part part = { .exact = false };
	uint32_t module;
	bool known =
	        find_local(n, function, offset ? offset : lent, size, local, &part, &module);
	if (known && part.exact && size > 0 && offset != 0)
		debuginfo_form(names_debuginfo(n, module), part.type, n->form);
	if (known)
		names_append_function(local->str, name);
	return known;
}

bool names_append_local(struct names *n, uint32_t variable, uint64_t size, GString *name)
{
	const struct local *l = local_at(n, variable);
	return l && append(n, l->function, l->offset, l->lent, size, name);
}

bool names_append_local_object(struct names *n, uint32_t object, GString *name)
{
	const GArray *objects = n->frames->objects;
	if (object >= objects->len)
		return false;
	const struct object_use *use = &g_array_index(objects, struct object_use, object);
	const struct held *held = &use->held;
	uint64_t function = held->cfa ? held->function : held->sharer;
	return append(n, function, offset_of(held->cfa, use->address),
	              offset_of(held->lent, use->address), 0, name);
}
