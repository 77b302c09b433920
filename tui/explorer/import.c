/*
 * import.c - see import.h.  Line by line: what begins an access, what is a frame of it, what
 * ends the race; the forms are those that the tools print today.
 */
#include "tui/explorer/import.h"
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

void imported_free(GArray *races)
{
	if (races)
		g_array_free(races, TRUE);
}

struct importer {
	GArray *races;
	struct reported_race race; /* the one being read */
	int side; /* which of its accesses; -1: none yet, 2: what follows is of neither */
	bool open;
	bool one_sided; /* DRD as XML */
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

/* "file.c:31" or "file.c:31:5" of the given length, into the frame. */
static void set_place(struct reported_frame *frame, const char *text, gsize length)
{
	char *place = g_strndup(text, length);
	for (int numbers = 0; numbers < 2; numbers++) {
		char *colon = strrchr(place, ':');
		if (colon == NULL || !g_ascii_isdigit(colon[1]))
			break;
		frame->line = (uint32_t)strtoul(colon + 1, NULL, 10);
		*colon = '\0';
	}
	if (frame->line)
		frame->file = g_strdup(place);
	g_free(place);
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
	const char *last = NULL; /* the module; clang puts " (BuildId: ...)" behind it */
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
		im->side = 2; /* DRD: where the block is from, what the other thread did */
	} else if (is_access(line) || strstr(line, "This conflicts with a previous")) {
		begin_side(im);
	} else if (is_blank(line) || strstr(line, "Location is ") ||
	           strstr(line, "created by") || strstr(line, "created at")) {
		/* the stacks that follow tell of threads, blocks and locks */
		if (im->open && im->side >= 0 && im->race.sides[MIN(im->side, 1)]->len) {
			if (im->side == 1)
				im->side = 2;
		}
	} else if (!sanitizer_frame(im, line)) {
		valgrind_frame(im, line);
	}
}

/* What stands between <tag> and </tag> on the line. */
static char *tagged(const char *line, const char *tag)
{
	char *begin = g_strdup_printf("<%s>", tag), *end = g_strdup_printf("</%s>", tag);
	const char *from = strstr(line, begin), *to = from ? strstr(from, end) : NULL;
	char *text =
	        to ? g_strndup(from + strlen(begin), (gsize)(to - from) - strlen(begin)) : NULL;
	g_free(begin);
	g_free(end);
	return text;
}

static void xml_line(struct importer *im, const char *line, struct reported_frame *frame)
{
	char *kind = tagged(line, "kind"), *function = tagged(line, "fn"),
	     *file = tagged(line, "file"), *number = tagged(line, "line");
	if (kind && (strcmp(kind, "Race") == 0 || strcmp(kind, "ConflictingAccess") == 0)) {
		begin_race(im);
		im->one_sided = strcmp(kind, "ConflictingAccess") == 0;
	}
	if (strstr(line, "</error>"))
		end_race(im);
	if (strstr(line, "<stack>")) {
		begin_side(im);
		if (im->side == 1 && im->one_sided) /* where the block is from, segments */
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
	g_free(kind);
	g_free(function);
	g_free(file);
	g_free(number);
}

GArray *import_report(const char *path, struct error *error)
{
	char *text = input_text(path, "report", NULL, error);
	if (text == NULL)
		return NULL;
	struct importer im = { .races = g_array_new(FALSE, FALSE,
		                                    sizeof(struct reported_race)) };
	struct reported_frame frame = { 0 };
	bool xml = strstr(text, "<valgrindoutput>") != NULL;
	g_array_set_clear_func(im.races, race_clear);
	char **lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		if (xml)
			xml_line(&im, *line, &frame);
		else
			text_line(&im, *line);
	}
	end_race(&im);
	frame_clear(&frame);
	g_strfreev(lines);
	g_free(text);
	if (im.races->len == 0) {
		imported_free(im.races);
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

/* The locations of a side: a byte each; the innermost frame that the trace has a place for,
 * which may be up to `slack` lines away: two builds of one program, with and without
 * instrumentation, may ascribe an instruction to neighbouring lines. */
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

static bool find_near(const struct trace *t, const struct reported_race *race, uint32_t slack,
                      uint32_t pair[2])
{
	enum { REMEMBERED = 256 }; /* accesses of the first side, the latest */
	uint32_t remembered[REMEMBERED];
	uint64_t count = 0;
	uint8_t *a = locations_of(t, race->sides[0], slack),
	        *b = locations_of(t, race->sides[1], slack);
	bool found = false, one_sided = race->sides[1]->len == 0;
	for (uint64_t i = 0; a && (b || one_sided) && !found && i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		bool at_a = a[e->location], at_b = one_sided || b[e->location];
		if (!op_is_access(e->op) || (!at_a && !at_b))
			continue;
		for (uint64_t j = 0; j < MIN(count, REMEMBERED) && !found; j++) {
			const struct event *other = &t->events[remembered[j]];
			bool places = (at_a && (one_sided || b[other->location])) ||
			              (at_b && a[other->location]);
			found = places && events_race_conflict(t, remembered[j], (uint32_t)i);
			pair[0] = remembered[j];
			pair[1] = (uint32_t)i;
		}
		remembered[count++ % REMEMBERED] = (uint32_t)i;
	}
	g_free(a);
	g_free(b);
	return found;
}

bool import_find(const struct trace *t, const struct reported_race *race, uint32_t pair[2])
{
	return find_near(t, race, 0, pair) || find_near(t, race, 3, pair);
}
