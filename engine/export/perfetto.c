/*
 * perfetto.c - a trace on Perfetto's timeline; see export.h and perfetto.proto.
 */
#include "engine/export/export.h"

#include "engine/export/perfetto.pb-c.h"
#include "engine/trace/index.h"
#include "engine/trace/own_code.h"

enum {
	TICK = 1000, /* nanoseconds an event */
	SEQUENCE = 1,
	STATE_CLEARED = 1, /* TracePacket.sequence_flags: the sequence begins here */
	FLOWS_MOST = 64,   /* flows that leave one event */
};
/* uuids of tracks: 1 + thread; side tracks have thread and nesting; then these. */
#define TRACK_PROCESS  (UINT64_C(1) << 62)
#define TRACK_FINDINGS (TRACK_PROCESS + 1)
#define TRACK_SIDE     (UINT64_C(1) << 40)

/* Events that begin sections which have not ended, by thread; ends strictly descending. */
struct open_sections {
	GArray *ends; /* uint32_t */
};

struct writer {
	struct trace *t;
	struct file_writer *file;
	GByteArray *bytes;
	struct open_sections *open; /* by thread */
	GHashTable *side;   /* begin event of a section on a side track to its track (uint64,
	                       owned) */
	GHashTable *tracks; /* side tracks (uint64, owned) that have a descriptor: a set */
	GHashTable *marks;  /* event to its findings' text (GString, owned) */
	/* flows: by source, its first flow; by flow, target and the source's next */
	GHashTable *first_flow; /* event to index + 1 */
	GArray *flows;          /* struct flow */
	GHashTable *incoming;   /* target event to its last flow's index + 1 */
	bool started;
};

struct flow {
	uint32_t next, next_in; /* index + 1 of the next of the source, of the target; or 0 */
};

/* -- packets ------------------------------------------------------------------------------- */

