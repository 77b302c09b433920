/*
 * describe.c - events, places and findings as text with the names of the program. Decides
 * nothing.
 */
#include "engine/predict/ladder/behind.h"
#include "engine/trace/ending.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "tui/explorer/session.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/words/weak_order.h"
#include "engine/predict/weak_races.h"

#include <string.h>

const char *grouped(uint64_t number, char buffer[32])
{
	char digits[24];
	int length = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, (guint64)number);
	int o = 0;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[o++] = ',';
		buffer[o++] = digits[i];
	}
	buffer[o] = '\0';
	return buffer;
}

void describe_operand(const struct trace *t, uint32_t event, GString *out)
{
	g_autoptr(GString) name = g_string_new(NULL);
	trace_append_operand(t, event, name);
	own_code_append_name(name->str, out);
}

void describe_lock(const struct trace *t, uint32_t acquire, GString *out)
{
	describe_operand(t, acquire, out);
	if (t->events[acquire].op == OP_RACQ)
		g_string_append(out, " for reading");
}

/* -- events ------------------------------------------------------------------------- */

/* The word before the operand's name; accesses have their own forms. */
static const char *const order_words[] = { "", " rlx", " acq", " rel", " acq_rel", "" };

/* Value before a write, in the recording; 0: unknown. */
static uint32_t recorded_before(const struct session *s, uint32_t event)
{
	const struct event *e = &s->trace->events[event];
	bool known = event > 0 && op_is_access(e->op) && op_writes(e->op) && e->aux &&
	             !(e->flags & EVENT_WIDE);
	return known ? session_value(s, e->target, event - 1).value : 0;
}

/* A value of an access; one that points to a named object is named as people write it. */
static void append_value(const struct trace *t, uint32_t event, uint32_t value, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	shown_append(t, shown_variable(&t->events[event]), value, event, text);
	if (*text->str == '&')
		own_code_append_name(text->str, out);
	else
		g_string_append(out, text->str);
}

static void append_change(const struct trace *t, uint32_t event, uint32_t old, GString *out)
{
	const struct value value = trace_value(t, t->events[event].aux);
	uint32_t new = t->events[event].aux;
	if (value.kind == V_PAIR) {
		old = value.first;
		new = value.second;
	}
	if (old) {
		g_string_append_c(out, ' ');
		append_value(t, event, old, out);
		g_string_append(out, " → ");
	} else {
		g_string_append(out, " ← ");
	}
	append_value(t, event, new, out);
}

static void describe_access(const struct trace *t, uint32_t event, uint32_t old, GString *out)
{
	const struct event *e = &t->events[event];
	if (e->aux == 0) {
		g_string_append(out, trace_verb(t, event));
		describe_operand(t, event, out);
	} else {
		describe_operand(t, event, out);
		if (op_writes(e->op)) {
			append_change(t, event, old, out);
		} else {
			g_string_append(out, " reads ");
			append_value(t, event, e->aux, out);
		}
	}
	g_string_append(out, order_words[event_order(e)]);
}

void describe_event(const struct session *s, uint32_t event, GString *out)
{
	describe_event_after(s, event, recorded_before(s, event), out);
}

/* "reaching *job, pool and 3 more" */
static void append_reached(const struct trace *t, const struct event *e, GString *out)
{
	enum { SHOWN = 3 };
	const struct value list = trace_value(t, e->aux);
	uint32_t count = list.kind == V_LIST ? list.count : 0;
	for (uint32_t i = 0; i < count && i < SHOWN; i++) {
		g_string_append(out, i ? ", " : " reaching ");
		trace_append_value(t, t->value_lists[list.first + i], out);
	}
	if (count > SHOWN)
		g_string_append_printf(out, " and %u more", count - SHOWN);
}

const char *describe_no_more(const struct trace *t, uint32_t last)
{
	enum ending_kind end = trace_ending(t).kind;
	bool ends = end == ENDING_UNKNOWN || end == ENDING_STUCK ||
	            (last != NONE && (t->events[last].op == OP_END ||
	                              (end == ENDING_EXIT && t->events[last].thread == 0)));
	return ends ? "has ended" : "does no more in this run";
}

