/*
 * witness.c - witness files (reports.md, "Witness files"); fewer context switches, and the
 * reason for each. The checker judges, not this file.
 */
#include "engine/witness/witness.h"
#include "engine/base/file.h"
#include "engine/base/input.h"
#include "engine/witness/regroup.h"

#include <stdio.h>
#include <string.h>

static const char *const claim_words[] = {
	[CLAIM_RACE] = "race",     [CLAIM_C11_RACE] = "c11-race", [CLAIM_COV] = "cov",
	[CLAIM_ATOMIC] = "atomic", [CLAIM_DEADLOCK] = "deadlock", [CLAIM_STUCK] = "stuck",
	[CLAIM_PREFIX] = "prefix", [CLAIM_REACH] = "reach",
};

const char *claim_word(enum claim claim)
{
	return claim_words[claim];
}

bool claim_waits(enum claim claim)
{
	return claim == CLAIM_DEADLOCK || claim == CLAIM_STUCK;
}

static bool events_fit(const struct trace *t, const GArray *events, struct error *error)
{
	for (guint i = 0; events != NULL && i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);

		if (e >= t->events_count)
			return error_set(
			        error, trace_name(t), NULL,
			        "the witness names event %u, the trace has %" G_GUINT64_FORMAT,
			        e, t->events_count);
	}
	return true;
}

bool witness_fits(const struct trace *t, const struct witness *w, struct error *error)
{
	for (guint i = 0; w->weak && i < w->weak->len; i++) {
		uint32_t store = g_array_index(w->weak, struct weak_source, i).store;

		if (store != NONE && store >= t->events_count)
			return error_set(
			        error, trace_name(t), "verify the witness with its own trace",
			        "the witness names event %u, and the trace has %" G_GUINT64_FORMAT,
			        store, t->events_count);
	}
	return events_fit(t, w->events, error) && events_fit(t, w->pair, error);
}

enum claim finding_claim(const struct finding *f)
{
	switch (f->kind) {
	case FINDING_DATA_RACE:
		return f->note != NULL ? CLAIM_C11_RACE : CLAIM_RACE;
	case FINDING_DEADLOCK:
		return CLAIM_DEADLOCK;
	case FINDING_STUCK:
		return CLAIM_STUCK;
	case FINDING_ATOMIC_SET_VIOLATION:
		return CLAIM_ATOMIC;
	default:
		return CLAIM_COV;
	}
}

void witness_release(struct witness *w)
{
	g_free(w->trace_name);
	g_free(w->trace_digest);
	g_free(w->condition);
	if (w->pair != NULL)
		g_array_unref(w->pair);
	if (w->events != NULL)
		g_array_unref(w->events);
	if (w->weak != NULL)
		g_array_unref(w->weak);
	if (w->under_specs != NULL)
		g_ptr_array_unref(w->under_specs);
	*w = (struct witness){ 0 };
}

/* -- reading ------------------------------------------------------------------------------- */

struct witness_reader {
	const char *path;
	uint64_t line;
	struct witness *w;
	struct error *error;
	bool version, kind, units;
	uint64_t paired; /* the line with the pair, or 0 */
	unsigned seen;   /* bit set of headers */
};

static bool witness_bad(struct witness_reader *r, const char *expected, const char *found)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_escaped(text, found, MIN(strlen(found), 60));
	return error_set(r->error, place_line(r->path, r->line).text,
	                 "make the file with 'heddle witness'", "expected %s, found '%s'",
	                 expected, text->str);
}

/* Parse a 32-bit number at `*text`, which is advanced past it and following blanks. */
static bool parse_event_number(const char **text, uint32_t *value)
{
	uint64_t n = 0;
	const char *p = *text;

	if (!g_ascii_isdigit(*p))
		return false;
	for (; g_ascii_isdigit(*p); p++) {
		n = 10 * n + (uint64_t)(*p - '0');
		if (n >= NONE)
			return false;
	}
	if (*p != '\0' && *p != ' ' && *p != '\t')
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	*text = p;
	*value = (uint32_t)n;
	return true;
}

