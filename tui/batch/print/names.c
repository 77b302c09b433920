/*
 * names.c - see names.h.
 */
#include "tui/batch/print/names.h"

#include "engine/base/child.h"
#include "engine/record/before.h"
#include "engine/trace/own_code.h"

#include <string.h>

const char *printable(const char *name)
{
	const char *at = name;
	while (*at >= 0x20 && *at < 0x7f)
		at++;
	if (*at == '\0')
		return name;
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, name, strlen(name));
	return g_intern_string(s->str);
}

const char *printable_thread(const struct trace *t, uint32_t event)
{
	return printable(trace_thread_name(t, t->events[event].thread));
}

char *variable_name(const struct trace *t, uint32_t variable)
{
	const char *name = trace_variable_name(t, variable);
	GString *s = g_string_new(NULL);
	append_escaped(s, name, strlen(name));
	return g_string_free(s, FALSE);
}

void append_frame(const struct trace *t, const struct frame *f, GString *out)
{
	const char *function = trace_string(t, f->function);
	/* a call of the C library has the place of its caller, which is the next frame */
	bool elsewhere = *function && (own_code_is_elsewhere(t, f->location) ||
	                               own_code_library_call(function) != NULL);
	const char *place = elsewhere ? "" : trace_string(t, t->locations[f->location].name);
	own_code_append_function(function, out);
	if (*function && *place)
		g_string_append_c(out, ' ');
	append_escaped(out, place, strlen(place));
}

json_t *json_text(const char *text)
{
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, text, strlen(text));
	return json_stringn(s->str, s->len);
}

void json_set_word(json_t *j, const char *key, const char *word)
{
	if (word)
		json_object_set_new(j, key, json_string(word));
}

void json_set_sentences(json_t *object, const char *key, const GPtrArray *sentences)
{
	json_t *array = sentences && sentences->len ? json_array() : NULL;

	for (guint i = 0; array && i < sentences->len; i++)
		json_array_append_new(array, json_text(sentences->pdata[i]));
	if (array)
		json_object_set_new(object, key, array);
}

const char *json_word(const json_t *object, const char *key)
{
	const char *word = json_string_value(json_object_get(object, key));

	return word != NULL ? word : "";
}

const char *json_element(const json_t *array, size_t i)
{
	const char *word = json_string_value(json_array_get(array, i));

	return word != NULL ? word : "";
}

void json_set_command(json_t *object, char *const *argv)
{
	json_t *arguments = json_array();

	for (char *const *word = argv + 1; *word; word++)
		json_array_append_new(arguments, json_text(*word));
	json_object_set_new(object, "program", json_text(argv[0]));
	if (json_array_size(arguments) > 0)
		json_object_set(object, "arguments", arguments);
	json_decref(arguments);
	json_set_word(object, "before", record_before_command());
}

char *json_before(const json_t *object)
{
	const char *before = json_word(object, "before");
	char *const words[] = { "--before", (char *)before, NULL };

	if (!*before)
		return g_strdup("");
	g_autofree char *spelt = child_spelt(words);
	return g_strconcat(spelt, " ", NULL);
}

char *json_command(const json_t *object)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	const json_t *arguments = json_object_get(object, "arguments");

	if (!*json_word(object, "program"))
		return g_strdup("");
	g_ptr_array_add(words, (char *)json_word(object, "program"));
	for (size_t i = 0; i < json_array_size(arguments); i++)
		g_ptr_array_add(words, (char *)json_element(arguments, i));
	g_ptr_array_add(words, NULL);
	return child_spelt((char *const *)words->pdata);
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}
