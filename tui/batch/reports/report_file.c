/*
 * report_file.c - reads JSON reports; see report_file.h. A scanner finds findings and
 * witnesses; the JSON library parses the text without the witnesses.
 */
#include "tui/batch/reports/report_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -- scanning ------------------------------------------------------------------------- */

struct span {
	const char *begin, *end;
};

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* The position after the string that begins at `p`, or `end`. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : end;
}

/* The position after the value that begins at `p`. */
static const char *skip_value(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
		} else if (*p == '[' || *p == '{') {
			depth++;
			p++;
		} else if (*p == ']' || *p == '}') {
			if (depth == 0)
				return p;
			depth--;
			p++;
		} else if (*p == ',' && depth == 0) {
			return p;
		} else {
			p++;
			continue; /* inside or between numbers or words */
		}
		if (depth == 0)
			return p;
	}
	return end;
}

/* The value of an object's member; empty when absent. */
static struct span find_member(struct span object, const char *name)
{
	const char *p = skip_blank(object.begin, object.end), *end = object.end;
	size_t length = strlen(name);

	if (p == end || *p != '{')
		return (struct span){ end, end };
	for (p = skip_blank(p + 1, end); p < end && *p == '"'; p = skip_blank(p, end)) {
		const char *key = p + 1, *behind = skip_string(p, end);
		struct span value = { skip_blank(behind, end) };

		if (value.begin < end && *value.begin == ':')
			value.begin = skip_blank(value.begin + 1, end);
		value.end = skip_value(value.begin, end);
		if ((size_t)(behind - key) == length + 1 && memcmp(key, name, length) == 0)
			return value;
		p = skip_blank(value.end, end);
		if (p < end && *p == ',')
			p = skip_blank(p + 1, end);
	}
	return (struct span){ end, end };
}

/* The next element of an array; `p` is after the previous one, or at the bracket. */
static struct span next_element(const char **p, const char *end)
{
	struct span element = { skip_blank(*p + 1, end) };

	element.end = skip_value(element.begin, end);
	*p = skip_blank(element.end, end);
	return element;
}

/* Length of an array of numbers; -1 for any other. */
static int64_t count_numbers(struct span array)
{
	const char *p = array.begin, *end = array.end;
	int64_t count = 0;

	if (end - p < 2 || *p != '[')
		return -1;
	if (skip_blank(p + 1, end) == end - 1)
		return 0;
	do {
		p = skip_blank(p + 1, end);
		if (p == end || !g_ascii_isdigit(*p))
			return -1;
		while (p < end && g_ascii_isdigit(*p))
			p++;
		p = skip_blank(p, end);
		count++;
	} while (p < end && *p == ',');
	return p == end - 1 ? count : -1;
}

/* -- reading -------------------------------------------------------------------------- */

static bool refuse(const struct report_file *r, const char *text, const char *found,
                   struct error *error)
{
	return error_set(error, r->name, "make one with --format json",
	                 "expected a report as JSON, found %s%s", found, text);
}

/* The JSON of `whole` with `out` replaced by `with`; NULL and `error`. */
static json_t *load_without(const struct report_file *r, struct span whole, struct span out,
                            const char *with, struct error *error)
{
	g_autoptr(GString) text = g_string_new_len(whole.begin, out.begin - whole.begin);
	json_error_t problem;

	g_string_append(text, with);
	g_string_append_len(text, out.end, whole.end - out.end);
	json_t *j = json_loadb(text->str, text->len, 0, &problem);
	if (j != NULL && json_is_object(j))
		return j;
	refuse(r, j == NULL ? problem.text : "another value", j == NULL ? "no JSON: " : "",
	       error);
	json_decref(j);
	return NULL;
}

static bool read_finding(struct report_file *r, struct span element, struct error *error)
{
	struct filed_finding f = { .text = element.begin,
		                   .length = (size_t)(element.end - element.begin) };
	struct span witness = find_member(element, "witness");
	int64_t count = count_numbers(witness);
	char number[32] = "";

	if (count < 0)
		witness.end = witness.begin;
	else
		g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, count);
	f.fields = load_without(r, element, witness, number, error);
	if (f.fields != NULL)
		g_array_append_val(r->findings, f);
	return f.fields != NULL;
}

