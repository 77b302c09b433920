/*
 * witness_file.c - witness files (reports.md, "Witness files"): reading and writing.
 */
#include "engine/witness/witness.h"
#include "engine/base/file.h"
#include "engine/base/input.h"

#include <stdio.h>
#include <string.h>

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
	for (int claim = 0; claim < CLAIM_COUNT; claim++) {
		if (strcmp(rest, claim_word((enum claim)claim)) == 0) {
			r->w->claim = (enum claim)claim;
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
	        claim_word(w->claim));
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
