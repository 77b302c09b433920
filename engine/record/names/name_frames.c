/*
 * name_frames.c - which function's local variable lies at an address of a stack.
 *
 * The log says where each frame begins; the frame that holds an address is the innermost one
 * of that stack that begins above it, whoever touches it.  A stack's bytes belong to many
 * frames in turn: a name is given only where every access of them was to the same place of
 * the same function's frame.
 */
#include "engine/base/column.h"
#include "engine/record/names/name_private.h"

#include <string.h>

struct entered { /* an ENTER of the log */
	uint64_t address, cfa;
};

struct frame_place { /* of a variable or an object: a function's frame, bytes from its CFA */
	/* in the function, of the frame that held it when another thread first touched it, else
	 * when anybody did; 0: not touched yet */
	uint64_t address;
	int32_t offset; /* 0: not always the same, or unknown */
	bool shared;    /* another thread than the stack's has touched it */
};

enum { LARGE = 256 << 20 };

struct frame_names {
	struct column entered; /* struct entered: the ENTERs of the trace, in its order */
	/* during the pass and after it */
	GPtrArray *open;     /* by thread: GArray of struct entered, the frames open now */
	uint32_t *thread_of; /* by block: the thread whose stack it is, or NONE */
	struct frame_place *variable; /* by variable */
	struct frame_place *object;   /* by object */
	uint32_t *object_stack;       /* by object: the stack that it lies in, or NONE */
};

static struct frame_names *frames_of(struct names *n)
{
	if (n->frames == NULL) {
		n->frames = g_new0(struct frame_names, 1);
		column_init(&n->frames->entered, sizeof(struct entered), n->folder, LARGE);
	}
	return n->frames;
}

void names_frame(struct names *n, uint64_t address, uint64_t cfa)
{
	struct entered *entered = column_push(&frames_of(n)->entered);
	if (entered)
		*entered = (struct entered){ address, cfa };
}

void names_begin_frames(struct names *n)
{
	const struct trace *t = n->trace;
	struct frame_names *f = frames_of(n);
	f->open = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	f->thread_of = g_new(uint32_t, t->blocks_count + 1);
	memset(f->thread_of, 0xff, sizeof(uint32_t) * (t->blocks_count + 1));
	f->variable = g_new0(struct frame_place, t->variables_count + 1);
	f->object = g_new0(struct frame_place, t->objects_count + 1);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		g_ptr_array_add(f->open, g_array_new(FALSE, FALSE, sizeof(struct entered)));
		if (t->threads[i].stack != NONE)
			f->thread_of[t->threads[i].stack] = i;
	}
	f->object_stack = g_new(uint32_t, t->objects_count + 1);
	for (uint32_t i = 0; i < t->objects_count; i++) {
		uint64_t address = t->objects[i].address;
		uint32_t block = address ? names_block_at(n, address, NONE) : NONE;
		bool stack = block != NONE && f->thread_of[block] != NONE;
		f->object_stack[i] = stack ? block : NONE;
	}
}

void names_end_frames(struct names *n)
{
	struct frame_names *f = n->frames;
	if (f == NULL)
		return;
	column_free(&f->entered);
	if (f->open != NULL)
		g_ptr_array_unref(f->open);
	g_free(f->thread_of);
	g_free(f->variable);
	g_free(f->object);
	g_free(f->object_stack);
	g_free(f);
}

void names_frames_event(struct names *n, const struct told *told)
{
	struct frame_names *f = n->frames;
	const struct event *e = &told->event;
	GArray *open = f->open->pdata[e->thread];
	if (e->op == OP_LEAVE) {
		if (open->len > 0)
			g_array_set_size(open, open->len - 1);
		return;
	}
	struct entered entered = { 0 };
	if (told->enter < f->entered.count)
		entered = *(const struct entered *)column_at(&f->entered, told->enter);
	g_array_append_val(open, entered);
}

/* The innermost open frame of the stack that begins above the address. */
static const struct entered *holder(const struct frame_names *f, uint32_t stack,
                                    uint64_t address)
{
	if (f->thread_of[stack] == NONE)
		return NULL;
	const GArray *open = f->open->pdata[f->thread_of[stack]];
	for (guint i = open->len; i-- > 0;) {
		const struct entered *frame = &g_array_index(open, struct entered, i);
		if (frame->cfa == 0)
			return NULL; /* it may be this one's */
		if (frame->cfa > address)
			return frame;
	}
	return NULL;
}

static void note(struct frame_names *f, struct frame_place *place, uint32_t stack,
                 uint64_t address, uint32_t thread)
{
	bool foreign = f->thread_of[stack] != thread;
	const struct entered *frame = holder(f, stack, address);
	int64_t offset = frame ? (int64_t)(address - frame->cfa) : 0;
	if (offset < INT32_MIN)
		offset = 0;
	uint64_t function = frame ? frame->address : 1;
	if (place->address == 0)
		*place = (struct frame_place){ function, (int32_t)offset, foreign };
	else if (place->address != function || place->offset != offset)
		place->offset = 0;
	if (foreign && !place->shared) {
		place->address = function;
		place->shared = true;
	}
}

void names_frames_variable(struct names *n, uint32_t variable, uint32_t thread)
{
	const struct variable *v = &n->trace->variables[variable];
	note(n->frames, &n->frames->variable[variable], v->block, v->address, thread);
}

void names_frames_object(struct names *n, uint32_t object, uint32_t thread)
{
	struct frame_names *f = n->frames;
	if (f->object_stack[object] != NONE)
		note(f, &f->object[object], f->object_stack[object],
		     n->trace->objects[object].address, thread);
}

bool names_append_sharer(struct names *n, uint32_t variable, GString *name)
{
	const struct frame_place *place = &n->frames->variable[variable];
	uint32_t module = names_module_below(n, place->address);
	return place->shared && module != NONE &&
	       names_function(n, module, place->address - names_base(n, module), name);
}

static bool append(struct names *n, const struct frame_place *place, uint64_t size,
                   GString *name)
{
	if (place->offset == 0)
		return false;
	uint32_t module = names_module_below(n, place->address);
	struct debuginfo *d = names_debuginfo(n, module);
	g_autoptr(GString) local = g_string_new(NULL);
	struct debug_part part = { .exact = false };
	bool known = d && debuginfo_frame_name(d, place->address - names_base(n, module),
	                                       place->offset, size, local, &part);
	if (known && part.exact && size > 0)
		debuginfo_form(d, part.type, n->form);
	if (known)
		names_append_function(local->str, name);
	return known;
}

bool names_append_local(struct names *n, uint32_t variable, uint64_t size, GString *name)
{
	return append(n, &n->frames->variable[variable], size, name);
}

bool names_append_local_object(struct names *n, uint32_t object, GString *name)
{
	return append(n, &n->frames->object[object], 0, name);
}
