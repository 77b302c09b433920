/* travel.c - see travel.h. */
#include "engine/debug/travel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"

enum { MOST_STEPS = 1000000 }; /* between two ticks */

/* ---- threads ---- */

int travel_tid(const struct travel *t, uint32_t thread)
{
	return t->f.debug && thread < LOG_DEBUG_THREADS ? t->f.debug->tid[thread] : 0;
}

uint32_t travel_number(const struct travel *t, int tid)
{
	for (uint32_t i = 0; t->f.debug && i < LOG_DEBUG_THREADS; i++)
		if (t->f.debug->tid[i] == tid)
			return i;
	return UINT32_MAX;
}

/* ---- the trail ---- */

enum { TRAIL = 96, STACK_KEPT = 4096, BELOW = 128 };

struct footprint {
	struct moment at;
	char *registers; /* all registers, in gdbserver's format */
	uint64_t low;    /* of the stack */
	size_t size;
	char stack[STACK_KEPT];
};

static void footprint_free(gpointer p)
{
	struct footprint *f = p;
	g_free(f->registers);
	g_free(f);
}

/* ---- whose code is it? ---- */

struct code_range {
	uint64_t low, high;
	bool foreign; /* neither the program nor an instrumented library */
	bool runtime;
};

static bool file_mentions(const char *path, const char *text)
{
	char *bytes = NULL;
	gsize size = 0;
	bool found = g_file_get_contents(path, &bytes, &size, NULL) &&
	             memmem(bytes, size, text, strlen(text)) != NULL;
	g_free(bytes);
	return found;
}

static bool is_foreign(const struct travel *t, const char *path)
{
	if (*path != '/')
		return *path == '['; /* [vdso]; code made at run time is the program's */
	if (strcmp(path, t->program) == 0)
		return false;
	return strstr(path, "libheddle-record.so") || !file_mentions(path, "__tsan_func_entry");
}

/* A path of /proc's maps, where a line end is \012; owned by the caller. */
static char *mapped_path(const char *escaped)
{
	char **parts = g_strsplit(escaped, "\\012", -1);
	char *path = g_strjoinv("\n", parts);
	g_strfreev(parts);
	return path;
}

static void read_code(struct travel *t)
{
	char *path = g_strdup_printf("/proc/%d/maps", (int)t->f.process.pid), *text = NULL;
	g_array_set_size(t->code, 0);
	if (g_file_get_contents(path, &text, NULL, NULL)) {
		char **lines = g_strsplit(text, "\n", -1);
		for (char **line = lines; *line; line++) {
			struct code_range r = { 0 };
			int at = 0;
			char bits[5];
			if (sscanf(*line, "%lx-%lx %4s %*s %*s %*s %n", &r.low, &r.high, bits,
			           &at) < 3 ||
			    bits[2] != 'x' || at == 0)
				continue;
			char *of = mapped_path(*line + at);
			r.foreign = is_foreign(t, of);
			r.runtime = strstr(of, "libheddle-record.so") != NULL;
			g_free(of);
			g_array_append_val(t->code, r);
		}
		g_strfreev(lines);
	}
	g_free(text);
	g_free(path);
}

static const struct code_range *code_known(const struct travel *t, uint64_t pc)
{
	for (guint i = 0; i < t->code->len; i++) {
		const struct code_range *r = &g_array_index(t->code, struct code_range, i);
		if (pc >= r->low && pc < r->high)
			return r;
	}
	return NULL;
}

static const struct code_range *code_at(struct travel *t, uint64_t pc)
{
	const struct code_range *r = code_known(t, pc);
	if (r == NULL) {
		read_code(t);
		r = code_known(t, pc);
	}
	return r;
}

/* Does the code at `pc` lead out of the program: is it foreign, or a stub of the linker's that
 * jumps there?  (endbr64; bnd jmp *slot(%rip)) */
