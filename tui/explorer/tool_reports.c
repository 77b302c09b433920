/*
 * tool_reports.c - see tool_reports.h. Reads line by line: begin of an access, its frames, end
 * of the race, in the tools' current formats.
 */
#include "tui/explorer/tool_reports.h"
#include "engine/base/input.h"

#include <stdlib.h>
#include <string.h>

static void frame_clear(void *data)
{
	struct reported_frame *frame = data;
	g_free(frame->function);
	g_free(frame->file);
}

static void race_clear(void *data)
{
	struct reported_race *race = data;
	for (int i = 0; i < 2; i++)
		g_array_free(race->sides[i], TRUE);
}

void tool_report_free(GArray *races)
{
	if (races)
		g_array_free(races, TRUE);
}

struct importer {
	GArray *races;
	struct reported_race race; /* the one being parsed */
	int side;                  /* index of its current access; -1: none yet, 2: neither */
	bool open;
	bool one_sided; /* DRD's XML */
};

static void end_race(struct importer *im)
{
	if (!im->open)
		return;
	im->open = false;
	if (im->race.sides[0]->len)
		g_array_append_val(im->races, im->race);
	else
		race_clear(&im->race);
}

static void begin_race(struct importer *im)
{
	end_race(im);
	im->open = true;
	im->side = -1;
	for (int i = 0; i < 2; i++) {
		im->race.sides[i] = g_array_new(FALSE, FALSE, sizeof(struct reported_frame));
		g_array_set_clear_func(im->race.sides[i], frame_clear);
	}
}

static void begin_side(struct importer *im)
{
	if (im->open && im->side < 2)
		im->side++;
}

/* Parse "file.c:31" or "file.c:31:5" into the frame. */
static void set_place(struct reported_frame *frame, const char *text, gsize length)
{
	g_autofree char *place = g_strndup(text, length);
	for (int numbers = 0; numbers < 2; numbers++) {
		char *colon = strrchr(place, ':');
		if (colon == NULL || !g_ascii_isdigit(colon[1]))
			break;
		frame->line = (uint32_t)strtoul(colon + 1, NULL, 10);
		*colon = '\0';
	}
	if (frame->line)
		frame->file = g_strdup(place);
}

static void add_frame(struct importer *im, struct reported_frame *frame)
{
	if (im->open && (im->side == 0 || im->side == 1))
		g_array_append_val(im->race.sides[im->side], *frame);
	else
		frame_clear(frame);
}

/* "    #0 deposit(long) /src/bank.c:31:5 (bank+0x12)" */
static bool sanitizer_frame(struct importer *im, const char *line)
{
	line += strspn(line, " ");
	if (line[0] != '#' || !g_ascii_isdigit(line[1]))
		return false;
	const char *name = line + strcspn(line, " ");
	name += strspn(name, " ");
	const char *last = NULL; /* module; clang appends " (BuildId: ...)" */
	for (const char *p = strstr(name, " ("); p; p = strstr(p + 1, " (")) {
		const char *close = strchr(p, ')'), *plus = strstr(p, "+0x");
		if (plus && (close == NULL || plus < close))
			last = p;
	}
	gsize length = last ? (gsize)(last - name) : strlen(name);
	const char *space = g_strrstr_len(name, length, " ");
	struct reported_frame frame = { 0 };
	frame.function = g_strndup(name, space ? (gsize)(space - name) : length);
	if (space)
		set_place(&frame, space + 1, length - (gsize)(space + 1 - name));
	add_frame(im, &frame);
	return true;
}

/* "==12==    at 0x10917F: deposit (bank.c:31)" */
static bool valgrind_frame(struct importer *im, const char *line)
{
	const char *at = strstr(line, " at 0x"), *by = strstr(line, " by 0x");
	const char *address = at ? at : by;
	const char *colon = address ? strstr(address, ": ") : NULL;
	if (colon == NULL)
		return false;
	const char *open = strrchr(colon + 2, '('), *close = open ? strchr(open, ')') : NULL;
	const char *name = colon + 2;
	struct reported_frame frame = { 0 };
	frame.function =
	        g_strchomp(g_strndup(name, open ? (gsize)(open - name) : strlen(name)));
	if (close)
		set_place(&frame, open + 1, (gsize)(close - open - 1));
	add_frame(im, &frame);
	return true;
}

static bool is_access(const char *line)
{
	line += strspn(line, " ");
	if (g_str_has_prefix(line, "Previous "))
		line += strlen("Previous ");
	if (g_ascii_strncasecmp(line, "atomic ", 7) == 0)
		line += 7;
	return (g_ascii_strncasecmp(line, "read of size ", 13) == 0 ||
	        g_ascii_strncasecmp(line, "write of size ", 14) == 0);
}

static bool is_blank(const char *line)
{
	if (g_str_has_prefix(line, "==")) {
		const char *rest = strstr(line + 2, "==");
		line = rest ? rest + 2 : line;
	}
	return line[strspn(line, " \r")] == '\0';
}