static void put_packet(struct writer *w, Heddle__Perfetto__TracePacket *packet)
{
	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	if (!w->started) {
		packet->has_sequence_flags = 1;
		packet->sequence_flags = STATE_CLEARED;
		w->started = true;
	}
	size_t length = heddle__perfetto__trace_packet__get_packed_size(packet);
	uint8_t head[16];
	unsigned used = 0;

	head[used++] = 1 << 3 | 2; /* Trace.packet, length-delimited */
	for (size_t rest = length;; rest >>= 7) {
		head[used++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
		if (rest <= 0x7f)
			break;
	}
	g_byte_array_set_size(w->bytes, (guint)length);
	heddle__perfetto__trace_packet__pack(packet, w->bytes->data);
	file_writer_put(w->file, head, used);
	file_writer_put(w->file, w->bytes->data, length);
}

static void put_track(struct writer *w, Heddle__Perfetto__TrackDescriptor *track)
{
	Heddle__Perfetto__TracePacket packet = HEDDLE__PERFETTO__TRACE_PACKET__INIT;

	packet.track_descriptor = track;
	put_packet(w, &packet);
}

static void put_process(struct writer *w)
{
	Heddle__Perfetto__TrackDescriptor track = HEDDLE__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Heddle__Perfetto__ProcessDescriptor process =
	        HEDDLE__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	g_autofree char *name = g_utf8_make_valid(trace_name(w->t), -1);

	process.has_pid = 1;
	process.pid = 1;
	process.process_name = name;
	track.has_uuid = 1;
	track.uuid = TRACK_PROCESS;
	track.process = &process;
	put_track(w, &track);
}

static void put_thread(struct writer *w, uint32_t thread)
{
	Heddle__Perfetto__TrackDescriptor track = HEDDLE__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Heddle__Perfetto__ThreadDescriptor descriptor =
	        HEDDLE__PERFETTO__THREAD_DESCRIPTOR__INIT;
	g_autofree char *name = g_utf8_make_valid(trace_thread_name(w->t, thread), -1);

	descriptor.has_pid = 1;
	descriptor.pid = 1;
	descriptor.has_tid = 1;
	descriptor.tid = (int32_t)thread + 1;
	descriptor.thread_name = name;
	track.has_uuid = 1;
	track.uuid = thread + 1;
	track.has_parent_uuid = 1;
	track.parent_uuid = TRACK_PROCESS;
	track.thread = &descriptor;
	put_track(w, &track);
}

static void put_named_track(struct writer *w, uint64_t uuid, uint64_t parent, const char *name)
{
	Heddle__Perfetto__TrackDescriptor track = HEDDLE__PERFETTO__TRACK_DESCRIPTOR__INIT;
	g_autofree char *valid = g_utf8_make_valid(name, -1);

	track.has_uuid = 1;
	track.uuid = uuid;
	track.has_parent_uuid = 1;
	track.parent_uuid = parent;
	track.name = valid;
	put_track(w, &track);
}

/* -- flows --------------------------------------------------------------------------------- */

static void add_flow(struct writer *w, uint32_t from, uint32_t to)
{
	gpointer source = GUINT_TO_POINTER(from), target = GUINT_TO_POINTER(to);
	struct flow flow = {
		.next = GPOINTER_TO_UINT(g_hash_table_lookup(w->first_flow, source)),
		.next_in = GPOINTER_TO_UINT(g_hash_table_lookup(w->incoming, target)),
	};

	g_array_append_val(w->flows, flow);
	g_hash_table_insert(w->first_flow, source, GUINT_TO_POINTER(w->flows->len));
	g_hash_table_insert(w->incoming, target, GUINT_TO_POINTER(w->flows->len));
}

/* From a write to the reads of other threads, and along the must-order between threads. */
static void collect_flows(struct writer *w)
{
	const struct trace *t = w->t;

	for (uint64_t i = 0; i < t->index->must_count; i++) {
		uint32_t after = t->index->must[i].after;
		struct must_sources sources = must_sources(t, after);
		struct must_edge e;

		if (i > 0 && t->index->must[i - 1].after == after)
			continue;
		while (must_sources_next(&sources, &e)) {
			if (t->events[e.before].thread != t->events[after].thread &&
			    e.before < after)
				add_flow(w, e.before, after);
		}
	}
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *x = &t->events[i];

		if (!op_is_access(x->op) || !op_reads(x->op))
			continue;
		struct event_list writers = trace_writers(t, (uint32_t)i);
		uint32_t last = NONE;
		for (uint64_t k = 0; k < writers.count; k++) {
			uint32_t from = writers.items[k];
			if (from != NONE && from != last && t->events[from].thread != x->thread)
				add_flow(w, from, (uint32_t)i);
			last = from;
		}
	}
}

/* The identities of all flows at an event: their indices + 1. */
static size_t flows_at(const struct writer *w, uint32_t event, uint64_t ids[2 * FLOWS_MOST])
{
	gpointer key = GUINT_TO_POINTER(event);
	uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(w->first_flow, key));
	size_t n = 0;

	for (; at != 0 && n < FLOWS_MOST;
	     at = g_array_index(w->flows, struct flow, at - 1).next)
		ids[n++] = at;
	at = GPOINTER_TO_UINT(g_hash_table_lookup(w->incoming, key));
	for (; at != 0 && n < 2 * FLOWS_MOST;
	     at = g_array_index(w->flows, struct flow, at - 1).next_in)
		ids[n++] = at;
	return n;
}

/* -- events -------------------------------------------------------------------------------- */

static void put_event(struct writer *w, uint32_t event, Heddle__Perfetto__TrackEvent *x)
{
	Heddle__Perfetto__TracePacket packet = HEDDLE__PERFETTO__TRACE_PACKET__INIT;

	packet.has_timestamp = 1;
	packet.timestamp = ((uint64_t)event + 1) * TICK;
	packet.track_event = x;
	x->has_type = 1;
	x->has_track_uuid = 1;
	put_packet(w, &packet);
}

static const char *category(const struct event *x)
{
	switch (op_table[x->op].class) {
	case OP_CLASS_ACCESS:
		return "access";
	case OP_CLASS_SYNC:
		return "synchronisation";
	case OP_CLASS_MEMORY:
		return "memory";
	default:
		return "program";
	}
}