void describe_event_after(const struct session *s, uint32_t event, uint32_t old, GString *out)
{
	const struct trace *t = s->trace;
	const struct event *e = &t->events[event];
	if (op_is_access(e->op)) {
		describe_access(t, event, old, out);
		return;
	}
	if (op_table[e->op].class == OP_CLASS_CALL || e->op == OP_FENCE) {
		trace_append_words(t, event, out);
		return;
	}
	if (e->op == OP_FLUSH) {
		describe_event_after(s, e->aux, 0, out);
		g_string_append(out, " arrives");
		return;
	}
	g_string_append(out, trace_verb(t, event));
	describe_operand(t, event, out);
	if (e->op == OP_MISS)
		append_reached(t, e, out);
	if (e->op == OP_MISUSE) {
		g_string_append(out, ": ");
		trace_append_value(t, e->aux, out);
	}
	if (event_is_try(e) && !event_inert(e))
		g_string_append(out, e->op == OP_WAIT ? " (limited in time)" : " (a try)");
	if (event_inert(e) && !op_tells(e->op))
		g_string_append(out, op_acquires(e->op) || op_releases(e->op) ? " again"
		                                                              : " (dropped)");
}

static void append_thread(const struct session *s, uint32_t event, GString *out)
{
	const char *name = trace_thread_name(s->trace, s->trace->events[event].thread);
	append_escaped(out, name, strlen(name));
}

void describe_numbered(const struct session *s, uint32_t event, GString *out)
{
	g_string_append_printf(out, "%u ", event);
	append_thread(s, event, out);
	g_string_append_c(out, ' ');
	describe_event(s, event, out);
}

void describe_place(const struct session *s, uint32_t event, GString *out)
{
	const struct trace *t = s->trace;
	struct frame place = own_code_place(t, event);
	const struct location *l = &t->locations[place.location];
	const char *function = trace_string(t, place.function);
	const char *name = trace_string(t, l->name);
	bool line = l->file && l->line;
	/* a place without a line is "function+0x65" already */
	if (*function && (line || !g_str_has_prefix(name, function))) {
		own_code_append_function(function, out);
		g_string_append_c(out, ' ');
	}
	if (line) {
		g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
		append_escaped(out, base, strlen(base));
		g_string_append_printf(out, ":%u", l->line);
		return;
	}
	if (*name) /* of an address in the C library, say, its name is enough */
		append_escaped(out, name,
		               own_code_is_elsewhere(t, place.location) ? strcspn(name, "+")
		                                                        : strlen(name));
	else
		g_string_append_printf(out, "event %u", event);
}

/* -- findings ----------------------------------------------------------------------- */

static const char *access_word(const struct trace *t, uint32_t event)
{
	switch (t->events[event].op) {
	case OP_READ:
	case OP_AREAD:
		return "read";
	case OP_FREE:
	case OP_DESTROY:
		return "free";
	case OP_RMW:
		return "update";
	default:
		return "write";
	}
}

/* Append the locks of the event's thread, "m, l"; false when it has none. */
static bool append_held(const struct session *s, uint32_t event, GString *out)
{
	g_autoptr(GArray) held = session_locks_held(s, event);
	const struct trace *t = s->trace;
	bool any = false;
	for (guint i = 0; i < held->len; i++) {
		uint32_t acquire = g_array_index(held, uint32_t, i);
		if (t->events[acquire].thread != t->events[event].thread)
			continue;
		g_string_append(out, any ? ", " : "");
		describe_lock(t, acquire, out);
		any = true;
	}
	return any;
}

void describe_line(const struct trace *t, uint32_t event, GString *out)
{
	const struct location *l = own_code_location(t, event);
	bool line = l->file && l->line;
	const char *name = line ? trace_string(t, l->file) : own_code_place_name(t, event);
	g_autofree char *base = line ? g_path_get_basename(name) : g_strdup(name);
	append_escaped(out, base, strlen(base));
	if (line)
		g_string_append_printf(out, ":%u", l->line);
}

/* The infinitive before the operand, with a blank; NULL: the event has to be told as a whole.
 */
static const char *infinitive(enum op op)
{
	const struct op_info *info = &op_table[op];
	switch (op) {
	case OP_RMW:
		return "update ";
	case OP_WAKE:
		return "be woken on ";
	case OP_TRYFAIL:
	case OP_TAKETRYFAIL:
		return NULL;
	default:
		break;
	}
	if (op_wants(op) || op_acquires(op))
		return "take ";
	if (op_is_access(op))
		return op_writes(op) ? "write " : "read ";
	bool known = info->class == OP_CLASS_SYNC || info->class == OP_CLASS_MEMORY;
	return known && info->operand != OPERAND_NOTHING ? info->verb : NULL;
}