static bool read_version(struct witness_reader *r, const char *rest)
{
	r->version = strcmp(rest, "1") == 0;
	return r->version || witness_bad(r, "a witness of version 1", rest);
}

static bool is_digest(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

static bool read_trace(struct witness_reader *r, const char *rest)
{
	const char *blank = strrchr(rest, ' ');

	if (blank != NULL && strcmp(blank + 1, "-") != 0 && !is_digest(blank + 1))
		return witness_bad(r, "the trace's SHA-256 (or -) after its name", rest);
	g_free(r->w->trace_name);
	g_free(r->w->trace_digest);
	r->w->trace_name = blank == NULL ? g_strdup(rest) : g_strndup(rest, blank - rest);
	bool known = blank != NULL && strcmp(blank + 1, "-") != 0;
	r->w->trace_digest = g_strdup(known ? blank + 1 : "");
	return true;
}

static bool read_kind(struct witness_reader *r, const char *rest)
{
	for (size_t i = 0; i < G_N_ELEMENTS(claim_words); i++) {
		if (strcmp(rest, claim_words[i]) == 0) {
			r->w->claim = (enum claim)i;
			r->kind = true;
			return true;
		}
	}
	return witness_bad(
	        r,
	        "one of the kinds race, c11-race, cov, atomic, deadlock, stuck, prefix, reach",
	        rest);
}

static bool read_pair(struct witness_reader *r, const char *rest)
{
	const char *p = rest;
	uint32_t e;

	g_array_set_size(r->w->pair, 0);
	while (parse_event_number(&p, &e))
		g_array_append_val(r->w->pair, e);
	r->paired = r->line;
	/* for these claims one thread may suffice */
	guint least = claim_waits(r->w->claim) || r->w->claim == CLAIM_REACH ? 1 : 2;
	return *p == '\0' && r->w->pair->len >= least ? true
	                                              : witness_bad(r, "two events", rest);
}

/* The units of a cycle, by their first events. */
static bool read_units(struct witness_reader *r, const char *rest)
{
	const char *p = rest;
	uint32_t e;

	g_array_set_size(r->w->pair, 0);
	while (parse_event_number(&p, &e))
		g_array_append_val(r->w->pair, e);
	r->units = true;
	return *p == '\0' && r->w->pair->len >= 2 ? true
	                                          : witness_bad(r, "two units or more", rest);
}

/* Reverse append_spec: \xHH is a byte. Owned by the caller. */
static char *read_spec(const char *text)
{
	GString *name = g_string_new(NULL);

	for (const char *p = text; *p != '\0'; p++) {
		bool escaped = p[0] == '\\' && p[1] == 'x' && g_ascii_isxdigit(p[2]) &&
		               g_ascii_isxdigit(p[3]);
		char byte = escaped ? (char)(g_ascii_xdigit_value(p[2]) * 16 +
		                             g_ascii_xdigit_value(p[3]))
		                    : *p;

		g_string_append_c(name, byte);
		p += escaped ? 3 : 0;
	}
	return g_string_free(name, FALSE);
}

static bool read_under(struct witness_reader *r, const char *rest)
{
	g_auto(GStrv) words = g_strsplit(rest, ",", -1);
	bool good = true;

	for (char **word = words; *word != NULL && good; word++) {
		if (strcmp(*word, "values") == 0)
			r->w->under_values = true;
		else if (strcmp(*word, "missing") == 0)
			r->w->under_missing = true;
		else if (strncmp(*word, "spec=", 5) == 0)
			g_ptr_array_add(r->w->under_specs, read_spec(*word + 5));
		else if (**word != '\0')
			good = witness_bad(r, "values, missing or spec=FILE:SHA256", *word);
	}
	return good;
}

static bool read_condition(struct witness_reader *r, const char *rest)
{
	g_free(r->w->condition);
	r->w->condition = g_strdup(rest);
	return *rest != '\0' || witness_bad(r, "a condition", rest);
}

static bool read_memory(struct witness_reader *r, const char *rest)
{
	for (int i = 0; weak_model_words[i]; i++)
		if (strcmp(rest, weak_model_words[i]) == 0) {
			r->w->memory = (enum weak_model)i;
			return true;
		}
	return witness_bad(r, "one of the memory models sc, tso, rc11", rest);
}

/* "# reads 12", "# after -": of the event in the line before.  Other comments are ignored. */
static bool read_weak(struct witness_reader *r, const char *comment)
{
	static const char *const words[] = {
		[WEAK_READS] = "# reads ", [WEAK_AFTER] = "# after "
	};

	for (uint32_t kind = WEAK_READS; kind <= WEAK_AFTER; kind++) {
		if (strncmp(comment, words[kind], strlen(words[kind])) != 0)
			continue;
		const char *p = comment + strlen(words[kind]);
		uint32_t store = NONE;
		bool initial = strcmp(p, "-") == 0;

		if (r->w->events->len == 0 ||
		    (!initial && (!parse_event_number(&p, &store) || *p != '\0')))
			return witness_bad(r,
			                   "a store's event, or - for the initial value, after "
			                   "an event's line",
			                   comment);
		struct weak_source source = { .event = g_array_index(r->w->events, uint32_t,
			                                             r->w->events->len - 1),
			                      .store = store,
			                      .kind = kind };
		g_array_append_val(r->w->weak, source);
	}
	return true;
}

static const struct {
	const char *word;
	bool (*read)(struct witness_reader *r, const char *rest);
} headers[] = {
	{ "heddle-witness", read_version },
	{ "trace", read_trace },
	{ "kind", read_kind },
	{ "pair", read_pair },
	{ "units", read_units },
	{ "under", read_under },
	{ "memory", read_memory },
	{ "condition", read_condition },
};

static bool read_header(struct witness_reader *r, const char *line)
{
	const char *word = line + 2; /* after "#!" */

	word += strspn(word, " \t");
	size_t length = strcspn(word, " \t");
	for (size_t i = 0; i < G_N_ELEMENTS(headers); i++) {
		if (strlen(headers[i].word) == length &&
		    strncmp(headers[i].word, word, length) == 0) {
			if (!r->version && headers[i].read != read_version)
				return witness_bad(r, "'#! heddle-witness 1' first", line);
			if (r->seen >> i & 1 && headers[i].read != read_under)
				return witness_bad(r, "each header once", line);
			r->seen |= 1u << i;
			return headers[i].read(r, word + length + strspn(word + length, " \t"));
		}
	}
	return true; /* a header of a later version */
}

static bool read_line(struct witness_reader *r, const char *line)
{
	const char *p = line + strspn(line, " \t");
	uint32_t e;

	if (*p == '\0')
		return true;
	if (p[0] == '#' && p[1] == '!')
		return read_header(r, p);
	if (!r->version)
		return witness_bad(r, "a witness file, which begins with '#! heddle-witness 1'",
		                   line);
	if (*p == '#')
		return read_weak(r, p);
	if (!parse_event_number(&p, &e) || (*p != '\0' && *p != '#'))
		return witness_bad(r, "an event's number", line);
	g_array_append_val(r->w->events, e);
	return true;
}

static bool read_lines(struct witness_reader *r, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *stop = memchr(text, '\n', end - text);
		g_autofree char *line = NULL;

		r->line++;
		if (stop == NULL)
			stop = end;
		if (memchr(text, '\0', stop - text) != NULL)
			return witness_bad(r, "text", "a NUL byte");
		line = g_strndup(text, stop - text);
		g_strchomp(line);
		if (!read_line(r, line))
			return false;
		text = stop + 1;
	}
	return true;
}