static bool read_findings(struct report_file *r, struct span array, struct error *error)
{
	const char *p = array.begin;

	if (array.begin == array.end)
		return true; /* its other members say so */
	if (*p != '[')
		return refuse(r, "findings that are no list", "", error);
	if (skip_blank(p + 1, array.end) == array.end - 1)
		return true;
	do {
		if (!read_finding(r, next_element(&p, array.end), error))
			return false;
	} while (p < array.end && *p == ',');
	return true;
}

/* An exploration lists "errors" and "races" of its runs. */
static void add_exploration(struct report_file *r)
{
	static const char *const lists[] = { "errors", "races" };

	for (size_t k = 0; json_object_get(r->head, "executions") && k < G_N_ELEMENTS(lists);
	     k++) {
		size_t i;
		json_t *element;

		json_array_foreach(json_object_get(r->head, lists[k]), i, element)
		{
			struct filed_finding f = { .fields = finding_of_explored(element) };
			g_array_append_val(r->findings, f);
		}
	}
}

static bool read_report(struct report_file *r, struct span text, struct error *error)
{
	struct span findings = find_member(text, "findings");
	bool none = findings.begin == findings.end;

	r->head = load_without(r, text, findings, none ? "" : "[]", error);
	if (r->head == NULL)
		return false;
	if (!json_is_string(json_object_get(r->head, "heddle")))
		return refuse(r, "", "JSON of something else", error);
	json_object_del(r->head, "findings");
	if (!read_findings(r, findings, error))
		return false;
	add_exploration(r);
	return true;
}

static struct report_file *new_file(const char *name)
{
	struct report_file *r = g_new0(struct report_file, 1);

	g_autofree char *base = g_path_get_basename(name);
	r->name = g_strdup(printable(base));
	r->findings = g_array_new(FALSE, FALSE, sizeof(struct filed_finding));
	return r;
}

bool report_file_is(const char *path)
{
	/* only a regular file: reading would consume a pipe's bytes */
	FILE *f = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "r") : NULL;
	int c = f == NULL ? EOF : getc(f);

	while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
		c = getc(f);
	if (f != NULL)
		fclose(f);
	return c == '{';
}

struct report_file *report_file_open(const char *path, struct error *error)
{
	struct report_file *r = new_file(path);
	struct span text = { "", "" };

	if (!input_open(path, "report", &r->file, error)) {
		report_file_free(r);
		return NULL;
	}
	if (r->file.length != 0)
		text = (struct span){ r->file.bytes, (char *)r->file.bytes + r->file.length };
	if (!read_report(r, text, error)) {
		report_file_free(r);
		return NULL;
	}
	return r;
}

struct report_file *report_file_of(const struct report *report, const struct print_options *o)
{
	struct report_file *r = new_file(trace_name(report->trace));
	struct error error;
	size_t length = 0;
	FILE *out = open_memstream(&r->text, &length);

	report_print_json(report, o, out);
	fclose(out);
	if (!read_report(r, (struct span){ r->text, r->text + length }, &error))
		BUG("our own report: %s", error.what);
	return r;
}

struct report_file *report_file_of_json(const char *name, const json_t *report)
{
	struct report_file *r = new_file(name);
	struct error error;

	r->text = json_dumps(report, JSON_COMPACT);
	if (!read_report(r, (struct span){ r->text, r->text + strlen(r->text) }, &error))
		BUG("our own report: %s", error.what);
	return r;
}

void report_file_free(struct report_file *r)
{
	if (r == NULL)
		return;
	for (guint i = 0; i < r->findings->len; i++)
		json_decref(g_array_index(r->findings, struct filed_finding, i).fields);
	g_array_free(r->findings, TRUE);
	json_decref(r->head);
	input_close(&r->file);
	free(r->text);
	if (r->rewritten != NULL)
		g_ptr_array_unref(r->rewritten);
	g_free(r->name);
	g_free(r);
}

/* -- access -------------------------------------------------------------------------------- */

bool filed_is_suppressed(const json_t *f)
{
	return json_object_get(f, "suppressed") != NULL;
}

bool filed_is_found(const json_t *f)
{
	const char *verdict = json_word(f, "verdict");

	return !filed_is_suppressed(f) &&
	       strcmp(verdict, verdict_word(VERDICT_IMPOSSIBLE)) != 0 &&
	       strcmp(verdict, verdict_word(VERDICT_UNKNOWN)) != 0;
}