void describe_about_to(const struct session *s, uint32_t event, bool same, GString *out)
{
	const struct trace *t = s->trace;
	const char *verb = infinitive((enum op)t->events[event].op);
	append_thread(s, event, out);
	g_string_append(out, " is about to ");
	if (verb == NULL) {
		g_string_append(out, "do ");
		describe_event(s, event, out);
	} else {
		g_string_append(out, verb);
		if (same)
			g_string_append(out, "it");
		else
			describe_operand(t, event, out);
	}
	g_string_append(out, " at ");
	describe_line(t, event, out);
}

void describe_wait(const struct session *s, const struct wait *w, GString *out)
{
	append_thread(s, w->event, out);
	g_string_append(out, " waits at ");
	describe_line(s->trace, w->event, out);
	g_string_append(out, " for ");
	g_string_append(out, w->what == WAIT_JOIN        ? "the end of"
	                     : w->what == WAIT_CONDITION ? "a signal of"
	                                                 : wait_for_word(w->what));
	g_string_append_c(out, ' ');
	append_waited(s->trace, w, out);
	if (w->holder != NONE)
		g_string_append_printf(out, ", which %s holds", session_thread(s, w->holder));
}

void describe_locks(const struct session *s, uint32_t event, GString *out)
{
	append_held(s, event, out);
}

static void explain_locks(const struct session *s, const struct finding *f, GString *out)
{
	uint32_t events[] = { f->first, f->second };
	GString *locks[] = { g_string_new(NULL), g_string_new(NULL) };
	bool held[2];
	for (int i = 0; i < 2; i++)
		held[i] = append_held(s, events[i], locks[i]);
	g_string_append(out, ": ");
	if (!held[0] && !held[1]) {
		g_string_append(out, "neither holds a lock");
	} else {
		for (int i = 0; i < 2; i++) {
			append_thread(s, events[i], out);
			g_string_append_printf(out, " holds %s%s",
			                       held[i] ? locks[i]->str : "no lock",
			                       i ? "" : ", ");
		}
	}
	g_string_free(locks[0], TRUE);
	g_string_free(locks[1], TRUE);
}

static void explain_silence(const struct session *s, const struct entry *entry, GString *out)
{
	if (session_seen(s, entry, ANALYSIS_HB) == 0)
		g_string_append(out, " The recorded run never showed it: happens-before orders "
		                     "the two (o: why).");
	else if (session_seen(s, entry, ANALYSIS_HB) > 0)
		g_string_append(out, " Happens-before sees it in the recorded run.");
	if (session_seen(s, entry, ANALYSIS_RDIT) == 0)
		g_string_append(out, " Calls into code that was not recorded (░) may keep them "
		                     "in order: M counts that, o shows how.");
}

void explain_memory(const struct session *s, const struct finding *f, GString *out)
{
	const char *needs = s->weak ? weak_race_sentence(f) : NULL;
	if (needs)
		g_string_append_printf(out, " %c%s.", g_ascii_toupper(*needs), needs + 1);
	else if (s->weak)
		g_string_append(out, " Whether it needs weak memory is not known.");
}

static void explain_race(const struct session *s, const struct entry *entry, GString *out)
{
	const struct finding *f = entry->finding;
	if (is_weak_order(f)) {
		describe_weak_order(s, f, out);
		explain_memory(s, f, out);
		return;
	}
	session_append_role(s, s->trace->events[f->second].thread, out);
	g_string_append_printf(out, " can %s ", access_word(s->trace, f->second));
	if (f->variables && f->variables->len) {
		uint32_t v = g_array_index(f->variables, uint32_t, 0);
		own_code_append_name(trace_variable_name(s->trace, v), out);
	} else {
		describe_operand(s->trace, f->first, out);
	}
	g_string_append(out, " while ");
	session_append_role(s, s->trace->events[f->first].thread, out);
	g_string_append_printf(out, " is about to %s it", access_word(s->trace, f->first));
	if (session_has(s, INDEX_MATCH | INDEX_OBJECTS))
		explain_locks(s, f, out);
	g_string_append_c(out, '.');
	if (s->weak)
		explain_memory(s, f, out);
	else
		explain_silence(s, entry, out);
}