static bool read_complete(struct witness_reader *r)
{
	if (!r->version)
		return error_set(r->error, place_line(r->path, 0).text,
		                 "make the file with 'heddle witness'",
		                 "expected a witness file, found no '#! heddle-witness 1'");
	if (!r->kind)
		return error_set(r->error, place_line(r->path, 0).text, NULL,
		                 "expected a header '#! kind race', found none");
	if (r->units && r->w->claim != CLAIM_ATOMIC)
		return error_set(r->error, place_line(r->path, 0).text, NULL,
		                 "a header '#! units' belongs to '#! kind atomic' alone");
	if (r->units && r->paired)
		return error_set(r->error, place_line(r->path, 0).text,
		                 "leave one of the two out",
		                 "expected '#! pair' or '#! units', found both");
	if (r->paired && r->w->claim <= CLAIM_COV && r->w->pair->len != 2)
		return error_set(r->error, place_line(r->path, r->paired).text,
		                 "make the file with 'heddle witness'",
		                 "expected two events, found %u", r->w->pair->len);
	if ((r->w->claim == CLAIM_REACH) != (r->w->condition != NULL))
		return error_set(
		        r->error, place_line(r->path, 0).text,
		        "make the file with :reach of the explorer",
		        "a header '#! condition' belongs to '#! kind reach', and to it "
		        "alone");
	if (r->w->claim == CLAIM_REACH && r->w->pair->len > 1)
		return error_set(r->error, place_line(r->path, r->paired).text, NULL,
		                 "expected one event, to which a thread comes, found %u",
		                 r->w->pair->len);
	if (r->w->pair->len == 0 && r->w->claim != CLAIM_ATOMIC && r->w->claim != CLAIM_PREFIX)
		return error_set(r->error, place_line(r->path, 0).text, NULL,
		                 "expected a header '#! pair E1 E2', found none");
	return true;
}