static bool leads_out(struct travel *t, uint64_t pc)
{
	unsigned char c[16];
	int32_t offset;
	uint64_t target;
	const struct code_range *r = code_at(t, pc);
	if (r == NULL || r->foreign)
		return r != NULL;
	if (!inferior_read(&t->f, pc, c, sizeof(c)))
		return false;
	unsigned at = memcmp(c, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
	at += c[at] == 0xf2;
	if (c[at] != 0xff || c[at + 1] != 0x25)
		return false;
	memcpy(&offset, c + at + 2, sizeof(offset));
	if (!inferior_read(&t->f, pc + at + 6 + (uint64_t)(int64_t)offset, &target,
	                   sizeof(target)))
		return false;
	r = code_at(t, target);
	return r && r->foreign;
}

/* ---- the run ---- */

static bool registers_of(struct travel *t, int tid, char key[KEY_REGISTERS + 1])
{
	if (!inferior_ok(&t->f, "Hg%x", (unsigned)tid) || !inferior_ask(&t->f, "g") ||
	    t->f.reply->len < KEY_REGISTERS)
		return false;
	memcpy(key, t->f.reply->str, KEY_REGISTERS);
	key[KEY_REGISTERS] = '\0';
	return true;
}

static uint64_t register_in(const char *key, unsigned number)
{
	uint64_t value = 0;
	hex_read(key + number * 16, &value, sizeof(value));
	return value;
}

static bool moment_registers(struct travel *t, struct moment *p, int tid)
{
	enum { RSP = 7, RIP = 16 };
	if (!registers_of(t, tid, p->registers))
		return false;
	p->pc = register_in(p->registers, RIP);
	p->sp = register_in(p->registers, RSP);
	return true;
}

/* Where the program stands now. */
static bool moment_now(struct travel *t, struct moment *p)
{
	memset(p, 0, sizeof(*p));
	p->clock = t->f.debug->clock;
	p->thread = t->f.debug->thread;
	p->index = -1;
	p->end = t->f.debug->trap == TRAP_END;
	return moment_registers(t, p, travel_tid(t, p->thread));
}

/* moment_now at a stop. gdbserver may not know the thread whose turn it is, when that has
 * just been created: the moment is then that of the thread that stopped. */
static bool moment_of_stop(struct travel *t, const struct stop *stop, struct moment *p)
{
	if (moment_now(t, p))
		return true;
	p->thread = travel_number(t, stop->tid);
	return p->thread != UINT32_MAX && moment_registers(t, p, stop->tid);
}

/*
 * Do the registers show the same moment? A call may leave anything in registers that it need
 * not preserve, such as a thread's id, which differs in each run: such registers count if
 * they agree in some pass of the instruction, and are left out otherwise.
 */
enum same { OTHER, ALIKE, SAME };
static enum same compare(const struct moment *p, const char *registers)
{
	static const unsigned char preserved[] = { 1, 6, 7, 12, 13, 14, 15, 16 };
	if (strcmp(p->registers, registers) == 0)
		return SAME;
	for (size_t i = 0; i < sizeof(preserved); i++)
		if (memcmp(p->registers + preserved[i] * 16, registers + preserved[i] * 16,
		           16) != 0)
			return OTHER;
	return ALIKE;
}

enum run {
	RUN_STOP,  /* at a breakpoint, a watchpoint, after a step, by a signal */
	RUN_CLOCK, /* debug->stop_at was reached */
	RUN_PAIR,
	RUN_END, /* the program is about to end, or has ended */
	RUN_INTERRUPTED,
	RUN_LOST,
};

/* vCont; signals other than of traps are passed on to the program. */
static enum run run(struct travel *t, const char *packet, struct stop *stop)
{
	char *again = NULL;
	for (;;) {
		if (!inferior_resume(&t->f, again ? again : packet, stop)) {
			g_free(again);
			return RUN_LOST;
		}
		g_clear_pointer(&again, g_free);
		if (stop->kind != 'T')
			return RUN_END;
		if (t->f.interrupted || t->f.late)
			return RUN_INTERRUPTED;
		switch ((enum log_trap)t->f.debug->trap) {
		case TRAP_CLOCK:
			return RUN_CLOCK;
		case TRAP_PAIR:
			return RUN_PAIR;
		case TRAP_END:
			return RUN_END;
		default:
			break;
		}
		if (stop->signal == SIGTRAP)
			return RUN_STOP;
		/* gdb's numbers of the signals that end a program: see gdb/signals.def */
		if (stop->signal == 4 || stop->signal == 6 || stop->signal == 8 ||
		    stop->signal == 10 || stop->signal == 11)
			return RUN_STOP;
		again = g_strdup_printf("vCont;C%02x:%x;c", (unsigned)stop->signal,
		                        (unsigned)stop->tid);
	}
}

static bool travel_restart(struct travel *t, struct error *error)
{
	struct stop stop;
	t->runs++;
	t->ahead = false;
	g_ptr_array_set_size(t->trail, 0);
	if (!inferior_start(&t->f, error))
		return false;
	char *link = g_strdup_printf("/proc/%d/exe", (int)t->f.process.pid);
	if (!t->program)
		t->program = g_file_read_link(link, NULL);
	g_free(link);
	if (!t->program)
		t->program = g_strdup("");
	uint64_t address = t->f.debug->main;
	if (!inferior_ok(&t->f, "Z0,%lx,1", address) || run(t, "vCont;c", &stop) != RUN_STOP ||
	    !inferior_ok(&t->f, "z0,%lx,1", address))
		return error_set(error, t->f.argv[0], NULL, "did not come to its main%s",
		                 t->f.late || t->f.interrupted ? " in time" : "");
	/* before the first tick the main thread's is the region, too */
	struct moment now;
	if (!moment_now(t, &now))
		return error_set(error, "gdbserver", NULL, "does not answer");
	now.index = 0;
	if (t->start.pc == 0)
		t->start = now;
	return true;
}

bool travel_open(struct travel *t, struct error *error)
{
	t->breakpoints = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	t->code = g_array_new(FALSE, FALSE, sizeof(struct code_range));
	t->ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	t->trail = g_ptr_array_new_with_free_func(footprint_free);
	int client = t->f.client;
	t->f.client = -1; /* a ^C is for the run that the client sees, not for this one */
	bool ok = inferior_open(&t->f, error) && travel_restart(t, error);
	t->f.client = client;
	t->present = t->start;
	return ok;
}

void travel_close(struct travel *t)
{
	inferior_close(&t->f);
	if (t->breakpoints)
		g_hash_table_destroy(t->breakpoints);
	if (t->code)
		g_array_free(t->code, TRUE);
	if (t->ends)
		g_hash_table_destroy(t->ends);
	if (t->trail)
		g_ptr_array_free(t->trail, TRUE);
	g_free(t->program);
}

static enum travel_result restart(struct travel *t)
{
	return travel_restart(t, &t->lost)     ? TRAVEL_THERE
	       : t->f.interrupted || t->f.late ? TRAVEL_INTERRUPTED
	                                       : TRAVEL_LOST;
}

static enum travel_result result_of(enum run r)
{
	return r == RUN_LOST          ? TRAVEL_LOST
	       : r == RUN_INTERRUPTED ? TRAVEL_INTERRUPTED
	                              : TRAVEL_ELSEWHERE;
}

/* From anywhere to the tick with that clock, or to the start. */
static enum travel_result go_to_tick(struct travel *t, uint64_t clock)
{
	struct stop stop;
	enum travel_result there = restart(t);
	if (there != TRAVEL_THERE || clock <= t->start.clock)
		return there;
	t->f.debug->stop_at = clock;
	enum run r = run(t, "vCont;c", &stop);
	while (r == RUN_STOP) /* a trap of the program's own, or a signal that it handles */
		r = stop.signal == SIGTRAP ? run(t, "vCont;c", &stop) : RUN_END;
	return r == RUN_CLOCK ? TRAVEL_THERE : result_of(r);
}

/* ---- the instructions between two ticks ---- */

/* An instruction in a region, by the thread that the region belongs to. */
struct instruction {
	union {
		uint64_t clock;
		gint64 key;
	};
	uint32_t thread;
	int64_t index;
};

enum walk { WALK_FOUND, WALK_TICK, WALK_END, WALK_FAILED };

struct walk_to {
	const struct moment *match; /* or NULL */
	int64_t index;              /* or -1 */
	struct instruction last;    /* filled in: the last one seen before the end */
	bool keep;     /* the last instructions before the index are kept in the trail */
	int64_t count; /* of the region, so far */
	int64_t alike; /* the first instruction that is like the match, or -1 */
	enum run failure;
};

static enum walk walk_ends(struct walk_to *w, enum run r)
{
	w->failure = r;
	return r == RUN_CLOCK ? WALK_TICK : r == RUN_END ? WALK_END : WALK_FAILED;
}

/* Run to `address`, in the thread, with the stack no lower than `sp`. */
static enum run run_to(struct travel *t, uint64_t address, int tid, uint64_t sp)
{
	struct stop stop;
	enum run r;
	if (!inferior_ok(&t->f, "Z0,%lx,1", address))
		return t->f.reply->len ? RUN_END : RUN_LOST; /* nothing is there */
	for (;;) {
		r = run(t, "vCont;c", &stop);
		if (r != RUN_STOP || (stop.pc == address && stop.tid == tid && stop.sp >= sp))
			break;
		if (stop.signal != SIGTRAP) {
			r = RUN_END;
			break;
		}
		if (stop.pc != address) /* a trap of the program's own */
			continue;
		char *other = g_strdup_printf("vCont;s:%x;c", (unsigned)stop.tid);
		bool ok = inferior_ok(&t->f, "z0,%lx,1", address);
		r = ok ? run(t, other, &stop) : RUN_LOST;
		g_free(other);
		if (r != RUN_STOP)
			return r;
		if (!inferior_ok(&t->f, "Z0,%lx,1", address))
			return RUN_LOST;
	}
	if (r != RUN_LOST && !(r == RUN_END && t->f.debug->trap != TRAP_END))
		inferior_ok(&t->f, "z0,%lx,1", address);
	return r;
}

/* From the tick to the thread's next instruction in the program. */
static enum run run_home(struct travel *t)
{
	uint64_t pc = t->f.debug->pc;
	int tid = travel_tid(t, t->f.debug->thread);
	struct stop stop;
	t->f.debug->stop_at = t->f.debug->clock + 1;
	const struct code_range *r = pc ? code_at(t, pc) : NULL;
	if (r == NULL || r->foreign || tid == 0) /* an event inside of foreign code */
		return run(t, "vCont;c", &stop);
	return run_to(t, pc, tid, 0);
}

/* The address at which a call out of the program, whose stack is at `sp`, returns to it. */
static bool comes_home(struct travel *t, uint64_t sp, uint64_t *home)
{
	const struct code_range *r =
	        inferior_read(&t->f, sp, home, sizeof(*home)) ? code_at(t, *home) : NULL;
	return r && !r->foreign;
}

/* ---- the trail: keeping it ---- */

static bool keep_footprint(struct travel *t, const struct walk_to *w)
{
	struct footprint *f = g_new0(struct footprint, 1);
	if (!moment_now(t, &f->at)) {
		footprint_free(f);
		return false;
	}
	f->at.index = w->count;
	f->registers = g_strdup(t->f.reply->str);
	f->low = (f->at.sp - BELOW) & ~63ull;
	for (f->size = STACK_KEPT; f->size >= 64; f->size /= 2)
		if (inferior_read(&t->f, f->low, f->stack, f->size))
			break;
	g_ptr_array_add(t->trail, f);
	return true;
}

static const struct footprint *footprint_at(const struct travel *t, uint64_t clock,
                                            int64_t index)
{
	for (guint i = t->trail->len; i-- > 0;) {
		const struct footprint *f = t->trail->pdata[i];
		if (f->at.clock == clock && f->at.index == index)
			return f;
	}
	return NULL;
}

const char *travel_registers(const struct travel *t, uint32_t thread)
{
	const struct footprint *f =
	        t->ahead ? footprint_at(t, t->present.clock, t->present.index) : NULL;
	return f && f->at.thread == thread ? f->registers : NULL;
}

bool travel_recall(struct travel *t, uint64_t address, void *bytes, size_t size)
{
	const struct footprint *f =
	        t->ahead ? footprint_at(t, t->present.clock, t->present.index) : NULL;
	if (f && address >= f->low && size <= f->size && address - f->low <= f->size - size) {
		memcpy(bytes, f->stack + (address - f->low), size);
		return true;
	}
	const struct code_range *r = t->ahead ? code_known(t, address) : NULL;
	return (!t->ahead || (r && address + size <= r->high)) &&
	       inferior_read(&t->f, address, bytes, size);
}

/*
 * Go through a region, from its tick (or the start) on, up to the place or index that is
 * looked for, or to its end: the next tick.
 */
static enum walk walk(struct travel *t, struct walk_to *w)
{
	struct stop stop = { 0 };
	uint64_t clock = t->f.debug->clock, pc = t->start.pc, sp = t->start.sp;
	uint32_t thread = t->f.debug->thread;
	int tid = travel_tid(t, thread);
	char step[64];
	w->count = 0;
	w->alike = -1;
	t->f.debug->stop_at = clock + 1;
	if (t->f.debug->trap == TRAP_CLOCK) {
		enum run r = run_home(t);
		if (r != RUN_STOP)
			return walk_ends(w, r);
		char key[KEY_REGISTERS + 1];
		if (!registers_of(t, tid, key))
			return walk_ends(w, RUN_LOST);
		pc = register_in(key, 16);
		sp = register_in(key, 7);
	}
	g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)tid);
	while (w->count < MOST_STEPS) {
		if (w->keep && w->index - w->count < TRAIL && !keep_footprint(t, w))
			return walk_ends(w, RUN_LOST);
		if (w->index == w->count)
			return WALK_FOUND;
		if (w->match && w->match->pc == pc && w->match->sp == sp) {
			char key[KEY_REGISTERS + 1];
			if (!registers_of(t, tid, key))
				return walk_ends(w, RUN_LOST);
			enum same same = compare(w->match, key);
			if (same == SAME)
				return WALK_FOUND;
			if (same == ALIKE && w->alike < 0)
				w->alike = w->count;
		}
		w->last = (struct instruction){ .clock = clock,
			                        .thread = thread,
			                        .index = w->count++ };
		enum run r = run(t, step, &stop);
		if (r != RUN_STOP || stop.signal != SIGTRAP)
			return walk_ends(w, r == RUN_STOP ? RUN_END : r);
		bool returned = stop.sp > sp;
		pc = stop.pc;
		sp = stop.sp;
		if (leads_out(t, pc)) {
			uint64_t home;
			if (returned ||
			    !comes_home(t, sp, &home)) { /* to code that is foreign */
				r = run(t, "vCont;c", &stop);
				return walk_ends(w, r == RUN_STOP ? RUN_END : r);
			}
			r = run_to(t, home, tid, sp + 8);
			if (r != RUN_STOP)
				return walk_ends(w, r);
			pc = home;
			sp += 8;
		}
	}
	w->failure = RUN_INTERRUPTED;
	t->f.late = true;
	return WALK_FAILED;
}