bool describe_common_lock(const struct session *s, uint32_t first, uint32_t second,
                          GString *out)
{
	if (!session_has(s, INDEX_MATCH | INDEX_OBJECTS))
		return false;
	const struct trace *t = s->trace;
	g_autoptr(GArray) one = session_locks_held(s, first),
	                  two = session_locks_held(s, second);
	bool found = false;
	for (guint i = 0; i < one->len && !found; i++) {
		const struct event *a = &t->events[g_array_index(one, uint32_t, i)];
		for (guint j = 0; j < two->len && !found; j++) {
			const struct event *b = &t->events[g_array_index(two, uint32_t, j)];
			found = a->target == b->target &&
			        a->thread == t->events[first].thread &&
			        b->thread == t->events[second].thread &&
			        (a->op != OP_RACQ || b->op != OP_RACQ);
		}
		if (found)
			describe_operand(t, g_array_index(one, uint32_t, i), out);
	}
	return found;
}

static void explain_impossible(const struct session *s, const struct finding *f, GString *out)
{
	g_autoptr(GString) lock = g_string_new(NULL);
	bool locked = describe_common_lock(s, f->first, f->second, lock);
	if (locked)
		g_string_append_printf(
		        out,
		        "Both hold %s, which one thread holds at a time, so they cannot come together. ",
		        lock->str);
	g_string_append(out, "Proved: this pair cannot race in any reordering of the run");
	if (f->proof && f->proof->same_pairing)
		g_string_append(out, " (given the same pairing)");
	g_string_append(out, locked ? " (w shows the proof)." : ". ");
	if (locked)
		return;
	if (f->behind != NULL) {
		g_autoptr(GString) text = g_string_new(NULL);
		finding_append_behind(s->trace, f, text);
		*text->str = g_ascii_toupper(*text->str);
		g_string_append_printf(out, "%s. ", text->str);
	}
	if (f->proof && f->proof->cycle.steps && f->proof->cycle.steps->len) {
		const struct step *step = &g_array_index(f->proof->cycle.steps, struct step, 0);
		g_string_append(out, "It would need a circle: ");
		describe_step(s, step, out);
		g_string_append_printf(out, ", and %u more step%s (w shows the proof).",
		                       f->proof->cycle.steps->len - 1,
		                       f->proof->cycle.steps->len == 2 ? "" : "s");
	}
}

static void explain_cycle(const struct session *s, const struct finding *f, GString *out)
{
	g_string_append(out, "No order of whole units gives this result:");
	for (guint i = 0; f->edges && i < f->edges->len; i++) {
		const struct cycle_edge *edge = &g_array_index(f->edges, struct cycle_edge, i);
		const struct cycle_unit *from =
		        &g_array_index(f->units, struct cycle_unit, edge->from);
		const struct cycle_unit *to =
		        &g_array_index(f->units, struct cycle_unit, edge->to);
		g_string_append_printf(out, "%s %s comes before %s on ", i ? "," : "",
		                       from->unit, to->unit);
		describe_operand(s->trace, edge->events[0], out);
	}
	g_string_append(out, ". C shows the graph.");
}

static void explain_waits(const struct session *s, const struct finding *f, GString *out)
{
	bool stuck = f->kind == FINDING_STUCK;

	if (f->verdict != VERDICT_HAPPENED)
		g_string_append(out, "In another schedule of this run: ");
	else
		g_string_append(out, stuck ? "This run ended with threads that wait for ever: "
		                           : "This run ended in this deadlock: ");
	for (guint i = 0; i < f->waits->len; i++) {
		g_string_append(out, i ? "; " : "");
		append_wait(s->trace, f, &g_array_index(f->waits, struct wait, i), out);
	}
	g_string_append(out, f->verdict == VERDICT_HAPPENED
	                             ? "."
	                             : ", and no thread that could end it can go on.");
}

static void explain_misuse(const struct session *s, const struct finding *f, GString *out)
{
	append_thread(s, f->second, out);
	g_string_append_printf(out, ": %s. ", f->note ? f->note : "a lock is misused");
	if (f->first != f->second) {
		append_thread(s, f->first, out);
		g_string_append(out, " had done the ");
		describe_event(s, f->first, out);
		g_string_append(out, " before. ");
	}
	g_string_append(out, "It happened in this very run; what follows is undefined, but "
	                     "where the C library refuses the call.");
}

