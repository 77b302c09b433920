/* travel_run.c - the program runs, forward: to an event, and where it stands then. */
#include "engine/debug/travel_private.h"

#include <signal.h>
#include <string.h>

#include "engine/base/file.h"

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

bool travel_registers_of(struct travel *t, int tid, char key[KEY_REGISTERS + 1])
{
	if (!inferior_ok(&t->f, "Hg%x", (unsigned)tid) || !inferior_ask(&t->f, "g") ||
	    t->f.reply->len < KEY_REGISTERS)
		return false;
	memcpy(key, t->f.reply->str, KEY_REGISTERS);
	key[KEY_REGISTERS] = '\0';
	return true;
}

uint64_t travel_register(const char *key, unsigned number)
{
	uint64_t value = 0;
	hex_read(key + number * 16, &value, sizeof(value));
	return value;
}

static bool moment_registers(struct travel *t, struct moment *p, int tid)
{
	if (!travel_registers_of(t, tid, p->registers))
		return false;
	p->pc = travel_register(p->registers, REGISTER_PC);
	p->sp = travel_register(p->registers, REGISTER_SP);
	return true;
}

bool travel_now(struct travel *t, struct moment *p)
{
	memset(p, 0, sizeof(*p));
	p->clock = t->f.debug->clock;
	p->thread = t->f.debug->thread;
	p->index = -1;
	p->end = t->f.debug->trap == TRAP_END;
	return moment_registers(t, p, travel_tid(t, p->thread));
}

bool travel_now_at_stop(struct travel *t, const struct stop *stop, struct moment *p)
{
	if (travel_now(t, p))
		return true;
	p->thread = travel_number(t, stop->tid);
	return p->thread != UINT32_MAX && moment_registers(t, p, stop->tid);
}

enum same travel_compare(const struct moment *p, const char *registers)
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

enum run travel_run(struct travel *t, const char *packet, struct stop *stop)
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

bool travel_start_again(struct travel *t, struct error *error)
{
	struct stop stop;
	t->runs++;
	t->ahead = false;
	g_ptr_array_set_size(t->trail, 0);
	if (!inferior_start(&t->f, error))
		return false;
	code_map_name_program(&t->code, &t->f);
	uint64_t address = t->f.debug->main;
	if (!inferior_ok(&t->f, "Z0,%lx,1", address) ||
	    travel_run(t, "vCont;c", &stop) != RUN_STOP ||
	    !inferior_ok(&t->f, "z0,%lx,1", address))
		return error_set(error, t->f.argv[0], NULL, "did not come to its main%s",
		                 t->f.late || t->f.interrupted ? " in time" : "");
	/* before the first tick the main thread's is the region, too */
	struct moment now;
	if (!travel_now(t, &now))
		return error_set(error, "gdbserver", NULL, "does not answer");
	now.index = 0;
	if (t->start.pc == 0)
		t->start = now;
	return true;
}

enum travel_result travel_restart(struct travel *t)
{
	return travel_start_again(t, &t->lost) ? TRAVEL_THERE
	       : t->f.interrupted || t->f.late ? TRAVEL_INTERRUPTED
	                                       : TRAVEL_LOST;
}

enum travel_result travel_result_of(enum run r)
{
	return r == RUN_LOST          ? TRAVEL_LOST
	       : r == RUN_INTERRUPTED ? TRAVEL_INTERRUPTED
	                              : TRAVEL_ELSEWHERE;
}

enum travel_result travel_to_clock(struct travel *t, uint64_t clock)
{
	struct stop stop;
	enum travel_result there = travel_restart(t);
	if (there != TRAVEL_THERE || clock <= t->start.clock)
		return there;
	t->f.debug->stop_at = clock;
	enum run r = travel_run(t, "vCont;c", &stop);
	while (r == RUN_STOP) /* a trap of the program's own, or a signal that it handles */
		r = stop.signal == SIGTRAP ? travel_run(t, "vCont;c", &stop) : RUN_END;
	return r == RUN_CLOCK ? TRAVEL_THERE : travel_result_of(r);
}

enum run travel_run_to(struct travel *t, uint64_t address, int tid, uint64_t sp)
{
	struct stop stop;
	enum run r;
	if (!inferior_ok(&t->f, "Z0,%lx,1", address))
		return t->f.reply->len ? RUN_END : RUN_LOST; /* nothing is there */
	for (;;) {
		r = travel_run(t, "vCont;c", &stop);
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
		r = ok ? travel_run(t, other, &stop) : RUN_LOST;
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