bool witness_read(const char *path, struct witness *w, struct error *error)
{
	struct witness_reader r = { .path = path, .w = w, .error = error };
	g_autofree char *text = NULL;
	size_t length;

	*w = (struct witness){ 0 };
	if ((text = input_text(path, "witness", &length, error)) == NULL)
		return false;
	w->pair = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->weak = g_array_new(FALSE, FALSE, sizeof(struct weak_source));
	w->under_specs = g_ptr_array_new_with_free_func(g_free);
	const char *lines = input_skip_mark(text, &length);
	bool good = read_lines(&r, lines, length) && read_complete(&r);
	if (!good)
		witness_release(w);
	return good;
}

/* -- writing ------------------------------------------------------------------------------- */

char *trace_digest(const struct trace *t)
{
	if (t->digest != NULL)
		return g_strdup(t->digest);
	char *digest = t->path == NULL ? NULL : file_digest(t->path);
	return digest != NULL ? digest : g_strdup("");
}

void witness_of_run(const struct trace *t, const char *path, struct witness *w)
{
	*w = (struct witness){ .claim = CLAIM_PREFIX,
		               .trace_name = g_path_get_basename(path),
		               .trace_digest = file_digest(path),
		               .memory = trace_model(t),
		               .events = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		               .weak = g_array_new(FALSE, FALSE, sizeof(struct weak_source)) };
	for (uint32_t e = 0; e < t->events_count; e++)
		if (!op_wants(t->events[e].op))
			g_array_append_val(w->events, e);
	g_array_append_vals(w->weak, t->weak, (guint)t->weak_count);
}

/* FILE:SHA256 as a word of "#! under": bytes that would end the word or the line, and the
 * backslash, as \xHH. */
static void append_spec(const char *spec, GString *out)
{
	for (const char *p = spec; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == ',' || *p == '\\')
			g_string_append_printf(out, "\\x%02X", (unsigned char)*p);
		else
			g_string_append_c(out, *p);
	}
}