static void explain_deadlock(const struct session *s, const struct finding *f, GString *out)
{
	for (guint i = 0; f->requests && i < f->requests->len; i++) {
		uint32_t event = g_array_index(f->requests, uint32_t, i);
		g_string_append(out, i ? ", " : "");
		append_thread(s, event, out);
		g_string_append(out, " wants ");
		describe_operand(s->trace, event, out);
	}
	g_string_append(out, ": each holds what the next one wants");
	if (f->missing != NULL)
		g_string_append_printf(out, "; a deadlock %s", f->missing);
	g_string_append_c(out, '.');
}

static void append_event(const struct session *s, uint32_t event, GString *out)
{
	append_thread(s, event, out);
	g_string_append(out, "'s ");
	describe_event(s, event, out);
	g_string_append_printf(out, " (%u)", event);
}

bool describe_action(const struct trace *t, uint32_t event, GString *out)
{
	enum op op = (enum op)t->events[event].op;
	const char *verb = op == OP_RMW      ? "updates"
	                   : op == OP_FREE   ? "frees"
	                   : op_acquires(op) ? "wants"
	                   : op_writes(op)   ? "writes"
	                   : op_reads(op)    ? "reads"
	                                     : NULL;
	if (verb == NULL)
		return false;
	g_string_append_printf(out, "%s ", verb);
	describe_operand(t, event, out);
	return true;
}

/* "T1 reads x (5)", or "T1's signal c (5)". */
static void append_acting(const struct session *s, uint32_t event, GString *out)
{
	g_autoptr(GString) action = g_string_new(NULL);
	if (!describe_action(s->trace, event, action)) {
		append_event(s, event, out);
		return;
	}
	append_thread(s, event, out);
	g_string_append_printf(out, " %s (%u)", action->str, event);
}

/* A use after free: the access comes, or can come, after the free. */
static void explain_use(const struct session *s, const struct finding *f, GString *out)
{
	bool happened = f->verdict == VERDICT_HAPPENED;
	append_acting(s, f->second, out);
	g_string_append(out, happened ? " after " : ", and can do so before ");
	append_acting(s, f->first, out);
	g_string_append(out, happened ? ": memory was used after it was freed."
	                              : ": memory would be used after it was freed (w).");
}

/* A thread waits for an object after the object's end of life. */
static void explain_ended_wait(const struct session *s, const struct finding *f, GString *out)
{
	append_thread(s, f->second, out);
	g_string_append_c(out, ' ');
	describe_event(s, f->second, out);
	g_string_append_printf(out, " when the run ends (%u), after ", f->second);
	append_event(s, f->first, out);
	g_string_append(out, s->trace->events[f->first].op == OP_FREE
	                             ? ": it is in memory that was freed."
	                             : ": it was destroyed.");
}

/* An order violation: the later event can come first. */
static void explain_violation(const struct session *s, const struct finding *f, GString *out)
{
	bool happened = f->verdict == VERDICT_HAPPENED;
	if (s->trace->events[f->second].op == OP_WANT) {
		explain_ended_wait(s, f, out);
		return;
	}
	if (f->kind == FINDING_USE_AFTER_FREE) {
		explain_use(s, f, out);
		return;
	}
	append_event(s, f->second, out);
	g_string_append(out, happened ? " came after " : " can come before ");
	append_event(s, f->first, out);
	g_string_append(out, happened ? " in this very run: the wrong order."
	                              : ": nothing that the run shows keeps this order (w).");
}

static void explain_methods(const struct session *s, const struct finding *f, GString *out)
{
	append_thread(s, f->first, out);
	g_string_append_printf(out, " does %s, ",
	                       f->methods[0] ? f->methods[0] : "an operation");
	append_thread(s, f->second, out);
	g_string_append_printf(out, " %s; they do not commute",
	                       f->methods[1] ? f->methods[1] : "another");
	if (f->condition && strcmp(f->condition, "false") != 0)
		g_string_append_printf(out, ": %s is false", f->condition);
	g_string_append(out, ". Happens-before leaves them unordered.");
}