static void text_line(struct importer *im, const char *line)
{
	if (strstr(line, "ThreadSanitizer: data race") ||
	    strstr(line, "Possible data race during")) {
		begin_race(im);
		if (strstr(line, "Possible data race"))
			begin_side(im);
	} else if (strstr(line, "Conflicting load by thread") ||
	           strstr(line, "Conflicting store by thread")) {
		begin_race(im);
		begin_side(im);
	} else if (g_str_has_prefix(line, "==================") ||
	           g_str_has_prefix(line, "SUMMARY:")) {
		end_race(im);
	} else if (strstr(line, "Allocation context:") || strstr(line, "Other segment ")) {
		im->side = 2; /* DRD: an allocation, or the other thread's segment */
	} else if (is_access(line) || strstr(line, "This conflicts with a previous")) {
		begin_side(im);
	} else if (is_blank(line) || strstr(line, "Location is ") ||
	           strstr(line, "created by") || strstr(line, "created at")) {
		/* other stacks are of threads, blocks and locks */
		if (im->open && im->side >= 0 && im->race.sides[MIN(im->side, 1)]->len) {
			if (im->side == 1)
				im->side = 2;
		}
	} else if (!sanitizer_frame(im, line)) {
		valgrind_frame(im, line);
	}
}

/* The text between <tag> and </tag> on the line. */
static char *tagged(const char *line, const char *tag)
{
	g_autofree char *begin = g_strdup_printf("<%s>", tag),
	                *end = g_strdup_printf("</%s>", tag);
	const char *from = strstr(line, begin), *to = from ? strstr(from, end) : NULL;
	return to ? g_strndup(from + strlen(begin), (gsize)(to - from) - strlen(begin)) : NULL;
}

static void xml_line(struct importer *im, const char *line, struct reported_frame *frame)
{
	g_autofree char *kind = tagged(line, "kind"), *function = tagged(line, "fn"),
	                *file = tagged(line, "file"), *number = tagged(line, "line");
	if (kind && (strcmp(kind, "Race") == 0 || strcmp(kind, "ConflictingAccess") == 0)) {
		begin_race(im);
		im->one_sided = strcmp(kind, "ConflictingAccess") == 0;
	}
	if (strstr(line, "</error>"))
		end_race(im);
	if (strstr(line, "<stack>")) {
		begin_side(im);
		if (im->side == 1 && im->one_sided) /* allocation, segments */
			im->side = 2;
	}
	if (function) {
		g_free(frame->function);
		frame->function = g_steal_pointer(&function);
	}
	if (file) {
		g_free(frame->file);
		frame->file = g_steal_pointer(&file);
	}
	if (number)
		frame->line = (uint32_t)strtoul(number, NULL, 10);
	if (strstr(line, "</frame>")) {
		add_frame(im, frame);
		memset(frame, 0, sizeof *frame);
	}
}

GArray *tool_report_read(const char *path, struct error *error)
{
	g_autofree char *text = input_text(path, "report", NULL, error);
	if (text == NULL)
		return NULL;
	struct importer im = { .races = g_array_new(FALSE, FALSE,
		                                    sizeof(struct reported_race)) };
	struct reported_frame frame = { 0 };
	bool xml = strstr(text, "<valgrindoutput>") != NULL;
	g_array_set_clear_func(im.races, race_clear);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		if (xml)
			xml_line(&im, *line, &frame);
		else
			text_line(&im, *line);
	}
	end_race(&im);
	frame_clear(&frame);
	if (im.races->len == 0) {
		tool_report_free(im.races);
		error_set(error, path, "give a report of ThreadSanitizer, Helgrind or DRD",
		          "no data race was found in the report");
		return NULL;
	}
	return im.races;
}

/* -- in the trace ---------------------------------------------------------------------- */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Locations of a side (a byte each): of the innermost frame with a place in the trace, up to
 * `slack` lines away, since builds with and without instrumentation may ascribe an instruction
 * to neighbouring lines. */
static uint8_t *locations_of(const struct trace *t, const GArray *side, uint32_t slack)
{
	for (guint f = 0; f < side->len; f++) {
		const struct reported_frame *frame =
		        &g_array_index(side, struct reported_frame, f);
		uint8_t *set = NULL;
		for (uint64_t i = 1; frame->file && i < t->locations_count; i++) {
			const struct location *l = &t->locations[i];
			if (l->line + slack < frame->line || l->line > frame->line + slack ||
			    l->file == 0 ||
			    strcmp(last_component(trace_string(t, l->file)),
			           last_component(frame->file)) != 0)
				continue;
			set = set ? set : g_new0(uint8_t, t->locations_count);
			set[i] = 1;
		}
		if (set)
			return set;
	}
	return NULL;
}

static bool is_place(const struct reported_pair *r, int side, uint32_t location)
{
	return r->places[side] ? r->places[side][location] : side == 1;
}

