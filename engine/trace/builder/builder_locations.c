/*
 * builder_locations.c - code locations and their sites: FILE:LINE by name or source, the
 * identity of places in findings.
 */
#include "engine/trace/builder/builder_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool builder_source_position(const char *text, size_t length, size_t *file, uint32_t numbers[2])
{
	int found = 0;
	size_t end = length;
	numbers[0] = numbers[1] = 0;
	while (found < 2) {
		size_t from = end;
		while (from > 0 && g_ascii_isdigit(text[from - 1]))
			from--;
		if (from == end || end - from > 9 || from < 2 || text[from - 1] != ':')
			break;
		numbers[1] = numbers[0];
		numbers[0] = (uint32_t)strtoul(text + from, NULL, 10);
		end = from - 1;
		found++;
	}
	if (found < 2)
		numbers[1] = 0;
	*file = end;
	return found > 0;
}

static uint64_t site_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return mix(*AT(b->sites, uint32_t, i));
}

static uint32_t site_of(struct builder *b, uint32_t string)
{
	if (2 * (b->sites_table.count + 1) > b->sites_table.mask)
		builder_table_grow(&b->sites_table, site_hash, b);
	uint32_t at = mix(string) & b->sites_table.mask;
	for (; b->sites_table.slots[at]; at = (at + 1) & b->sites_table.mask)
		if (*AT(b->sites, uint32_t, b->sites_table.slots[at] - 1) == string)
			return b->sites_table.slots[at] - 1;
	g_array_append_val(b->sites, string);
	b->sites_table.slots[at] = b->sites->len;
	b->sites_table.count++;
	return b->sites->len - 1;
}

/* The site of a location: "FILE:LINE" without column. */
void builder_location_site(struct builder *b, uint32_t location)
{
	struct location *l = AT(b->locations, struct location, location);
	uint32_t string = l->name, numbers[2];
	size_t length, file;
	const char *name = builder_string_at(b, l->name, &length);
	g_autofree char *text = NULL;
	bool position = builder_source_position(name, length, &file, numbers);
	if (position && name[file + 1] != '0' &&
	    !memchr(name + file + 1, ':', length - file - 1))
		; /* the name is the site */
	else if (position)
		text = g_strdup_printf("%.*s:%u", (int)file, name, numbers[0]);
	else if (l->file && l->line)
		text = g_strdup_printf("%s:%u", builder_text(b, l->file), l->line);
	if (text)
		string = builder_string(b, text, strlen(text));
	AT(b->locations, struct location, location)->site = site_of(b, string);
}

uint32_t builder_location(struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string(b, name, length);
	struct meaning *m = builder_meaning(b, string);
	if (m->location != NONE)
		return m->location;
	uint32_t location = m->location = b->locations->len;
	struct location l = { .name = string, .module = NONE, .inlined = NONE };
	uint32_t numbers[2];
	size_t file;
	if (builder_source_position(name, length, &file, numbers)) {
		l.line = numbers[0];
		l.column = numbers[1];
		l.file = builder_string(b, name, file);
	}
	g_array_append_val(b->locations, l);
	builder_location_site(b, location);
	return location;
}

void builder_source(struct builder *b, uint32_t location, const char *file, uint32_t line,
                    uint32_t column)
{
	uint32_t string = builder_string(b, file, strlen(file));
	struct location *l = AT(b->locations, struct location, location);
	l->file = string;
	l->line = line;
	l->column = column;
	builder_location_site(b, location);
}

uint32_t builder_call_site(struct builder *b, const char *name, uint32_t function,
                           uint32_t outer)
{
	g_autofree char *key = g_strdup_printf("%s, %u inlined at %u", name, function, outer);
	uint32_t location = builder_location(b, outer == NONE ? name : key,
	                                     strlen(outer == NONE ? name : key));
	uint32_t string = builder_string(b, name, strlen(name));
	struct location *l = AT(b->locations, struct location, location);
	l->name = string;
	l->function = function;
	l->inlined = outer;
	return location;
}

uint32_t builder_code(struct builder *b, uint32_t module, uint64_t address)
{
	char name[64];
	if (module == NONE)
		snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", address);
	else
		snprintf(name, sizeof name, "module%u+0x%" G_GINT64_MODIFIER "x", module,
		         address);
	uint32_t location = builder_location(b, name, strlen(name));
	struct location *l = AT(b->locations, struct location, location);
	l->module = module;
	l->address = address;
	return location;
}
