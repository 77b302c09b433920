/*
 * import.c - converts a recording log (layout.h) to a trace by builder.h: reads the file and
 * its chunks, and orders records by tickets in free mode.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/commute/language/spec.h"
#include "engine/record/import/compress.h"
#include "engine/record/import/import_private.h"
#include "engine/trace/weak.h"
#include "engine/record/import/inputs.h"
#include "engine/record/import/running.h"
#include "engine/record/surroundings.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

/* ---- the file ---- */

struct chunk {
	uint64_t sequence, offset;
	uint32_t thread;
};

static gint compare_chunks(gconstpointer a, gconstpointer b)
{
	const struct chunk *x = a, *y = b;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static GArray *find_chunks(struct import *im)
{
	GArray *chunks = g_array_new(FALSE, FALSE, sizeof(struct chunk));
	for (uint64_t slot = 0;; slot++) {
		uint64_t at = log_chunk_offset(im->header->flags, slot);
		if (at + sizeof(struct log_frame) > im->size)
			break;
		const struct log_chunk *head = (const void *)(im->base + at);
		if (head->magic != LOG_CHUNK_MAGIC) {
			at += LOG_CHUNK;
			if (!(im->header->flags & LOG_COMPRESSED) ||
			    at + sizeof(struct log_frame) > im->size)
				continue;
			head = (const void *)(im->base + at); /* a frame begins like a chunk */
			if (head->magic != LOG_FRAME_MAGIC)
				continue;
		}
		struct chunk c = { head->sequence, at, head->thread };
		g_array_append_val(chunks, c);
	}
	g_array_sort(chunks, compare_chunks);
	for (guint i = 1; i < chunks->len; i++)
		im->lacks_chunks |= g_array_index(chunks, struct chunk, i).sequence >
		                    g_array_index(chunks, struct chunk, i - 1).sequence + 1;
	return chunks;
}

/* Releases the memory of the chunk at `offset`, which has been read. */
static void end_chunk(struct import *im, uint64_t offset)
{
	if (im->lent)
		return;
	(void)madvise((void *)(im->base + offset), MIN(LOG_CHUNK, im->size - offset),
	              MADV_DONTNEED);
}

/* `expanded`: buffer for decompression, allocated if NULL; owned by the caller. */
static void begin_chunk(struct import *im, struct log_reader *reader, uint64_t offset,
                        uint64_t **expanded)
{
	uint64_t bytes = MIN(LOG_CHUNK, im->size - offset);
	const char *chunk = im->base + offset;
	if (((const struct log_chunk *)(const void *)chunk)->magic == LOG_FRAME_MAGIC) {
		if (!*expanded)
			*expanded = g_malloc(LOG_CHUNK);
		bytes = compressor_expand((const void *)chunk, bytes, *expanded);
		im->damaged += bytes == 0;
		chunk = (const void *)*expanded;
	}
	bytes = MAX(bytes & ~7ull, sizeof(struct log_chunk));
	log_reader_chunk(reader, (const uint64_t *)(chunk + sizeof(struct log_chunk)),
	                 (const uint64_t *)(chunk + bytes));
}

/* The chunk at `offset`, of which a part was read from its memory. */
static void go_on_in_chunk(struct import *im, uint64_t offset)
{
	uint64_t bytes = MIN(LOG_CHUNK, im->size - offset) & ~7ull;
	const char *chunk = im->base + offset;
	im->reader->end = (const uint64_t *)(chunk + bytes);
	im->reader->at = (const uint64_t *)chunk + MIN(im->words_read, bytes / 8);
}

/* Notes that another thread continues, or (`last`) none. */
static void note_turn(struct import *im, bool last)
{
	uint64_t made = import_lane(im, im->thread)->ordinal;
	struct log_turn turn = { im->thread,
		                 last ? UINT32_MAX : (uint32_t)MIN(made, UINT32_MAX - 1) };
	if (im->facts->turns->len <= LOG_TURNS)
		g_array_append_val(im->facts->turns, turn);
}

void import_next(struct import *im, const struct log_record *r)
{
	if (r->tag != LOG_SWITCH) {
		import_record(im, im->thread, r);
		return;
	}
	uint32_t next = r->pc < LOG_THREADS ? (uint32_t)r->pc : im->thread;
	if (next == im->thread) /* the beginning of a chunk */
		return;
	note_turn(im, false);
	im->thread = next;
}

void import_chunk(struct import *im)
{
	struct log_record record = { .slot = 0 };
	bool more, weak = im->header->memory != LOG_SC; /* then each access is examined */
	do {
		struct lane *lane = import_lane(im, im->thread);
		if (!weak && lane->state == 0)
			import_shorts(im, lane, im->reader);
		more = log_reader_next(im->reader, &record);
		if (more)
			import_next(im, &record);
	} while (more);
	im->unread += im->reader->damaged;
	im->chunks_read++;
	im->words_read = 0;
}

/* Reads the chunks that were not read while the program ran. */
static bool read_controlled(struct import *im, GArray *chunks, const struct progress *progress)
{
	uint64_t *expanded = NULL;
	const uint64_t taken = im->chunks_read; /* while the program ran */
	bool whole = true;
	for (guint i = 0; i < chunks->len && whole; i++) {
		const struct chunk *c = &g_array_index(chunks, struct chunk, i);
		if (c->sequence < taken)
			continue;
		whole = progress_tick(progress, (double)i / chunks->len,
		                      "reading the recording");
		if (im->words_read == 0)
			begin_chunk(im, im->reader, c->offset, &expanded);
		else
			go_on_in_chunk(im, c->offset);
		import_chunk(im);
		end_chunk(im, c->offset);
	}
	g_free(expanded);
	return whole;
}

/* Free mode: every thread has its own chunks; tickets at synchronisation order the parts
 * between them. */

/* Adds the accesses of known sites, and reads the next other record into lane->record; false
 * at the end. */
static bool lane_record(struct import *im, struct lane *lane)
{
	if (!lane->reader)
		lane->reader = g_new0(struct log_reader, 1);
	if (lane->state == 0)
		import_shorts(im, lane, lane->reader);
	while (!log_reader_next(lane->reader, &lane->record)) {
		im->unread += lane->reader->damaged;
		if (lane->chunk > 0)
			end_chunk(im, g_array_index(lane->chunks, uint64_t, lane->chunk - 1));
		if (lane->chunk == lane->chunks->len)
			return false;
		begin_chunk(im, lane->reader,
		            g_array_index(lane->chunks, uint64_t, lane->chunk++),
		            &lane->expanded);
	}
	return true;
}

struct merge {
	struct import *im;
	GSequence *waiting; /* thread ids by their next tickets */
	GArray *started;    /* uint32_t: threads whose records before the first ticket are
	                     * still to be read */
};

static gint by_ticket(gconstpointer a, gconstpointer b, gpointer im)
{
	uint32_t x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
	uint64_t mine = import_lane(im, x)->ticket, other = import_lane(im, y)->ticket;

	if (mine == other)
		return x < y ? -1 : x > y;
	return mine < other ? -1 : 1;
}

/* Read records of thread `id` up to its next ticket, then queue it. */
static void run_lane(struct merge *m, uint32_t id)
{
	for (;;) {
		struct lane *lane = import_lane(m->im, id);
		if (!lane_record(
		            m->im,
		            lane)) { /* end of the thread: few of many threads live at once */
			g_clear_pointer(&lane->reader, g_free);
			g_clear_pointer(&lane->expanded, g_free);
			return;
		}
		struct log_record r = lane->record; /* lanes may move */
		if (r.tag == LOG_TICKET) {
			lane->ticket = r.pc;
			g_sequence_insert_sorted(m->waiting, GUINT_TO_POINTER(id), by_ticket,
			                         m->im);
			return;
		}
		import_record(m->im, id, &r);
		uint32_t child = r.tag == LOG_FORK && r.words[1] < LOG_THREADS ? r.words[1] : 0;
		if (child && !import_lane(m->im, child)->running) {
			import_lane(m->im, child)->running = true;
			g_array_append_val(m->started, child);
		}
	}
}

static bool read_free(struct import *im, GArray *chunks, const struct progress *progress)
{
	for (guint i = 0; i < chunks->len; i++) {
		const struct chunk *c = &g_array_index(chunks, struct chunk, i);
		if (c->thread >= LOG_THREADS)
			continue;
		g_array_append_val(import_lane(im, c->thread)->chunks, c->offset);
	}
	struct merge m = { .im = im,
		           .waiting = g_sequence_new(NULL),
		           .started = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	import_lane(im, 0)->running = true;
	run_lane(&m, 0);
	bool whole = true;
	for (uint64_t steps = 1; whole; steps++) {
		for (guint i = 0; i < m.started->len; i++) /* may start others */
			run_lane(&m, g_array_index(m.started, uint32_t, i));
		g_array_set_size(m.started, 0);
		if (g_sequence_is_empty(m.waiting))
			break;
		GSequenceIter *first = g_sequence_get_begin_iter(m.waiting);
		uint32_t next = GPOINTER_TO_UINT(g_sequence_get(first));
		g_sequence_remove(first);
		run_lane(&m, next);
		whole = steps % 65536 != 0 ||
		        progress_tick(progress, 0.5, "reading the recording");
	}
	g_sequence_free(m.waiting);
	g_array_free(m.started, TRUE);
	return whole;
}

/* The operation that a blocked thread was about to make; LOG_NOTHING: none that the trace can
 * express. */
static enum log_tag wanted_tag(enum log_wait reason, uint64_t object)
{
	switch (reason) {
	case FOR_FUTEX:
		return object & LOG_FUTEX_BIT ? LOG_WAKE : LOG_ACQ;
	case FOR_SLEEP:
	case FOR_LOOK:
	case FOR_LOOP:
		return LOG_NOTHING;
	case FOR_FILE:
		return LOG_RCV;
	case FOR_CONDITION:
		return LOG_WAKE;
	case FOR_BARRIER:
		return LOG_DEPART;
	case FOR_SEMAPHORE:
		return LOG_TAKE;
	case FOR_THREAD:
		return LOG_JOIN;
	default:
		return LOG_ACQ;
	}
}

/* A destroyed object being waited for is still that object. */
static void add_want(struct import *im, const struct record_wait *w)
{
	enum log_tag tag = wanted_tag(w->reason, w->object);
	bool join = tag == LOG_JOIN;
	if (w->reason == FOR_LOOK || w->reason == FOR_LOOP)
		import_lane(im, w->thread)->stuck = true;
	if (tag == LOG_NOTHING || (join && w->holder >= LOG_THREADS) ||
	    (tag == LOG_RCV && w->message == 0))
		return;
	struct event want = { .op = join ? OP_WANTJOIN : OP_WANT,
		              .location = import_location(im, w->pc) };
	uint32_t target = join ? import_lane(im, w->holder)->thread : NONE;
	struct lane *lane = import_lane(im, w->thread);
	want.target = join         ? target
	              : w->message ? import_awaited(im, w->reason == FOR_FILE, w->message)
	                           : import_object(im, lane, tag, LOG_DEAD, w->object);
	lane->stuck = import_event(im, lane, want);
}

/* Leave the functions in which threads are at the end of the program, except those blocked
 * forever. */
static void leave_all(struct import *im)
{
	for (guint i = 0; i < im->lanes->len; i++) {
		struct lane *lane = &g_array_index(im->lanes, struct lane, i);
		if (lane->known && !lane->stuck)
			import_leave(im, lane, lane->functions.count, EVENT_LEFT);
	}
}

static void note_count(struct import *im, const char *key, uint64_t count)
{
	char text[32];
	snprintf(text, sizeof(text), "%" PRIu64, count);
	if (count != 0)
		builder_note(im->b, key, text);
}

/* Note polls that are not in the trace (see polls.c), and repeated accesses omitted by free
 * mode and --filter. */
static void note_repeats(struct import *im)
{
	note_count(im, "recording-repeated", im->repeated);
	note_count(im, "recording-left-out", im->header->repeated);
}

/* The analyses take the last events, and end. */
static void end_running(struct import *im)
{
	running_free(g_steal_pointer(&im->running));
}

static void import_release(struct import *im)
{
	for (guint i = 0; i < im->lanes->len; i++) {
		struct lane *lane = &g_array_index(im->lanes, struct lane, i);
		if (!lane->known)
			continue;
		column_free(&lane->functions);
		g_array_free(lane->chunks, TRUE);
		g_free(lane->reader);
		g_free(lane->expanded);
		if (lane->missing)
			g_array_free(lane->missing, TRUE);
		if (lane->stores)
			g_array_free(lane->stores, TRUE);
	}
	g_array_free(im->lanes, TRUE);
	g_tree_destroy(im->lives);
	g_ptr_array_free(im->all_lives, TRUE);
	g_string_free(im->unseen_calls, TRUE);
	g_hash_table_destroy(im->locations);
	g_array_free(im->pcs, TRUE);
	g_array_free(im->object_addresses, TRUE);
	g_array_free(im->shifts, TRUE);
	g_hash_table_destroy(im->functions);
	g_hash_table_destroy(im->once);
	g_hash_table_destroy(im->objects);
	g_byte_array_free(im->inputs, TRUE);
	g_hash_table_destroy(im->instances);
	g_hash_table_destroy(im->instance_counts);
	g_array_free(im->values, TRUE);
	names_free(im->names);
	rebase_free(im->rebase);
	g_free(im->folder);
	if (im->base && !im->lent)
		munmap((void *)im->base, im->size);
}

static bool map_log(struct import *im, const char *path, const char *name, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set(error, name, NULL, "cannot read the recording: %s",
		          g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	im->size = status.st_size;
	if (im->size < LOG_HEADER) {
		close(fd);
		return error_set(error, name, "record it again",
		                 "the recording has %" PRIu64 " bytes, not even its header",
		                 im->size);
	}
	im->base = mmap(NULL, im->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (im->base == MAP_FAILED)
		return error_set(error, name, NULL, "cannot map the recording: %s",
		                 g_strerror(errno));
	im->header = (const void *)im->base;
	if (memcmp(im->header->magic, LOG_MAGIC, 8) != 0 ||
	    im->header->version != LOG_VERSION || im->header->chunk_size != LOG_CHUNK) {
		bool ours = memcmp(im->header->magic, LOG_MAGIC, 8) == 0;
		uint32_t version = im->header->version;
		munmap((void *)im->base, im->size);
		return ours ? error_set(error, name, "record it again with this version",
		                        "a recording of version %u, expected %u", version,
		                        LOG_VERSION)
		            : error_set(error, name, NULL, "not a recording");
	}
	return true;
}

/* Note the command line, for `:replay` in the explorer. */
static void note_command(struct import *im)
{
	if (im->facts->argv == NULL)
		return;
	GString *command = g_string_new(NULL);
	for (char **word = im->facts->argv; *word; word++) {
		char *quoted = g_shell_quote(*word);
		bool plain = **word &&
		             strspn(*word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
		                           "qrstuvwxyz0123456789_-+=./,:@%") == strlen(*word);
		g_string_append_printf(command, "%s%s", command->len ? " " : "",
		                       plain ? *word : quoted);
		g_free(quoted);
	}
	builder_note(im->b, "recording-command", command->str);
	g_string_free(command, TRUE);
	if (im->facts->start_at)
		builder_note(im->b, "recording-start", im->facts->start_at);
	if (im->facts->forked)
		builder_note(im->b, RECORDED_FORKED_NOTE, "1");
	if (im->facts->how)
		builder_note(im->b, RECORDED_HOW_NOTE, im->facts->how);
	if (im->facts->suppressions)
		builder_note(im->b, SUPPRESSIONS_NOTE, im->facts->suppressions);
	if (im->facts->surroundings)
		builder_note(im->b, SURROUNDINGS_NOTE, im->facts->surroundings);
	const GPtrArray *specs = im->facts->specs;
	for (guint i = 0; specs != NULL && i < specs->len; i++) {
		char *found = spec_path(specs->pdata[i]);
		char *file = g_canonicalize_filename(found, NULL);
		g_free(found);
		builder_note(im->b, "recording-spec", file);
		g_free(file);
	}
}

static int compare_addresses(gconstpointer a, gconstpointer b, gpointer data)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

void import_init(struct import *im, const char *path, const char *name)
{
	if (im->reader == NULL)
		im->reader = g_new0(struct log_reader, 1);
	im->folder = file_folder(path);
	struct trace_options options = { .lenient = true,
		                         .folder = im->folder,
		                         .writer = im->facts->writer };
	im->b = builder_new(name, &options);
	im->lanes = g_array_new(FALSE, TRUE, sizeof(struct lane));
	im->lives = g_tree_new_full(compare_addresses, NULL, NULL, NULL);
	im->all_lives = g_ptr_array_new_with_free_func(g_free);
	im->locations = g_hash_table_new(NULL, NULL);
	im->pcs = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	im->object_addresses = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	im->shifts = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	im->functions = g_hash_table_new(NULL, NULL);
	im->once = g_hash_table_new(NULL, NULL);
	im->objects = import_objects_new();
	im->inputs = g_byte_array_new();
	im->unseen_calls = g_string_new(NULL);
	im->instances = import_instances_new();
	im->instance_counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	im->values = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (!(im->header->flags & LOG_ASLR_OFF))
		im->rebase = rebase_new();
	im->frames = im->header->flags & LOG_CONTROLLED;
	im->unnamed = im->facts->writer && !trace_writer_keeps(im->facts->writer);
	im->names = names_new(im->folder, im->facts->debug);
	builder_namer(im->b, names_namer(im->names));
	if (im->running)
		running_begin(im->running);
	im->facts->blocked = g_array_new(FALSE, FALSE, sizeof(struct record_wait));
	im->facts->turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	im->facts->ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	im->facts->states = g_array_new(FALSE, FALSE, sizeof(struct record_state));
	if (im->header->flags & LOG_EXPLORE)
		im->facts->sums = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (im->header->flags & LOG_EXPLORE)
		im->facts->inits = g_array_new(FALSE, FALSE, sizeof(struct record_init));
	im->facts->missing = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	im->facts->taken = g_array_new(FALSE, FALSE, sizeof(struct record_taken));
	im->facts->unordered = g_ptr_array_new_with_free_func(g_free);
	im->facts->ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	im->facts->modules = g_array_new(FALSE, FALSE, sizeof(struct record_module));
}

/* Take the facts that the log's header has at its end. */
static void take_header(struct import *im)
{
	const struct log_header *header = im->header;
	im->facts->status = header->status;
	im->facts->outcome = header->outcome;
	im->facts->flags = header->flags;
	im->facts->stolen = header->stolen;
	im->facts->error = header->error;
	im->facts->holder = header->holder;
	im->facts->replayed = header->replayed;
	im->facts->happened = header->happened;
	im->facts->misuses = header->misuses;
}

char *record_lacking(uint32_t happened)
{
	static const struct {
		enum log_happened bit;
		const char *who;
	} lacking[] = {
		{ LOG_UNKNOWN_THREAD,
		  "threads that neither pthread_create nor thrd_create started (the C library's "
		  "own for aio_read and its kin, mq_notify and getaddrinfo_a, or those of "
		  "clone)" },
		{ LOG_UNHELD, "signal handlers inside blocking calls" },
		{ LOG_CHILD_THREADS, "child processes that created threads of their own" },
	};
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(lacking); i++)
		if (happened & lacking[i].bit)
			g_string_append_printf(text, "%s%s", text->len ? ", and " : "",
			                       lacking[i].who);
	return g_string_free(text, text->len == 0);
}

static void note_inputs(struct import *im)
{
	if (im->inputs->len == 0)
		return;
	char *count = inputs_count(im->inputs), *packed = inputs_pack(im->inputs);
	builder_note(im->b, INPUTS_NOTE, count);
	if (packed)
		builder_note(im->b, INPUTS_BYTES_NOTE, packed);
	else
		builder_warn(im->b,
		             "what came from outside (%s) is too much for the trace and was "
		             "left out: replay needs it again",
		             count);
	g_free(count);
	g_free(packed);
}

/* Note how it was recorded, for replay and the explorer. */
static void note_recording(struct import *im)
{
	char seed[32];
	note_command(im);
	builder_note(im->b, "recording",
	             im->header->flags & LOG_CONTROLLED ? "controlled" : "free");
	if (im->header->flags & LOG_SAMPLE)
		note_count(im, TRACE_SAMPLE_NOTE, im->header->sample);
	else if (im->header->flags & LOG_FILTER)
		builder_note(im->b, TRACE_FILTER_NOTE,
		             im->header->flags & LOG_FILTER_HB          ? "hb"
		             : im->header->flags & LOG_FILTER_WCP       ? "wcp"
		             : im->header->flags & LOG_FILTER_VARIABLES ? TRACE_FILTER_VARIABLES
		                                                        : TRACE_FILTER_COMMUTE);
	snprintf(seed, sizeof(seed), "%" PRIu64, im->header->seed);
	builder_note(im->b, "recording-seed", seed);
	if (im->header->memory == LOG_TSO || im->header->memory == LOG_RC11)
		builder_note(im->b, WEAK_MODEL_NOTE, weak_model_words[im->header->memory]);
	if (!(im->header->flags & LOG_ASLR_OFF))
		builder_note(im->b, "recording-addresses", "numbered");
	note_count(im, "recording-clocks", im->clocks);
	for (guint i = 0; i < im->facts->blocked->len; i++) {
		const struct record_wait *w =
		        &g_array_index(im->facts->blocked, struct record_wait, i);
		im->futexes += w->reason == FOR_FUTEX && !(w->object & LOG_FUTEX_BIT);
	}
	note_count(im, FUTEX_NOTE, im->futexes);
	if (im->unseen_calls->len > 0)
		builder_note(im->b, TRACE_UNSEEN_CALLS_NOTE, im->unseen_calls->str);
	note_inputs(im);
	note_repeats(im);
	g_autofree char *lacking = record_lacking(im->header->happened);
	if (lacking != NULL)
		builder_note(im->b, TRACE_LACKING_NOTE, lacking);
}

static void warn(struct import *im)
{
	im->facts->unread = im->damaged + im->unread;
	if (im->refused)
		builder_warn(im->b,
		             "%" PRIu64 " recorded events are not well-formed and were left "
		             "out (the first: %s)",
		             im->refused, im->first_refusal.what);
	if (im->damaged)
		builder_warn(im->b,
		             "%" PRIu64 " compressed chunks of the recording are damaged and "
		             "were left out",
		             im->damaged);
	if (im->unread)
		builder_warn(im->b,
		             "%" PRIu64 " chunks of the recording have a record that cannot be "
		             "read: it and those after it in the chunk were left out",
		             im->unread);
	if (im->facts->stolen)
		builder_warn(im->b,
		             "%u times a thread blocked or spun in what is not modelled: "
		             "this schedule may not come again",
		             im->facts->stolen);
}

static void clear_facts(struct record_facts *facts)
{
	*facts = (struct record_facts){ .argv = facts->argv,
		                        .start_at = facts->start_at,
		                        .suppressions = facts->suppressions,
		                        .surroundings = facts->surroundings,
		                        .how = facts->how,
		                        .forked = facts->forked,
		                        .specs = facts->specs,
		                        .debug = facts->debug,
		                        .writer = facts->writer };
}

/* The tables of the last import, kept for the next one: an exploration makes thousands, and
 * an import has a megabyte of tables of which a small log uses little. */
static struct import *spare;

static void put_away(struct import *im)
{
	struct log_reader *reader = im->reader;
	bool clears = im->lent && im->chunks_read <= 1 && reader != NULL;
	if (clears) {
		memset(&im->sites[0], 0, sizeof(im->sites[0])); /* for records without a slot */
		for (uint32_t i = 0; i < reader->used_count; i++)
			memset(&im->sites[reader->used[i]], 0, sizeof(im->sites[0]));
		uint32_t rights = im->rights;
		memset(im, 0, offsetof(struct import, sites));
		im->reader = reader;
		im->rights = rights;
		im = g_atomic_pointer_exchange(&spare, im);
	}
	if (im != NULL)
		g_free(im->reader);
	g_free(im);
}

struct import *import_new(struct record_facts *facts)
{
	struct import *im = g_atomic_pointer_exchange(&spare, NULL);
	if (im == NULL)
		im = g_new0(struct import, 1);
	im->facts = facts;
	im->flat = NONE;
	im->crash.thread = NONE;
	clear_facts(facts);
	return im;
}

/* Imports the rest of the log, and the facts known only at the end. */
static struct trace *import_all(struct import *im, const char *name,
                                const struct progress *progress, struct error *error)
{
	bool controlled = im->header->flags & LOG_CONTROLLED;
	GArray *chunks = find_chunks(im);
	take_header(im);
	bool whole = controlled ? read_controlled(im, chunks, progress)
	                        : read_free(im, chunks, progress);
	g_array_free(chunks, TRUE);
	end_running(im);
	if (controlled)
		note_turn(im, true);
	for (guint i = 0; i < im->facts->blocked->len; i++)
		add_want(im, &g_array_index(im->facts->blocked, struct record_wait, i));
	leave_all(im);
	if (im->header->child_pc != 0)
		import_misuse(im, import_lane(im, im->header->child_of), MISUSE_FORK_HELD,
		              im->header->child_pc, im->header->child_lock);
	note_recording(im);
	import_missing_end(im);
	warn(im);
	uint32_t status = im->header->status;
	bool complete = status == LOG_EXITED || status == LOG_DEADLOCK ||
	                status == LOG_EXECED || status == LOG_DIVERGED;
	bool values = im->header->flags & LOG_VALUES;
	if (!whole) {
		error_set(error, name, NULL, "stopped while reading the recording");
		builder_free(im->b);
		return NULL;
	}
	im->facts->events = builder_event_count(im->b);
	if (im->unnamed && status != LOG_DEADLOCK)
		return builder_forget(im->b);
	for (guint i = 0; im->rebase && i < im->lanes->len; i++)
		import_thread_pointer(im, i);
	struct trace *t = builder_finish(im->b, complete || status == LOG_RUNNING, error);
	if (t == NULL)
		return NULL;
	t->order_exact = controlled;
	t->filtered = im->header->flags & LOG_FILTER;
	t->values_exact = controlled && values && !t->filtered;
	if (im->crash.thread != NONE)
		trace_note_crash(t, im->crash.thread, im->crash.address, im->crash.location);
	const GPtrArray *unread = names_warnings(im->names);
	for (guint i = 0; i < unread->len; i++)
		g_ptr_array_add(t->warnings, g_strdup(unread->pdata[i]));
	return t;
}

void import_free(struct import *im)
{
	end_running(im);
	builder_free(im->b);
	im->base = NULL;
	import_release(im);
	put_away(im);
}

struct trace *import_finish(struct import *im, const char *path, const char *name,
                            const struct progress *progress, struct error *error)
{
	struct trace *t = NULL;
	bool begun = im->b != NULL;
	if (map_log(im, path, name, error)) {
		if (!begun)
			import_init(im, path, name);
		t = import_all(im, name, progress, error);
		import_release(im);
	} else if (begun) {
		end_running(im);
		builder_free(im->b);
		im->base = NULL;
		import_release(im);
	}
	end_running(im);
	put_away(im);
	return t;
}

struct trace *record_import_memory(const void *log, uint64_t size, const char *path,
                                   const char *name, struct record_facts *facts,
                                   struct error *error)
{
	struct import *im = import_new(facts);
	im->base = log;
	im->size = size;
	im->lent = true;
	im->header = log;
	import_init(im, path, name);
	struct trace *t = import_all(im, name, NULL, error);
	import_release(im);
	put_away(im);
	return t;
}

struct trace *record_import(const char *path, const char *name, struct record_facts *facts,
                            const struct progress *progress, struct error *error)
{
	struct record_facts own = { 0 };
	struct trace *t =
	        import_finish(import_new(facts ? facts : &own), path, name, progress, error);
	if (!facts)
		record_facts_release(&own);
	return t;
}