static void print_under(const struct witness *w, GString *out)
{
	const char *separator = " ";

	if (!w->under_values && !w->under_missing &&
	    (w->under_specs == NULL || w->under_specs->len == 0))
		return;
	g_string_append(out, "#! under");
	if (w->under_values) {
		g_string_append_printf(out, "%svalues", separator);
		separator = ",";
	}
	if (w->under_missing) {
		g_string_append_printf(out, "%smissing", separator);
		separator = ",";
	}
	for (guint i = 0; w->under_specs != NULL && i < w->under_specs->len; i++) {
		g_string_append_printf(out, "%sspec=", separator);
		append_spec(w->under_specs->pdata[i], out);
		separator = ",";
	}
	g_string_append_c(out, '\n');
}

static void print_weak(const struct witness *w, uint32_t event, GString *out)
{
	for (guint i = 0; w->weak && i < w->weak->len; i++) {
		const struct weak_source *s = &g_array_index(w->weak, struct weak_source, i);

		if (s->event != event)
			continue;
		g_string_append(out, s->kind == WEAK_READS ? "# reads " : "# after ");
		if (s->store == NONE)
			g_string_append(out, "-\n");
		else
			g_string_append_printf(out, "%u\n", s->store);
	}
}

void witness_print(const struct trace *t, const struct witness *w, GString *out)
{
	g_autoptr(GString) name = g_string_new(NULL);

	append_escaped(name, w->trace_name == NULL ? "-" : w->trace_name,
	               strlen(w->trace_name == NULL ? "-" : w->trace_name));
	g_string_append_printf(
	        out, "#! heddle-witness 1\n#! trace %s %s\n#! kind %s\n", name->str,
	        w->trace_digest == NULL || *w->trace_digest == '\0' ? "-" : w->trace_digest,
	        claim_words[w->claim]);
	if (w->pair != NULL && w->pair->len > 0) {
		g_string_append(out, w->claim == CLAIM_ATOMIC ? "#! units" : "#! pair");
		for (guint i = 0; i < w->pair->len; i++)
			g_string_append_printf(out, " %u", g_array_index(w->pair, uint32_t, i));
		g_string_append_c(out, '\n');
	}
	if (w->condition)
		g_string_append_printf(out, "#! condition %s\n", w->condition);
	print_under(w, out);
	if (w->memory != WEAK_SC)
		g_string_append_printf(out, "#! memory %s\n", weak_model_words[w->memory]);
	for (guint i = 0; i < w->events->len; i++) {
		uint32_t e = g_array_index(w->events, uint32_t, i);

		g_string_append_printf(out, "%u", e);
		if (w->events->len <= WITNESS_TEXT_LIMIT) {
			g_string_append(out, " # ");
			trace_append_line(t, e, out);
		}
		g_string_append_c(out, '\n');
		print_weak(w, e, out);
	}
}

bool witness_write(const struct trace *t, const struct witness *w, const char *path,
                   struct error *error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	witness_print(t, w, text);
	return file_may_become(path, FILE_WITNESS, error) &&
	       file_write_whole(path, text->str, text->len, error);
}

/* -- fewer context switches ---------------------------------------------------------------- */

struct minimiser {
	const struct trace *t;
	struct checker *checker;
	enum claim claim;
	const uint32_t *pair;
	size_t pair_count;
	uint32_t fixed; /* number of events at the end that stay: the pair */
	GArray *events, *trial;
	/* The claim names its required events: others may be dropped, and conflicting ones may
	 * change places. */
	bool drops;
	uint64_t steps, limit; /* work: events checked so far, and their bound */
};

static uint32_t switches_of(const struct trace *t, const GArray *events)
{
	return witness_count_switches(t, (const uint32_t *)(void *)events->data, events->len);
}

static bool still_good(struct minimiser *z)
{
	z->steps += z->trial->len;
	return checker_claim(z->checker, (const uint32_t *)z->trial->data, z->trial->len,
	                     z->claim, z->pair, z->pair_count, NULL);
}