/* An event that begins a slice, or an instant, with its name, place and number. */
static void put_named(struct writer *w, uint32_t event, uint64_t track,
                      Heddle__Perfetto__TrackEvent__Type type)
{
	const struct event *x = &w->t->events[event];
	Heddle__Perfetto__TrackEvent out = HEDDLE__PERFETTO__TRACK_EVENT__INIT;
	Heddle__Perfetto__DebugAnnotation place = HEDDLE__PERFETTO__DEBUG_ANNOTATION__INIT,
	                                  number = HEDDLE__PERFETTO__DEBUG_ANNOTATION__INIT;
	Heddle__Perfetto__DebugAnnotation *notes[] = { &number, &place };
	uint64_t flows[2 * FLOWS_MOST];
	g_autoptr(GString) name = g_string_new(NULL);
	g_autofree char *location = g_utf8_make_valid(own_code_place_name(w->t, event), -1);
	char *categories[] = { (char *)category(x) };

	if (x->op == OP_ENTER)
		trace_append_operand(w->t, event, name);
	else
		trace_append_words(w->t, event, name);
	number.name = (char *)"event";
	number.has_uint_value = 1;
	number.uint_value = event;
	place.name = (char *)"location";
	place.string_value = location;
	out.type = type;
	out.track_uuid = track;
	out.name = name->str;
	out.n_categories = 1;
	out.categories = categories;
	out.n_debug_annotations = *location ? 2 : 1;
	out.debug_annotations = notes;
	out.n_flow_ids = flows_at(w, event, flows);
	out.flow_ids = flows;
	put_event(w, event, &out);
}

static void put_end(struct writer *w, uint32_t event, uint64_t track)
{
	Heddle__Perfetto__TrackEvent out = HEDDLE__PERFETTO__TRACK_EVENT__INIT;

	out.type = HEDDLE__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	out.track_uuid = track;
	put_event(w, event, &out);
}

/* -- sections ------------------------------------------------------------------------------ */

static bool begins_section(enum op op)
{
	return op_acquires(op) || op == OP_WAIT || op == OP_CALL || op == OP_UBEG ||
	       op == OP_MISS || op == OP_ENTER;
}

static bool ends_section(enum op op)
{
	return op == OP_REL || op == OP_RREL || op == OP_WAKE || op == OP_RET ||
	       op == OP_UEND || op == OP_BACK || op == OP_LEAVE;
}

/* The track of a section that ends at `end`: the thread's, or a side track where it does not
 * end within all that are open. Side tracks are numbered by the open sections, so that
 * sections on one do not overlap in practice; a viewer closes one that does. */
static uint64_t track_of_section(struct writer *w, uint32_t event, uint32_t end)
{
	uint32_t thread = w->t->events[event].thread;
	GArray *ends = w->open[thread].ends;

	while (ends->len > 0 && g_array_index(ends, uint32_t, ends->len - 1) <= event)
		g_array_set_size(ends, ends->len - 1);
	if (ends->len == 0 || g_array_index(ends, uint32_t, ends->len - 1) > end) {
		g_array_append_val(ends, end);
		return thread + 1;
	}
	uint32_t target = w->t->events[event].target & 0xfffff;
	uint64_t track = TRACK_SIDE + ((uint64_t)thread << 20) + target;
	gint64 key = (gint64)track;
	if (!g_hash_table_contains(w->tracks, &key)) {
		g_autoptr(GString) name = g_string_new(NULL);
		trace_append_operand(w->t, event, name);
		g_hash_table_add(w->tracks, g_memdup2(&key, sizeof(key)));
		put_named_track(w, track, thread + 1, name->str);
	}
	g_hash_table_insert(w->side, GUINT_TO_POINTER(event), g_memdup2(&key, sizeof(key)));
	return track;
}