static void explain_refuted(const struct session *s, GString *out)
{
	g_string_append(
	        out, s->missing_complete
	                     ? "No race once missing code counts: calls into code that "
	                       "was not recorded may keep the two in order (o: how), and "
	                       "in no run that keeps these calls' order do they come together."
	                     : "Open once missing code counts: rdit has found no witness "
	                       "that keeps the order of calls into code that was not "
	                       "recorded, and has not tried all (w decides this pair).");
	g_string_append(out, " Without it the race has a witness: M.");
}

void explain_entry(const struct session *s, const struct entry *entry, GString *out)
{
	const struct finding *f = entry->finding;
	if (s->missing && missing_code_refutes(s, entry)) {
		explain_refuted(s, out);
	} else if (f->verdict == VERDICT_IMPOSSIBLE) {
		explain_impossible(s, f, out);
	} else if (f->verdict == VERDICT_UNKNOWN) {
		g_string_append_printf(
		        out,
		        "Undecided: %s. w decides this pair alone, with 30 seconds; "
		        "`:analyse 60` asks again about all that are open.",
		        open_reason_text(f->open));
	} else if (f->kind == FINDING_ATOMIC_SET_VIOLATION) {
		explain_cycle(s, f, out);
	} else if (f->waits && (f->verdict == VERDICT_HAPPENED || f->kind == FINDING_STUCK)) {
		explain_waits(s, f, out);
	} else if (f->kind == FINDING_DEADLOCK) {
		explain_deadlock(s, f, out);
	} else if (f->story != NULL) {
		g_string_append_printf(out, "%s.", f->story);
	} else if (f->kind == FINDING_LOCK_MISUSE) {
		explain_misuse(s, f, out);
	} else if (f->kind == FINDING_USE_AFTER_FREE || f->kind == FINDING_ORDER_VIOLATION) {
		explain_violation(s, f, out);
	} else if (f->kind != FINDING_DATA_RACE) {
		explain_methods(s, f, out);
	} else if (f->missing != NULL && f->kind == FINDING_DATA_RACE) {
		g_string_append_printf(out,
		                       "A race %s. There is a witness (w) in which these calls "
		                       "order nothing; M lets them count.",
		                       f->missing);
	} else if (f->verdict == VERDICT_CANDIDATE) {
		g_string_append(
		        out, "A candidate: the two conflict and nothing that was asked so far "
		             "orders them. The search for a witness goes on.");
		explain_silence(s, entry, out);
	} else {
		explain_race(s, entry, out);
	}
}

static const char *const must_words[] = {
	[MUST_FORK] = "a thread begins after it was created",
	[MUST_JOIN] = "a join waits for the thread's end",
	[MUST_MESSAGE] = "a message is received after it was sent",
	[MUST_ALLOC] = "memory is used after it was allocated",
	[MUST_FREE] = "memory is given out again after it was freed",
	[MUST_SEMAPHORE] = "a take needs its post",
	[MUST_BARRIER] = "all arrive at a barrier before any leaves it",
	[MUST_WAKER] = "a wake needs its signal",
	[MUST_WAIT] = "a signal wakes who already waits",
	[MUST_INVOCATION] = "the two invocations do not commute",
	[MUST_MISSING] = "unrecorded code may touch the same memory",
};

void describe_rule(const struct session *s, const struct step *step, GString *out)
{
	const struct trace *t = s->trace;
	uint32_t read, write;
	if (missing_code_reason(s, step, out))
		return;
	g_string_append(out, step_rule_text((enum step_rule)step->rule));
	if (step_reading(step, &read, &write)) {
		g_string_append_printf(out, ": event %u sees ", read);
		if (write == NONE)
			g_string_append(out, "the initial value");
		else
			g_string_append_printf(out, "event %u", write);
	} else if (step->rule == STEP_MUST && step->detail < G_N_ELEMENTS(must_words)) {
		g_string_append_printf(out, ": %s", must_words[step->detail]);
	} else if (step->rule != STEP_MUST && step->detail < t->objects_count) {
		const char *name = trace_string(t, t->objects[step->detail].name);
		g_string_append(out, step->rule == STEP_LOCK ? " " : ": ");
		append_escaped(out, name, strlen(name));
	}
}

void describe_step(const struct session *s, const struct step *step, GString *out)
{
	describe_numbered(s, step->from, out);
	g_string_append(out, " before ");
	describe_numbered(s, step->to, out);
	g_string_append(out, " (");
	describe_rule(s, step, out);
	g_string_append_c(out, ')');
}