/* Move the events [from, from + count) to index `to` of the remaining ones. */
static bool move_run(struct minimiser *z, uint32_t from, uint32_t count, uint32_t to)
{
	const uint32_t *events = (const uint32_t *)z->events->data;
	uint32_t rest = z->events->len - count, k = 0;

	g_array_set_size(z->trial, 0);
	for (uint32_t i = 0; i <= rest; i++) {
		if (i == to)
			g_array_append_vals(z->trial, events + from, count);
		if (i == rest)
			break;
		if (k == from)
			k += count;
		g_array_append_vals(z->trial, events + k++, 1);
	}
	if (switches_of(z->t, z->trial) >= switches_of(z->t, z->events))
		return false;
	if (!still_good(z))
		return false;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
	return true;
}

static uint32_t run_end(const struct minimiser *z, uint32_t from)
{
	const uint32_t *e = (const uint32_t *)z->events->data;
	uint32_t end = from + 1;

	while (end < z->events->len - z->fixed &&
	       z->t->events[e[end]].thread == z->t->events[e[from]].thread)
		end++;
	return end;
}

/* Drop the end of one thread if the claim still holds. */
static bool drop_run(struct minimiser *z, uint32_t from, uint32_t count)
{
	g_array_set_size(z->trial, 0);
	g_array_append_vals(z->trial, z->events->data, from);
	g_array_append_vals(z->trial, (const uint32_t *)z->events->data + from + count,
	                    z->events->len - from - count);
	if (!still_good(z))
		return false;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
	return true;
}

/* Join the run that begins at `from` to the thread's run before or after it. */
static bool join_run(struct minimiser *z, uint32_t from)
{
	const uint32_t *e = (const uint32_t *)z->events->data;
	uint32_t end = run_end(z, from), last = z->events->len - z->fixed;
	uint32_t thread = z->t->events[e[from]].thread;

	for (uint32_t i = from; i-- > 0;) {
		if (z->t->events[e[i]].thread != thread)
			continue;
		if (move_run(z, from, end - from, i + 1))
			return true;
		break;
	}
	for (uint32_t i = end; i < last; i++) {
		if (z->t->events[e[i]].thread != thread)
			continue;
		return move_run(z, from, end - from, i - (end - from));
	}
	return false;
}

enum { MINIMISE_STEPS = 4000000 }; /* checked events, about a second */

static bool minimise_once(struct minimiser *z)
{
	uint32_t from = 0;
	bool better = false;

	while (from < z->events->len - z->fixed && z->steps < z->limit) {
		uint32_t end = run_end(z, from);

		if ((z->drops && drop_run(z, from, end - from)) || join_run(z, from))
			better = true; /* continue from the improved order */
		else
			from = end;
	}
	return better;
}

/* Reorder all events at once, before single moves. */
static void minimise_regroup(struct minimiser *z)
{
	g_array_set_size(z->trial, 0);
	g_array_append_vals(z->trial, z->events->data, z->events->len);
	if (!witness_regroup(z->t, z->trial, z->fixed) || !still_good(z))
		return;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
}

/* Minimises until about `limit` events have been checked. */
static void minimise_within(struct checker *checker, uint64_t limit, const struct trace *t,
                            enum claim claim, const uint32_t *pair, size_t pair_count,
                            GArray *events)
{
	struct minimiser z = {
		.t = t,
		.checker = checker,
		.claim = claim,
		.pair = pair,
		.pair_count = pair_count,
		.fixed = claim == CLAIM_RACE ? 2
		         : claim == CLAIM_COV || claim == CLAIM_C11_RACE || claim == CLAIM_REACH
		                 ? 1
		                 : 0,
		.drops = claim != CLAIM_ATOMIC && claim != CLAIM_PREFIX && claim != CLAIM_REACH,
		.events = events,
		.trial = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.limit = limit,
	};

	if (claim_waits(claim) && events->len >= pair_count)
		z.fixed = (uint32_t)pair_count;
	minimise_regroup(&z);
	while (z.drops && events->len > z.fixed && z.steps < z.limit && minimise_once(&z))
		;
	g_array_unref(z.trial);
}