/* ---- to a place ---- */

static enum travel_result go_to_index(struct travel *t, const struct instruction *i)
{
	struct walk_to w = { .index = i->index, .keep = true };
	enum travel_result there = go_to_tick(t, i->clock);
	if (there != TRAVEL_THERE)
		return there;
	enum walk end = walk(t, &w);
	if (end != WALK_FOUND)
		return end == WALK_FAILED ? result_of(w.failure) : TRAVEL_ELSEWHERE;
	struct moment now;
	if (!moment_now(t, &now))
		return TRAVEL_LOST;
	now.index = i->index;
	t->present = now;
	return TRAVEL_THERE;
}

static enum travel_result go_to_end(struct travel *t)
{
	struct stop stop;
	enum travel_result there = restart(t);
	if (there != TRAVEL_THERE)
		return there;
	enum run r = run(t, "vCont;c", &stop);
	while (r == RUN_STOP && stop.signal == SIGTRAP)
		r = run(t, "vCont;c", &stop);
	if (r == RUN_LOST || r == RUN_INTERRUPTED)
		return result_of(r);
	t->end_tid = stop.tid;
	return stop.kind == 'T' && moment_now(t, &t->present) ? TRAVEL_THERE : TRAVEL_LOST;
}

/* Goes to the moment at which the thread has these registers, or `enough` of them: a
 * breakpoint stops it there until it has. */
