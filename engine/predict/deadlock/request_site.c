/* request_site.c - see request_site.h. */
#include "engine/predict/deadlock/request_site.h"
#include "engine/trace/own_code.h"

#include <string.h>

/* What the site of an event depends on. */
struct request_at {
	uint32_t location, stack, op, target;
};

struct request_sites {
	const struct trace *t;
	GHashTable *of_request; /* struct request_at, owned -> site + 1 */
	GHashTable *of_text;    /* place and lock, owned -> site + 1 */
};

static guint hash_request(gconstpointer p)
{
	const struct request_at *r = p;
	return ((r->location * 31 + r->stack) * 31 + r->target) * 31 + r->op;
}

static gboolean equal_requests(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct request_at)) == 0;
}

struct request_sites *request_sites_new(const struct trace *t)
{
	struct request_sites *s = g_new(struct request_sites, 1);
	*s = (struct request_sites){
		.t = t,
		.of_request = g_hash_table_new_full(hash_request, equal_requests, g_free, NULL),
		.of_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
	return s;
}

void request_sites_free(struct request_sites *s)
{
	if (s == NULL)
		return;
	g_hash_table_unref(s->of_request);
	g_hash_table_unref(s->of_text);
	g_free(s);
}

char *request_site_text(const struct trace *t, uint32_t event)
{
	g_autoptr(GString) operand = g_string_new(NULL);
	GString *text = g_string_new(own_code_place_name(t, event));

	trace_append_operand(t, event, operand);
	g_string_append_c(text, ' ');
	own_code_append_kind(operand->str, text);
	return g_string_free(text, FALSE);
}

static uint32_t find_site(struct request_sites *s, uint32_t event)
{
	char *text = request_site_text(s->t, event);
	gpointer known = g_hash_table_lookup(s->of_text, text);

	if (known != NULL) {
		g_free(text);
		return GPOINTER_TO_UINT(known);
	}
	uint32_t site = g_hash_table_size(s->of_text) + 1;
	g_hash_table_insert(s->of_text, text, GUINT_TO_POINTER(site));
	return site;
}

uint32_t request_site(struct request_sites *s, uint32_t event)
{
	const struct event *e = &s->t->events[event];
	const struct request_at at = { e->location, own_code_stack(s->t, event), e->op,
		                       e->target };
	uint32_t site = GPOINTER_TO_UINT(g_hash_table_lookup(s->of_request, &at));

	if (site == 0) {
		site = find_site(s, event);
		g_hash_table_insert(s->of_request, g_memdup2(&at, sizeof at),
		                    GUINT_TO_POINTER(site));
	}
	return site - 1;
}