GArray *witness_polished(struct checker *checker, const struct trace *t, enum claim claim,
                         const uint32_t *pair, size_t pair_count, const GArray *events)
{
	enum { STEPS = 1 << 17, LONGEST = 1 << 17 };
	GArray *better = g_array_copy((GArray *)events);

	if (events->len <= LONGEST)
		minimise_within(checker, STEPS, t, claim, pair, pair_count, better);
	return better;
}

void witness_minimise(const struct trace *t, enum claim claim, const uint32_t *pair,
                      size_t pair_count, const struct check_options *options, GArray *events)
{
	struct checker *checker = checker_new(t, options);

	minimise_within(checker, MINIMISE_STEPS, t, claim, pair, pair_count, events);
	checker_free(checker);
}

/* -- reasons for switches ------------------------------------------------------------------ */

static enum switch_reason reason_of(const char *text)
{
	if (g_str_has_prefix(text, "rule 2"))
		return SWITCH_READS;
	if (g_str_has_prefix(text, "rule 3"))
		return SWITCH_LOCK;
	if (g_str_has_prefix(text, "rule 4") || g_str_has_prefix(text, "rule 5") ||
	    g_str_has_prefix(text, "rule 6"))
		return SWITCH_MUST;
	return SWITCH_OPTIONAL;
}

struct switching {
	const struct trace *t;
	const uint32_t *events;
	uint32_t length;
	struct checker *checker;
	GArray *all;     /* struct context_switch */
	GArray *waiting; /* uint32_t: those of `all` whose old thread waits for a cause that is
	                  * not known yet; at most one for each thread */
};

static uint32_t thread_at(const struct switching *s, uint32_t i)
{
	return s->t->events[s->events[i]].thread;
}

/* Adds all switches, each with the old thread's next event. */
static void add_switches(struct switching *s)
{
	/* by thread: the number of its last switch away, plus one; 0: it runs, or never did */
	g_autofree uint32_t *left = g_new0(uint32_t, s->t->threads_count + 1);

	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t thread = thread_at(s, i);
		struct context_switch x = { i, SWITCH_OPTIONAL, NONE, NONE };

		if (left[thread] > 0)
			g_array_index(s->all, struct context_switch, left[thread] - 1).waits =
			        s->events[i];
		left[thread] = 0;
		if (i == 0 || thread_at(s, i - 1) == thread)
			continue;
		g_array_append_val(s->all, x);
		left[thread_at(s, i - 1)] = s->all->len;
	}
}

/* A read in the new thread's run whose value the old thread's next write would change. */
static uint32_t overwritten_reader(const struct switching *s, uint32_t at, uint32_t next)
{
	const struct event *w = &s->t->events[next];

	if (!op_is_access(w->op) || event_inert(w) || !op_writes(w->op))
		return NONE;
	for (uint32_t i = at; i < s->length && s->events[i] != next; i++) {
		const struct event *r = &s->t->events[s->events[i]];

		if (op_is_access(r->op) && !event_inert(r) && op_reads(r->op) &&
		    r->thread != w->thread && events_overlap(s->t, r, w))
			return s->events[i];
	}
	return NONE;
}

static void explain_switch(struct switching *s, uint32_t number, GString *text)
{
	struct context_switch *x = &g_array_index(s->all, struct context_switch, number);
	uint32_t next = x->waits;
	bool last = s->length >= 2 && x->at + 2 >= s->length;

	g_string_truncate(text, 0);
	x->reason = SWITCH_END;
	if (next == NONE || last || next == s->events[s->length - 1] ||
	    next == s->events[s->length - 2])
		return;
	if (!checker_enabled(s->checker, next, text)) {
		x->reason = reason_of(text->str);
		g_array_append_val(s->waiting, number);
		return;
	}
	x->because = overwritten_reader(s, x->at, next);
	x->reason = x->because == NONE ? SWITCH_OPTIONAL : SWITCH_WRITE;
}