static enum travel_result go_to_like(struct travel *t, const struct moment *p, enum same enough)
{
	struct moment now;
	enum travel_result there = go_to_tick(t, p->clock);
	if (there != TRAVEL_THERE)
		return there;
	t->f.debug->stop_at = p->clock + 1;
	int tid = travel_tid(t, p->thread);
	enum run r = RUN_STOP;
	for (;;) {
		if (!moment_now(t, &now))
			return TRAVEL_LOST;
		if (compare(p, now.registers) >= enough) {
			t->present = *p;
			return TRAVEL_THERE;
		}
		if (now.pc == p->pc) { /* the address is right, but not yet the registers */
			struct stop stop;
			char step[64];
			g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)tid);
			r = run(t, step, &stop);
			if (r == RUN_STOP && stop.pc == p->pc)
				continue;
		}
		if (r == RUN_STOP)
			r = run_to(t, p->pc, tid, 0);
		if (r != RUN_STOP)
			return result_of(r);
	}
}

static enum travel_result go_to_registers(struct travel *t, const struct moment *p)
{
	enum travel_result there = go_to_like(t, p, SAME);
	return there == TRAVEL_ELSEWHERE ? go_to_like(t, p, ALIKE) : there;
}

static enum travel_result go_to(struct travel *t, const struct moment *p)
{
	if (p->end)
		return go_to_end(t);
	if (p->index >= 0) {
		struct instruction i = { .clock = p->clock,
			                 .thread = p->thread,
			                 .index = p->index };
		return go_to_index(t, &i);
	}
	return go_to_registers(t, p);
}