static void put_one(struct writer *w, uint32_t event)
{
	const struct event *x = &w->t->events[event];
	uint32_t partner = w->t->index->partner[event];

	if (begins_section(x->op) && partner != NONE && partner > event) {
		put_named(w, event, track_of_section(w, event, partner),
		          HEDDLE__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
		return;
	}
	if (ends_section(x->op) && partner != NONE && partner < event) {
		gint64 *side = g_hash_table_lookup(w->side, GUINT_TO_POINTER(partner));
		uint64_t flows[2 * FLOWS_MOST];

		put_end(w, event, side ? (uint64_t)*side : x->thread + 1);
		if (flows_at(w, event, flows) == 0)
			return;
	}
	put_named(w, event, x->thread + 1, HEDDLE__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

/* -- findings ------------------------------------------------------------------------------ */

static void put_mark(struct writer *w, uint32_t event, const char *text, uint64_t track)
{
	Heddle__Perfetto__TrackEvent out = HEDDLE__PERFETTO__TRACK_EVENT__INIT;
	char *categories[] = { (char *)"finding" };
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	out.type = HEDDLE__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
	out.track_uuid = track;
	out.name = valid;
	out.n_categories = 1;
	out.categories = categories;
	put_event(w, event, &out);
}

static void mark(struct writer *w, uint32_t event, const char *text)
{
	GString *known =
	        event == NONE ? NULL : g_hash_table_lookup(w->marks, GUINT_TO_POINTER(event));

	if (event == NONE)
		return;
	if (known == NULL)
		g_hash_table_insert(w->marks, GUINT_TO_POINTER(event), g_string_new(text));
	else
		g_string_append_printf(known, "; %s", text);
}

static void collect_marks(struct writer *w, const struct report *report)
{
	for (guint i = 0; report != NULL && i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		g_autoptr(GString) text = g_string_new(NULL);

		g_string_append_printf(text, "%s (%s)", finding_kind_word(f->kind),
		                       finding_verdict_text(f->kind, f->verdict));
		if (f->variables != NULL && f->variables->len > 0) {
			uint32_t v = g_array_index(f->variables, uint32_t, 0);
			g_string_append_printf(text, " %s", trace_variable_name(w->t, v));
		}
		mark(w, f->first, text->str);
		if (f->second != f->first)
			mark(w, f->second, text->str);
	}
}

static void put_marks(struct writer *w, uint32_t event)
{
	const GString *text = g_hash_table_lookup(w->marks, GUINT_TO_POINTER(event));

	if (text == NULL)
		return;
	put_mark(w, event, text->str, TRACK_FINDINGS);
	put_mark(w, event, text->str, w->t->events[event].thread + 1);
}

/* -- the file ------------------------------------------------------------------------------ */

static void free_text(gpointer text)
{
	g_string_free(text, TRUE);
}

static void release(struct writer *w)
{
	for (uint64_t i = 0; i < w->t->threads_count; i++)
		g_array_free(w->open[i].ends, TRUE);
	g_free(w->open);
	g_byte_array_free(w->bytes, TRUE);
	g_hash_table_destroy(w->side);
	g_hash_table_destroy(w->tracks);
	g_hash_table_destroy(w->marks);
	g_hash_table_destroy(w->first_flow);
	g_hash_table_destroy(w->incoming);
	g_array_free(w->flows, TRUE);
}

void export_perfetto(struct trace *t, const struct report *report, struct file_writer *file)
{
	struct writer w = { .t = t, .file = file };

	trace_need(t, INDEX_MATCH | INDEX_WRITERS | INDEX_MUST, NULL);
	w.bytes = g_byte_array_new();
	w.open = g_new0(struct open_sections, t->threads_count);
	w.side = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	w.tracks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	w.marks = g_hash_table_new_full(NULL, NULL, NULL, free_text);
	w.first_flow = g_hash_table_new(NULL, NULL);
	w.incoming = g_hash_table_new(NULL, NULL);
	w.flows = g_array_new(FALSE, FALSE, sizeof(struct flow));
	collect_flows(&w);
	collect_marks(&w, report);
	put_process(&w);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		w.open[i].ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		put_thread(&w, i);
	}
	if (report != NULL)
		put_named_track(&w, TRACK_FINDINGS, TRACK_PROCESS, "findings");
	for (uint64_t i = 0; i < t->events_count; i++) {
		put_one(&w, (uint32_t)i);
		put_marks(&w, (uint32_t)i);
	}
	release(&w);
}
