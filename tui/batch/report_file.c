/*
 * report_file.c - reads JSON reports; see report_file.h. A scanner finds findings and
 * witnesses; the JSON library parses the text without the witnesses.
 */
#include "tui/batch/report_file.h"

#include "tui/batch/places.h"

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

/* After the string that begins at `p`, or `end`. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : end;
}

/* After the value that begins at `p`. */
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

/* A race or error of an exploration with the fields of a finding. */
static void add_explored(struct report_file *r, const json_t *from, const char *kind,
                         const char *verdict)
{
	struct filed_finding f = { .fields = json_copy((json_t *)from) };
	json_t *sites = json_array(), *location;
	const char *variable = json_word(from, "variable");
	size_t i;

	json_array_foreach(json_object_get(from, "locations"), i, location)
	{
		if (json_is_string(location))
			json_array_append_new(sites, places_parse(json_string_value(location)));
	}
	json_object_set_new(f.fields, "sites", sites);
	json_object_set_new(f.fields, "kind", json_string(kind));
	json_object_set_new(f.fields, "verdict", json_string(verdict));
	if (*variable)
		json_object_set_new(f.fields, "variables", json_pack("[s]", variable));
	g_array_append_val(r->findings, f);
}

/* The kind of finding for an explored run's ending (words: explore.h). */
static const char *explored_kind(const json_t *e)
{
	static const struct {
		const char *end;
		enum finding_kind kind;
	} kinds[] = {
		{ "exit-status", FINDING_EXIT },
		{ "signal", FINDING_CRASH },
		{ "blocked", FINDING_STUCK },
		{ "check", FINDING_ASSERTION },
		{ "specification", FINDING_ASSERTION },
		{ "linearizability", FINDING_ASSERTION },
	};
	const char *end = json_word(e, "kind");

	if (strstr(json_word(e, "story"), ": Assertion `") != NULL)
		return finding_kind_word(FINDING_ASSERTION);
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(kinds[i].end, end) == 0)
			return finding_kind_word(kinds[i].kind);
	return end;
}

/* An exploration lists "errors" and "races" of its runs. */
static void add_exploration(struct report_file *r)
{
	size_t i;
	json_t *e;

	if (json_object_get(r->head, "executions") == NULL)
		return;
	json_array_foreach(json_object_get(r->head, "errors"), i, e)
	        add_explored(r, e, explored_kind(e), verdict_word(VERDICT_HAPPENED));
	json_array_foreach(json_object_get(r->head, "races"), i, e) add_explored(
	        r, e, finding_kind_word(FINDING_DATA_RACE), verdict_word(VERDICT_RACE));
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
	/* A pipe would be consumed. */
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

const char *json_word(const json_t *object, const char *key)
{
	const char *word = json_string_value(json_object_get(object, key));

	return word != NULL ? word : "";
}

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

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* -- text ---------------------------------------------------------------------------------- */

static const char *element_word(const json_t *array, size_t i)
{
	const char *word = json_string_value(json_array_get(array, i));

	return word != NULL ? word : "";
}

static void print_names(const json_t *f, FILE *out)
{
	const json_t *names = json_object_get(f, "variables");
	size_t count = json_array_size(names);

	for (size_t i = 0; i < count && i < 4; i++)
		fprintf(out, "%s%s", i ? ", " : "  on ", element_word(names, i));
	if (count > 4)
		fprintf(out, " and %zu more", count - 4);
}

/* "    bank.c:31  in report, from worker bank.c:38": with the stack, if known. */
static void print_site(const json_t *f, size_t i, FILE *out)
{
	const json_t *site = json_array_get(json_object_get(f, "sites"), i);
	const json_t *stack = json_array_get(json_object_get(f, "stacks"), i);
	const char *file = json_word(site, "file");

	fprintf(out, "    %-6s ", element_word(json_object_get(f, "threads"), i));
	if (*file)
		fprintf(out, "%s:%d", base_name(file),
		        (int)json_integer_value(json_object_get(site, "line")));
	else
		fputs(json_word(site, "name"), out);
	if (*json_word(site, "function"))
		fprintf(out, "  in %s", json_word(site, "function"));
	for (size_t k = 1; k < json_array_size(stack); k++)
		fprintf(out, ", from %s", element_word(stack, k));
	fputc('\n', out);
}

/* As finding_append_behind has it. */
static void print_filed_behind(const json_t *behind, FILE *out)
{
	size_t i;
	json_t *r;

	json_array_foreach((json_t *)behind, i, r)
	{
		fprintf(out, "%s%s (itself racing) is read ",
		        i == 0 ? "    only while " : " and ", json_word(r, "variable"));
		if (*json_word(r, "value"))
			fprintf(out, "as %s", json_word(r, "value"));
		else
			fprintf(out, "from event %" JSON_INTEGER_FORMAT,
			        json_integer_value(json_object_get(r, "write")));
		fprintf(out, ", by %s at %s", json_word(r, "thread"), json_word(r, "location"));
	}
	if (i > 0)
		fputs(": repair that first, or look behind it\n", out);
}

static void print_evidence(const json_t *f, FILE *out)
{
	const json_t *proof = json_object_get(f, "proof");
	json_int_t events = json_integer_value(json_object_get(f, "witness"));
	const char *by = json_word(f, "by"), *given = json_word(proof, "given");

	if (events > 0)
		fprintf(out, "    witness of %" JSON_INTEGER_FORMAT " events, checked%s%s\n",
		        events, *by ? ", by " : "", by);
	if (proof != NULL)
		fprintf(out, "    proved impossible by the %s%s%s\n",
		        json_word(proof, "method"), *given ? ", given the " : "", given);
	print_filed_behind(json_object_get(f, "behind"), out);
	if (*json_word(f, "budget"))
		fprintf(out, "    unknown: %s\n",
		        open_reason_text(open_reason_of(json_word(f, "budget"))));
}

void print_filed(const json_t *f, FILE *out)
{
	const json_t *methods = json_object_get(f, "methods");
	json_int_t count = json_integer_value(json_object_get(f, "count"));
	size_t unit;
	json_t *u;

	fprintf(out, "%s: %s", json_word(f, "verdict"), json_word(f, "kind"));
	print_names(f, out);
	if (count > 1)
		fprintf(out, "  (%" JSON_INTEGER_FORMAT "%s)", count,
		        strcmp(json_word(f, "counted"), "seen") == 0 ? " seen" : "");
	if (*json_word(f, "note"))
		fprintf(out, "  [%s]", json_word(f, "note"));
	fputc('\n', out);
	if (methods != NULL)
		fprintf(out, "    %s  with  %s\n", element_word(methods, 0),
		        element_word(methods, 1));
	if (*json_word(f, "condition"))
		fprintf(out, "    commute only if %s\n", json_word(f, "condition"));
	json_array_foreach(json_object_get(f, "cycle"), unit, u) fprintf(
	        out, "    unit %s of %s\n", json_word(u, "unit"), json_word(u, "thread"));
	for (size_t i = 0; i < json_array_size(json_object_get(f, "sites")); i++)
		print_site(f, i, out);
	print_evidence(f, out);
}