static void set_return_limit(struct travel *t)
{
	enum { RETURNS_WITHIN = 30 }; /* seconds */
	t->f.deadline = g_get_monotonic_time() + RETURNS_WITHIN * (gint64)G_USEC_PER_SEC;
}

/* After a failed way: back to where it began. */
static enum travel_result give_up(struct travel *t, enum travel_result why,
                                  const struct moment *from)
{
	if (why == TRAVEL_LOST || t->f.gone)
		return TRAVEL_LOST;
	struct moment back = *from;
	set_return_limit(t);
	bool late = t->f.late;
	int client = t->f.client;
	t->f.client = -1; /* no ^C meanwhile */
	t->f.interrupted = t->f.late = false;
	enum travel_result there = go_to(t, &back);
	if (there != TRAVEL_THERE && there != TRAVEL_LOST) { /* as after a long computation */
		struct instruction first = { .clock = from->clock, .thread = from->thread };
		t->f.late = false;
		set_return_limit(t);
		there = go_to_index(t, &first);
		t->moved = true;
	}
	t->f.client = client;
	t->f.late = late;
	return there == TRAVEL_THERE ? why : TRAVEL_LOST;
}

/* ---- backward by an instruction ---- */

/* The last instruction of a region; UNSEEN: it was passed by another thread's search. */
enum { UNSEEN = -2 };

static void remember_end(struct travel *t, uint64_t clock, uint32_t owner, int64_t index)
{
	struct instruction *end = g_new(struct instruction, 1);
	*end = (struct instruction){ .clock = clock, .thread = owner, .index = index };
	g_hash_table_replace(t->ends, &end->key, end);
}

static const struct instruction *end_of(const struct travel *t, uint64_t clock)
{
	gint64 key = (gint64)clock;
	return g_hash_table_lookup(t->ends, &key);
}

/* The thread's last instruction in the regions from `low` to before `high`.  False: none. */
static enum travel_result last_between(struct travel *t, uint64_t low, uint64_t high,
                                       uint32_t thread, struct instruction *last)
{
	last->index = -1;
	enum travel_result there = go_to_tick(t, low);
	if (there != TRAVEL_THERE)
		return there;
	for (uint64_t clock = MAX(low, t->start.clock); clock < high; clock++) {
		struct walk_to w = { .index = -1, .last.index = -1 };
		enum walk end = WALK_TICK;
		uint32_t owner = t->f.debug->thread;
		if (owner == thread) {
			end = walk(t, &w);
		} else {
			w.last.index = UNSEEN;
			struct stop stop;
			t->f.debug->stop_at = clock + 1;
			enum run r = run(t, "vCont;c", &stop);
			end = walk_ends(&w, r);
		}
		if (end == WALK_FAILED)
			return result_of(w.failure);
		if (w.last.index >= 0)
			*last = w.last;
		remember_end(t, clock, owner, w.last.index);
		if (end == WALK_END)
			break;
	}
	return TRAVEL_THERE;
}

static enum travel_result before_region(struct travel *t, uint64_t clock, uint32_t thread,
                                        struct instruction *last)
{
	uint64_t high = clock;
	for (const struct instruction *end;
	     high > t->start.clock && (end = end_of(t, high - 1)) != NULL; high--) {
		if (end->thread == thread && end->index == UNSEEN)
			break;
		if (end->thread == thread && end->index >= 0) {
			*last = *end;
			return TRAVEL_THERE;
		}
	}
	for (uint64_t width = 8; high > t->start.clock; width *= 8) {
		uint64_t low = high > t->start.clock + width ? high - width : t->start.clock;
		enum travel_result r = last_between(t, low, high, thread, last);
		if (r != TRAVEL_THERE || last->index >= 0)
			return r;
		high = low;
	}
	return TRAVEL_BEGIN;
}