/* Notes `e` as the cause for waiting events that it enables. */
static void note_cause(struct switching *s, uint32_t e)
{
	for (guint i = s->waiting->len; i-- > 0;) {
		uint32_t number = g_array_index(s->waiting, uint32_t, i);
		struct context_switch *x =
		        &g_array_index(s->all, struct context_switch, number);

		if (!checker_enabled(s->checker, x->waits, NULL))
			continue;
		x->because = e;
		g_array_remove_index_fast(s->waiting, i);
	}
}

GArray *witness_switches(const struct trace *t, const struct witness *w)
{
	struct check_options options = { .use_values = w->under_values,
		                         .use_missing = w->under_missing };
	struct switching s = {
		.t = t,
		.events = (const uint32_t *)w->events->data,
		.length = w->events->len,
		.checker = checker_new(t, &options),
		.all = g_array_new(FALSE, FALSE, sizeof(struct context_switch)),
		.waiting = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t number = 0;

	add_switches(&s);
	for (uint32_t i = 0; i < s.length; i++) {
		if (number < s.all->len &&
		    g_array_index(s.all, struct context_switch, number).at == i)
			explain_switch(&s, number++, text);
		if (!checker_step(s.checker, s.events[i], NULL))
			break;
		note_cause(&s, s.events[i]);
	}
	g_array_set_size(s.all, number);
	checker_free(s.checker);
	g_array_unref(s.waiting);
	return s.all;
}

/* -- the reason in words ------------------------------------------------------------------- */

static const struct {
	const char *word;
	/* text around the waiting event and the awaited one; `alone` when the latter is
	 * unknown */
	const char *before, *between, *after, *alone;
} reasons[] = {
	[SWITCH_OPTIONAL] = { "optional", "optional: ", "", "", " could be next as well" },
	[SWITCH_READS] = { "read", "needed: ", " must see ", "", " must see its write first" },
	[SWITCH_WRITE] = { "write", "needed: ", " must wait until ", " has seen the old value",
	                   "" },
	[SWITCH_LOCK] = { "lock", "needed: ", " must wait for the lock, until ", "",
	                  " must wait for the lock" },
	[SWITCH_MUST] = { "must-order", "needed: ", " must come after ", "",
	                  " must come later" },
	[SWITCH_END] = { "end", "needed: ", "", "", " is to be next, there it stops" },
};

const char *switch_word(enum switch_reason reason)
{
	return reasons[reason].word;
}

static void append_escaped_text(GString *out, const char *text)
{
	append_escaped(out, text, strlen(text));
}

/* "event 7, T1's r(x) at bank.c:31" */
static void append_event(const struct trace *t, uint32_t e, GString *out)
{
	const char *place = trace_location_name(t, e);

	g_string_append_printf(out, "event %u, ", e);
	append_escaped_text(out, trace_thread_name(t, t->events[e].thread));
	g_string_append(out, "'s ");
	trace_append_operation(t, e, out);
	if (*place != '\0') {
		g_string_append(out, " at ");
		append_escaped_text(out, place);
	}
}

void witness_append_reason(const struct trace *t, const struct context_switch *s, GString *out)
{
	if (s->waits == NONE) {
		g_string_append(out, "needed: the thread has no more events in the witness");
		return;
	}
	g_string_append(out, reasons[s->reason].before);
	append_event(t, s->waits, out);
	if (s->because == NONE) {
		g_string_append(out, reasons[s->reason].alone);
		return;
	}
	g_string_append(out, reasons[s->reason].between);
	append_event(t, s->because, out);
	g_string_append(out, reasons[s->reason].after);
}