bool reported_at(const struct reported_pair *r, const uint32_t locations[2])
{
	if (r->places[0] == NULL || locations[0] == NONE)
		return false;
	return (is_place(r, 0, locations[0]) && is_place(r, 1, locations[1])) ||
	       (is_place(r, 0, locations[1]) && is_place(r, 1, locations[0]));
}

/* The latest accesses at the places of one race. */
struct met {
	uint32_t events[256];
	uint64_t count;
};

static void meet(const struct trace *t, struct reported_pair *r, struct met *met, uint32_t e)
{
	for (uint64_t j = 0; j < MIN(met->count, G_N_ELEMENTS(met->events)); j++) {
		uint32_t other = met->events[j];
		const uint32_t locations[2] = { t->events[other].location,
			                        t->events[e].location };
		if (!reported_at(r, locations) || !events_race_conflict(t, other, e))
			continue;
		r->pair[0] = other;
		r->pair[1] = e;
		return;
	}
	met->events[met->count++ % G_N_ELEMENTS(met->events)] = e;
}

/* Find pairs for all races without one, in a pass over the trace. */
static void find_pairs(const struct trace *t, GArray *pairs)
{
	g_autofree struct met *met = g_new0(struct met, pairs->len);
	g_autofree uint8_t *wanted = g_new0(uint8_t, t->locations_count + 1);
	for (guint i = 0; i < pairs->len; i++) {
		const struct reported_pair *r = &g_array_index(pairs, struct reported_pair, i);
		for (uint64_t l = 0; r->pair[0] == NONE && l < t->locations_count; l++)
			for (int side = 0; side < 2; side++)
				wanted[l] |= r->places[side] && r->places[side][l];
	}
	for (uint64_t e = 0; e < t->events_count; e++) {
		if (!op_is_access(t->events[e].op))
			continue;
		bool other_side = false; /* race with one side: any access may be the other */
		for (guint i = 0; i < pairs->len && !wanted[t->events[e].location]; i++)
			other_side |=
			        g_array_index(pairs, struct reported_pair, i).places[1] == NULL;
		if (!wanted[t->events[e].location] && !other_side)
			continue;
		for (guint i = 0; i < pairs->len; i++) {
			struct reported_pair *r =
			        &g_array_index(pairs, struct reported_pair, i);
			uint32_t location = t->events[e].location;
			if (r->pair[0] == NONE && r->places[0] &&
			    (is_place(r, 0, location) || is_place(r, 1, location)))
				meet(t, r, &met[i], (uint32_t)e);
		}
	}
}

static void take_places(const struct trace *t, const struct reported_race *race, uint32_t slack,
                        struct reported_pair *r)
{
	for (int side = 0; side < 2; side++) {
		g_free(r->places[side]);
		r->places[side] = locations_of(t, race->sides[side], slack);
	}
	if (race->sides[1]->len && r->places[1] == NULL) { /* not of this trace */
		g_free(r->places[0]);
		r->places[0] = NULL;
	}
}

static void append_side(const GArray *side, GString *out)
{
	if (side->len == 0) {
		g_string_append(out, "?");
		return;
	}
	const struct reported_frame *frame = &g_array_index(side, struct reported_frame, 0);
	const char *function = frame->function ? frame->function : "?";
	append_escaped(out, function, strcspn(function, "("));
	if (frame->file == NULL)
		return;
	const char *file = last_component(frame->file);
	g_string_append_c(out, ' ');
	append_escaped(out, file, strlen(file));
	g_string_append_printf(out, ":%u", frame->line);
}

static void pair_clear(void *data)
{
	struct reported_pair *r = data;
	g_free(r->where);
	g_free(r->places[0]);
	g_free(r->places[1]);
}

void tool_pairs_free(GArray *pairs)
{
	if (pairs)
		g_array_free(pairs, TRUE);
}

GArray *tool_report_locate(const struct trace *t, const GArray *races)
{
	enum { NEAR = 3 };
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct reported_pair));
	g_array_set_clear_func(pairs, pair_clear);
	for (guint i = 0; i < races->len; i++) {
		const struct reported_race *race =
		        &g_array_index(races, struct reported_race, i);
		struct reported_pair r = { .pair = { NONE, NONE } };
		GString *where = g_string_new(NULL);
		append_side(race->sides[0], where);
		g_string_append(where, " ⇄ ");
		append_side(race->sides[1], where);
		r.where = g_string_free(where, FALSE);
		take_places(t, race, 0, &r);
		g_array_append_val(pairs, r);
	}
	find_pairs(t, pairs);
	bool missing = false;
	for (guint i = 0; i < races->len; i++) {
		struct reported_pair *r = &g_array_index(pairs, struct reported_pair, i);
		if (r->pair[0] != NONE)
			continue;
		missing = true;
		take_places(t, &g_array_index(races, struct reported_race, i), NEAR, r);
	}
	if (missing)
		find_pairs(t, pairs);
	return pairs;
}