/* The last instruction of `thread` before `from`. */
static enum travel_result before(struct travel *t, const struct moment *from, uint32_t thread,
                                 struct instruction *last)
{
	last->index = -1;
	if (thread == from->thread && from->index > 0) {
		*last = (struct instruction){ .clock = from->clock,
			                      .thread = thread,
			                      .index = from->index - 1 };
		return TRAVEL_THERE;
	}
	if (thread == from->thread && from->index < 0) {
		struct walk_to w = { .match = from, .index = -1, .last.index = -1 };
		enum travel_result there = go_to_tick(t, from->clock);
		if (there != TRAVEL_THERE)
			return there;
		enum walk end = walk(t, &w);
		if (end == WALK_FAILED)
			return result_of(w.failure);
		*last = w.last;
		if (end != WALK_FOUND && w.alike >= 0)
			last->index = w.alike - 1;
		if (last->index >= 0)
			return TRAVEL_THERE;
	}
	return before_region(t, from->clock, thread, last);
}

static enum travel_result step_back(struct travel *t, uint32_t thread)
{
	struct moment from = t->present;
	struct instruction last;
	enum travel_result r = before(t, &from, thread, &last);
	if (r == TRAVEL_BEGIN) {
		r = restart(t);
		if (r != TRAVEL_THERE)
			return give_up(t, r, &from);
		t->present = t->start;
		return TRAVEL_BEGIN;
	}
	if (r == TRAVEL_THERE)
		r = go_to_index(t, &last);
	return r == TRAVEL_THERE ? r : give_up(t, r, &from);
}

static bool at_start(const struct travel *t)
{
	return t->present.clock == t->start.clock && t->present.index == 0 &&
	       t->present.thread == t->start.thread;
}

/* ---- breakpoints ---- */

static bool insert_all(struct travel *t)
{
	GHashTableIter each;
	gpointer packet;
	bool ok = true;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, NULL, &packet))
		ok &= inferior_ask(&t->f, "%s", (const char *)packet) &&
		      strcmp(t->f.reply->str, "OK") == 0;
	return ok;
}

static void remove_all(struct travel *t)
{
	GHashTableIter each;
	gpointer key;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		inferior_ask(&t->f, "z%s", (const char *)key + 1);
}

/* A watchpoint for reads that the runtime hit, which reads the memory that an access is about
 * to read. */
static bool is_own_look(struct travel *t, const struct stop *stop)
{
	const struct code_range *r = stop->reads ? code_at(t, stop->pc) : NULL;
	return r && r->runtime;
}

/* ---- forward ---- */

enum travel_result travel_settle(struct travel *t)
{
	if (!t->ahead)
		return TRAVEL_THERE;
	const struct moment here = t->present;
	enum travel_result r = go_to(t, &here);
	return r == TRAVEL_THERE ? r : give_up(t, r, &here);
}

enum travel_result travel_forward(struct travel *t, const char *packet, struct stop *stop)
{
	enum travel_result settled = travel_settle(t);
	struct moment from = t->present;
	if (settled != TRAVEL_THERE)
		return settled;
	if (t->present.end)
		return TRAVEL_END;
	if (!insert_all(t)) {
		remove_all(t);
		return TRAVEL_ELSEWHERE;
	}
	t->f.debug->stop_at = 0;
	t->f.debug->stop_pair = !t->at_pair;
	t->f.late = false; /* a ^C that came meanwhile counts */
	t->f.deadline = 0;
	bool lives;
	while ((lives = inferior_resume(&t->f, packet, stop)) && stop->kind == 'T' &&
	       is_own_look(t, stop))
		;
	if (!lives)
		return TRAVEL_LOST;
	if (stop->kind != 'T') { /* as no debugger could prevent: back to its last moment */
		uint64_t clock = t->f.debug->clock;
		struct instruction last;
		t->f.deadline = 0;
		enum travel_result r = before_region(t, clock + 1, t->f.debug->thread, &last);
		if (r == TRAVEL_THERE)
			r = go_to_index(t, &last);
		return r == TRAVEL_THERE ? TRAVEL_END : give_up(t, r, &from);
	}
	t->f.interrupted = false;
	remove_all(t);
	bool pair = t->f.debug->trap == TRAP_PAIR, end = t->f.debug->trap == TRAP_END;
	if (!moment_of_stop(t, stop, &t->present))
		return TRAVEL_LOST;
	t->at_pair &= t->present.clock == from.clock;
	if (end) {
		t->end_tid = stop->tid;
		return TRAVEL_END;
	}
	if (!pair)
		return TRAVEL_THERE;
	/* The thread that ran last is in the runtime: show it at its access. */
	enum travel_result r = step_back(t, t->present.thread);
	t->at_pair = true;
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? TRAVEL_PAIR : r;
}

/* ---- backward to a breakpoint ---- */

struct hit {
	struct stop stop;
	uint64_t number; /* number of the last stop that counts, from `low` on; 0: none */
	uint64_t wanted; /* end at this number; 0: do not */
};

static bool has_breakpoint(const struct travel *t, uint64_t pc)
{
	char *key = g_strdup_printf("Z0,%lx,1", pc);
	bool has = g_hash_table_contains(t->breakpoints, key);
	g_free(key);
	return has;
}

/* Go on with the breakpoints, over the one that the thread of the last stop stands at. */
static enum run run_over(struct travel *t, uint64_t mark, struct stop *stop)
{
	if (stop->kind != 'T' || t->f.debug->trap != TRAP_NONE ||
	    (stop->pc != mark && !has_breakpoint(t, stop->pc)))
		return run(t, "vCont;c", stop);
	char *key = g_strdup_printf("Z0,%lx,1", stop->pc), step[64];
	const char *packet = g_hash_table_lookup(t->breakpoints, key);
	g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)stop->tid);
	uint64_t was = stop->pc;
	enum run r = inferior_ok(&t->f, "z%s", key + 1) ? run(t, step, stop) : RUN_LOST;
	if (r != RUN_LOST && stop->kind == 'T' &&
	    !inferior_ok(&t->f, "%s", packet ? packet : key))
		r = RUN_LOST;
	g_free(key);
	if (r == RUN_STOP && stop->signal == SIGTRAP && !stop->watch && stop->pc != was &&
	    stop->pc != mark && !has_breakpoint(t, stop->pc))
		return run(t, "vCont;c", stop);
	return r;
}

/*
 * Go forward from the tick `low` with the client's breakpoints up to the tick `high`, or, where
 * that is the one before `from`, up to `from`, which a breakpoint of its own marks; and keep
 * the last stop.
 */
static enum travel_result hits_until(struct travel *t, uint64_t low, uint64_t high,
                                     const struct moment *from, struct hit *last)
{
	struct stop stop = { 0 };
	struct moment now;
	enum travel_result result = go_to_tick(t, low);
	if (result != TRAVEL_THERE)
		return result;
	if (!insert_all(t))
		return TRAVEL_ELSEWHERE;
	uint64_t mark = 0;
	for (;;) {
		bool inside = from->clock == high && t->f.debug->clock >= high;
		if (inside && mark == 0 && !from->end) {
			mark = from->pc;
			if (!has_breakpoint(t, mark) && !inferior_ok(&t->f, "Z0,%lx,1", mark))
				return TRAVEL_LOST;
			if (!moment_now(t, &now))
				return TRAVEL_LOST;
			if (compare(from, now.registers)) /* the start */
				return TRAVEL_THERE;
		}
		t->f.debug->stop_at = inside ? high + 1 : high;
		enum run r = run_over(t, mark, &stop);
		if (r == RUN_LOST || r == RUN_INTERRUPTED)
			return result_of(r);
		if (r == RUN_CLOCK && !inside && from->clock == high)
			continue;
		if (r != RUN_STOP || stop.signal != SIGTRAP)
			return TRAVEL_THERE;
		if (is_own_look(t, &stop) ||
		    (!stop.watch && stop.pc != mark && !has_breakpoint(t, stop.pc)))
			continue;
		if (inside && !moment_now(t, &now))
			return TRAVEL_LOST;
		bool over = inside && compare(from, now.registers);
		/* the write before `from` stops there */
		if (stop.watch || (!over && has_breakpoint(t, stop.pc))) {
			last->stop = stop;
			over |= ++last->number == last->wanted;
		}
		if (!over)
			continue;
		if (mark && !has_breakpoint(t, mark))
			inferior_ok(&t->f, "z0,%lx,1", mark);
		return TRAVEL_THERE;
	}
}

/* The last stop since the tick `floor`; TRAVEL_BEGIN: none. */
static enum travel_result last_stop(struct travel *t, uint64_t floor, struct hit *hit)
{
	const struct moment from = t->present;
	uint64_t high = from.clock, low;
	for (uint64_t width = 16;; width *= 16) {
		low = high > floor + width ? high - width : floor;
		enum travel_result r = hits_until(t, low, high, &from, hit);
		if (r != TRAVEL_THERE)
			return r;
		if (hit->number > 0)
			break;
		if (low == floor)
			return TRAVEL_BEGIN;
		high = low;
	}
	struct hit again = { .wanted = hit->number };
	enum travel_result r = hits_until(t, low, high, &from, &again);
	if (r != TRAVEL_THERE || again.number != hit->number)
		return r == TRAVEL_THERE ? TRAVEL_ELSEWHERE : r;
	remove_all(t);
	if (!moment_now(t, &t->present))
		return TRAVEL_LOST;
	if (hit->stop.watch) /* stand before the write that hit it */
		r = step_back(t, t->present.thread);
	return r == TRAVEL_BEGIN ? TRAVEL_THERE : r;
}

static enum travel_result back_to_start(struct travel *t)
{
	enum travel_result r = restart(t);
	if (r != TRAVEL_THERE)
		return r;
	t->present = t->start;
	return TRAVEL_BEGIN;
}

enum travel_result travel_back(struct travel *t, struct stop *stop)
{
	struct moment from = t->present;
	struct hit hit = { .number = 0 };
	t->at_pair = false;
	if (at_start(t))
		return TRAVEL_BEGIN;
	enum travel_result r = last_stop(t, t->start.clock, &hit);
	if (r == TRAVEL_BEGIN)
		r = back_to_start(t);
	*stop = hit.stop;
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? r : give_up(t, r, &from);
}

/* ---- backward by an instruction of one thread ---- */

/* The bytes of the watchpoint "Z2,ADDRESS,SIZE", or none when they cannot be read. */
static GByteArray *watched_bytes(const struct travel *t, const char *key, uint64_t *address)
{
	enum { MOST = 64 };
	unsigned kind;
	uint64_t size;
	GByteArray *bytes = g_byte_array_new();
	if (sscanf(key, "Z%u,%lx,%lx", &kind, address, &size) == 3 &&
	    (kind == 2 || kind == 4) && size <= MOST) {
		g_byte_array_set_size(bytes, (guint)size);
		if (!inferior_read(&t->f, *address, bytes->data, size))
			g_byte_array_set_size(bytes, 0);
	}
	return bytes;
}

static GPtrArray *watched_now(const struct travel *t)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	GHashTableIter each;
	gpointer key;
	uint64_t address;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		g_ptr_array_add(all, watched_bytes(t, key, &address));
	return all;
}

/* Has the way changed the memory that a watchpoint watches? */
static void note_change(const struct travel *t, const GPtrArray *was, struct stop *stop)
{
	GHashTableIter each;
	gpointer key;
	guint i = 0;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL)) {
		uint64_t address = 0;
		const GByteArray *old = was->pdata[i++];
		GByteArray *now = watched_bytes(t, key, &address);
		if (old->len == now->len && old->len > 0 &&
		    memcmp(old->data, now->data, old->len) != 0)
			g_snprintf(stop->text, sizeof(stop->text), "T05watch:%lx;", address);
		g_byte_array_unref(now);
	}
}

static bool watches(const struct travel *t)
{
	GHashTableIter each;
	gpointer key;
	g_hash_table_iter_init(&each, t->breakpoints);
	while (g_hash_table_iter_next(&each, &key, NULL))
		if (((const char *)key)[1] > '1')
			return true;
	return false;
}

enum travel_result travel_step_back(struct travel *t, uint32_t thread, struct stop *stop)
{
	struct moment from = t->present;
	struct instruction last;
	struct hit hit = { .number = 0 };
	t->at_pair = false;
	if (at_start(t))
		return TRAVEL_BEGIN;
	if (thread == UINT32_MAX)
		thread = from.thread;
	const struct footprint *f = thread == from.thread && from.index > 0 && !watches(t)
	                                    ? footprint_at(t, from.clock, from.index - 1)
	                                    : NULL;
	if (f) {
		t->present = f->at;
		t->ahead = true;
		return TRAVEL_THERE;
	}
	GPtrArray *was = watched_now(t);
	enum travel_result r = before(t, &from, thread, &last);
	bool others =
	        r == TRAVEL_BEGIN ||
	        (r == TRAVEL_THERE && (last.clock + 1 < from.clock ||
	                               (last.clock < from.clock && thread != from.thread)));
	bool stopped = false;
	if (others && g_hash_table_size(t->breakpoints) >
	                      0) { /* look for stops of the others since then */
		uint64_t floor = r == TRAVEL_BEGIN ? t->start.clock : last.clock + 1;
		enum travel_result found = last_stop(t, floor, &hit);
		stopped = found == TRAVEL_THERE;
		if (found != TRAVEL_BEGIN)
			r = found;
		*stop = hit.stop;
	}
	if (r == TRAVEL_BEGIN)
		r = back_to_start(t);
	else if (r == TRAVEL_THERE && !stopped)
		r = go_to_index(t, &last);
	if (r == TRAVEL_THERE && !stopped)
		note_change(t, was, stop);
	g_ptr_array_unref(was);
	return r == TRAVEL_THERE || r == TRAVEL_BEGIN ? r : give_up(t, r, &from);
}

enum travel_result travel_turn_pair(struct travel *t, unsigned first)
{
	enum travel_result settled = travel_settle(t);
	struct moment from = t->present;
	if (settled != TRAVEL_THERE)
		return settled;
	g_hash_table_remove_all(t->ends); /* after the pair, ends of regions differ */
	t->f.first = first;
	if (t->f.debug)
		t->f.debug->first = first;
	/* The pair is still to come: nothing that was seen so far changes. */
	if (t->f.debug && t->f.debug->pair == 0) {
		inferior_show_again(&t->f);
		return TRAVEL_THERE;
	}
	struct stop stop;
	enum travel_result r = restart(t);
	if (r == TRAVEL_THERE) {
		t->present = t->start;
		t->at_pair = false;
		GHashTable *kept = t->breakpoints;
		t->breakpoints = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		r = travel_forward(t, "vCont;c", &stop);
		g_hash_table_destroy(t->breakpoints);
		t->breakpoints = kept;
	}
	if (r == TRAVEL_PAIR)
		inferior_show_again(&t->f);
	return r == TRAVEL_PAIR ? r : give_up(t, r, &from);
}
