/* shake_outcomes.c - see shake_outcomes.h. */
#include "engine/base/compare.h"
#include "tui/batch/shake/shake_outcomes.h"

#include <string.h>

#include "engine/base/base.h"
#include "engine/base/hash.h"
#include "engine/record/strategy.h"
#include "tui/batch/print/print.h"

void outcome_free(struct shake_outcome *o)
{
	if (o == NULL)
		return;
	g_ptr_array_unref(o->lines);
	g_free(o->line);
	g_free(o->again);
	g_free(o->use);
	g_free(o->fewest);
	g_free(o);
}

static void free_outcome(gpointer p)
{
	outcome_free(p);
}

static void left_out_clear(gpointer p)
{
	g_free(((struct left_out *)p)->shape);
}

struct outcomes *outcomes_new(void)
{
	struct outcomes *x = g_new0(struct outcomes, 1);
	x->list = g_ptr_array_new_with_free_func(free_outcome);
	x->left_out = g_array_new(FALSE, TRUE, sizeof(struct left_out));
	g_array_set_clear_func(x->left_out, left_out_clear);
	return x;
}

void outcomes_free(struct outcomes *x)
{
	g_ptr_array_unref(x->list);
	g_array_unref(x->left_out);
	g_free(x);
}

/* -- one run ------------------------------------------------------------------------------- */

static char *shown(const char *line)
{
	enum { LONGEST = 60 };
	GString *text = g_string_new(NULL);
	gsize length = strlen(line);
	append_escaped(text, line, MIN(length, LONGEST));
	return g_string_free(text, FALSE);
}

static void add_lines(GPtrArray *lines, const char *text, gsize length)
{
	for (const char *end = text + length; text < end;) {
		const char *newline = memchr(text, '\n', (gsize)(end - text));
		const char *stop = newline ? newline : end;
		g_ptr_array_add(lines, g_strndup(text, (gsize)(stop - text)));
		text = stop + 1;
	}
}

/* The last line that is not blank. */
static void set_line(struct shake_outcome *o)
{
	guint last = o->lines->len;
	while (last > 0 && *(char *)o->lines->pdata[last - 1] == '\0')
		last--;
	o->line = shown(last > 0 ? o->lines->pdata[last - 1] : "");
}

void outcome_set_output(struct shake_outcome *o, const char *text, gsize length)
{
	enum { BOUND = 1 << 17 }; /* bytes kept at the beginning and at the end */
	g_autofree char *digest =
	        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
	g_strlcpy(o->hash, digest, sizeof(o->hash));
	o->lines = g_ptr_array_new_with_free_func(g_free);
	if (length > 2 * BOUND) {
		add_lines(o->lines, text, BOUND);
		add_lines(o->lines, text + length - BOUND, BOUND);
	} else {
		add_lines(o->lines, text, length);
	}
	set_line(o);
}

json_t *outcome_json(const struct shake_outcome *o)
{
	json_t *lines = json_array();
	for (guint i = 0; i < o->lines->len; i++) {
		const char *line = o->lines->pdata[i];
		g_autofree char *text = g_base64_encode((const guchar *)line, strlen(line));
		json_array_append_new(lines, json_string(text));
	}
	json_t *made =
	        json_pack("{sI ss sI sI}", "run", (json_int_t)o->run, "options", o->again,
	                  "switches", (json_int_t)o->switches, "tries", (json_int_t)o->tries);
	if (o->fewest)
		json_object_set_new(made, "fewest", json_text(o->fewest));
	if (o->use)
		json_object_set_new(made, "use", json_text(o->use));
	if (o->elusive)
		json_object_set_new(made, "elusive", json_true());
	if (o->untried)
		json_object_set_new(made, "untried", json_true());
	return json_pack("{si si sb sb sI ss so sI sI si sI so}", "status", o->status, "signal",
	                 o->signal, "deadlock", o->deadlock, "timed-out", o->timed_out,
	                 "misuses", (json_int_t)o->misuses, "hash", o->hash, "lines", lines,
	                 "count", (json_int_t)o->count, "seed", (json_int_t)o->seed, "strategy",
	                 (int)o->strategy, "steps", (json_int_t)o->steps, "made", made);
}

/* A report's text, escaped for a terminal; owned by the caller. */
static char *escaped(const char *text)
{
	GString *out = g_string_new(NULL);
	append_escaped(out, text, strlen(text));
	return g_string_free(out, FALSE);
}

static bool is_lines(const json_t *lines)
{
	bool good = json_is_array(lines);
	for (size_t i = 0; good && i < json_array_size(lines); i++)
		good = json_is_string(json_array_get(lines, i));
	return good;
}

static bool is_strategy(int strategy)
{
	int i = 0;
	while (record_strategies[i] && i != strategy)
		i++;
	return record_strategies[i] != NULL;
}

struct shake_outcome *outcome_of_json(const json_t *value)
{
	json_int_t misuses, count, seed, steps, run, switches, tries;
	int status, signal, deadlock, timed_out, strategy, elusive = 0, untried = 0;
	const char *hash, *again, *fewest = NULL, *use = NULL;
	json_t *lines;
	if (json_unpack((json_t *)value,
	                "{si si sb sb sI ss so sI sI si sI s{sI ss sI sI s?s s?s s?b s?b}}",
	                "status", &status, "signal", &signal, "deadlock", &deadlock,
	                "timed-out", &timed_out, "misuses", &misuses, "hash", &hash, "lines",
	                &lines, "count", &count, "seed", &seed, "strategy", &strategy, "steps",
	                &steps, "made", "run", &run, "options", &again, "switches", &switches,
	                "tries", &tries, "fewest", &fewest, "use", &use, "elusive", &elusive,
	                "untried", &untried) != 0 ||
	    !is_lines(lines) || !is_strategy(strategy) || count < 1)
		return NULL;
	struct shake_outcome *o = g_new0(struct shake_outcome, 1);
	o->lines = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < json_array_size(lines); i++) {
		gsize length;
		g_autofree guchar *line =
		        g_base64_decode(json_string_value(json_array_get(lines, i)), &length);
		g_ptr_array_add(o->lines, g_strndup((char *)line, length));
	}
	set_line(o);
	g_strlcpy(o->hash, hash, sizeof o->hash);
	o->status = status;
	o->signal = signal;
	o->deadlock = deadlock;
	o->timed_out = timed_out;
	o->misuses = (uint32_t)misuses;
	o->count = (uint64_t)count;
	o->seed = (uint64_t)seed;
	o->strategy = (unsigned)strategy;
	o->steps = (uint64_t)steps;
	o->run = (uint64_t)run;
	o->switches = (unsigned)switches;
	o->tries = (unsigned)tries;
	o->again = escaped(again);
	o->fewest = fewest ? escaped(fewest) : NULL;
	o->use = use ? escaped(use) : NULL;
	o->elusive = elusive;
	o->untried = untried;
	return o;
}

bool outcome_same_end(const struct shake_outcome *a, const struct shake_outcome *b)
{
	return a->status == b->status && a->deadlock == b->deadlock &&
	       a->timed_out == b->timed_out && a->misuses == b->misuses && !a->use == !b->use;
}

static bool same(const struct shake_outcome *a, const struct shake_outcome *b)
{
	return outcome_same_end(a, b) && strcmp(a->hash, b->hash) == 0;
}

bool outcomes_know(const struct outcomes *x, const struct shake_outcome *o)
{
	for (guint i = 0; i < x->list->len; i++)
		if (same(x->list->pdata[i], o))
			return true;
	return false;
}

/* The shape of a line: # for each number, decimal or 0x... */
static char *shape_of(const char *line)
{
	GString *shape = g_string_new(NULL);
	while (*line) {
		if (!g_ascii_isdigit(*line)) {
			g_string_append_c(shape, *line++);
			continue;
		}
		bool hex = line[0] == '0' && line[1] == 'x' && g_ascii_isxdigit(line[2]);
		line += hex ? 2 : 0;
		while (hex ? g_ascii_isxdigit(*line) : g_ascii_isdigit(*line))
			line++;
		g_string_append_c(shape, '#');
	}
	return g_string_free(shape, FALSE);
}

static uint64_t shape_of_all(const GPtrArray *lines)
{
	uint64_t hash = 0;
	for (guint i = 0; i < lines->len; i++) {
		g_autofree char *shape = shape_of(lines->pdata[i]);
		hash = hash_word(hash + g_str_hash(shape));
	}
	return hash | 1;
}

/* More outcomes with one end than this, of so many runs, are grouped. */
static uint64_t few_of(uint64_t runs)
{
	enum { FEW = 8, SHARE = 10 };
	return MAX(FEW, runs / SHARE);
}

bool outcomes_vary(const struct outcomes *x, struct shake_outcome *o, uint64_t runs)
{
	uint64_t alike = 0;
	o->shape = shape_of_all(o->lines);
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *known = x->list->pdata[i];
		alike += outcome_same_end(known, o) && known->shape == o->shape;
	}
	return alike > few_of(runs);
}

void outcomes_add(struct outcomes *x, struct shake_outcome *o)
{
	o->count = MAX(o->count, 1);
	o->outputs = 1;
	for (guint i = 0; i < x->list->len; i++) {
		struct shake_outcome *old = x->list->pdata[i];
		if (!same(old, o))
			continue;
		old->count += o->count;
		if (o->run < old->run) { /* the first run with it */
			o->count = old->count;
			x->list->pdata[i] = o;
			outcome_free(old);
		} else {
			outcome_free(o);
		}
		return;
	}
	g_ptr_array_add(x->list, o);
}

/* -- all runs, distinguished by endings and lines ------------------------------------------ */

/* The detail in which lines of one shape are compared: order and texts, texts, presence. */
enum detail { DETAIL_ORDER, DETAIL_TEXTS, DETAIL_ANY, DETAILS };

struct shape {
	char *text;                  /* owned */
	GPtrArray **lines;           /* by outcome: char *, its lines; NULL: none */
	uint64_t different[DETAILS]; /* by detail, over all outcomes */
	bool steady;                 /* all runs with such lines have equally many */
	enum detail compared;        /* DETAILS: not compared at all */
};

struct grouping {
	GPtrArray *outcomes; /* struct shake_outcome * */
	uint64_t most;       /* greatest acceptable number of groups */
	GPtrArray *shapes;   /* struct shape *; empty when the whole output is compared */
	uint32_t *group;     /* by outcome: its group so far */
};

static void shape_free(const struct grouping *g, struct shape *s)
{
	for (guint i = 0; i < g->outcomes->len; i++)
		if (s->lines[i])
			g_ptr_array_unref(s->lines[i]);
	g_free(s->lines);
	g_free(s->text);
	g_free(s);
}

/* Shapes beyond a bound share one. */
static struct shape *shape_named(struct grouping *g, GHashTable *known, const char *line)
{
	enum { MOST_SHAPES = 2000 };
	char *text = shape_of(line);
	struct shape *s = g_hash_table_lookup(known, text);
	if (!s && g->shapes->len >= MOST_SHAPES) {
		g_free(text);
		text = g_strdup("(other lines)");
		s = g_hash_table_lookup(known, text);
	}
	if (s) {
		g_free(text);
		return s;
	}
	s = g_new0(struct shape, 1);
	s->text = text;
	s->lines = g_new0(GPtrArray *, g->outcomes->len);
	g_hash_table_insert(known, text, s);
	g_ptr_array_add(g->shapes, s);
	return s;
}

static void find_shapes(struct grouping *g)
{
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < g->outcomes->len; i++) {
		const struct shake_outcome *o = g->outcomes->pdata[i];
		for (guint k = 0; k < o->lines->len; k++) {
			struct shape *s = shape_named(g, known, o->lines->pdata[k]);
			if (!s->lines[i])
				s->lines[i] = g_ptr_array_new();
			g_ptr_array_add(s->lines[i], o->lines->pdata[k]);
		}
	}
}

/* The lines in that detail as one text; owned by the caller. */
static char *in_detail(const GPtrArray *lines, enum detail detail)
{
	guint count = lines ? lines->len : 0;
	if (detail == DETAIL_ANY || count == 0)
		return g_strdup(count ? "any" : "");
	g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new(count);
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < count; i++)
		g_ptr_array_add(sorted, lines->pdata[i]);
	if (detail == DETAIL_TEXTS)
		g_ptr_array_sort(sorted, compare_texts);
	for (guint i = 0; i < count; i++)
		g_string_append_printf(text, "%s\n", (char *)sorted->pdata[i]);
	return g_string_free(text, FALSE);
}

/* Split the groups by `texts` (by outcome; ownership taken), unless they become too many. */
static bool refine(struct grouping *g, char **texts)
{
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	uint32_t *group = g_new(uint32_t, g->outcomes->len);
	for (guint i = 0; i < g->outcomes->len; i++) {
		char *key = g_strdup_printf("%u %s", g->group[i], texts[i]);
		gpointer found = g_hash_table_lookup(known, key);
		group[i] = found ? GPOINTER_TO_UINT(found) - 1 : g_hash_table_size(known);
		if (found)
			g_free(key);
		else
			g_hash_table_insert(known, key, GUINT_TO_POINTER(group[i] + 1));
		g_free(texts[i]);
	}
	uint64_t groups = g_hash_table_size(known);
	g_free(texts);
	bool good = groups <= g->most;
	if (good) {
		g_free(g->group);
		g->group = group;
	} else {
		g_free(group);
	}
	return good;
}

static char **texts_of(const struct grouping *g, const struct shape *s, enum detail detail)
{
	char **texts = g_new(char *, g->outcomes->len);
	for (guint i = 0; i < g->outcomes->len; i++)
		texts[i] = in_detail(s->lines[i], detail);
	return texts;
}

static void count_different(const struct grouping *g, struct shape *s)
{
	for (enum detail d = 0; d < DETAILS; d++) {
		g_autoptr(GHashTable) texts =
		        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		g_autofree char **each = texts_of(g, s, d);
		for (guint i = 0; i < g->outcomes->len; i++)
			g_hash_table_add(texts, each[i]);
		s->different[d] = g_hash_table_size(texts);
	}
	guint number = 0;
	s->steady = true;
	for (guint i = 0; i < g->outcomes->len; i++) {
		guint own = s->lines[i] ? s->lines[i]->len : 0;
		s->steady &= number == 0 || own == 0 || own == number;
		number = own ? own : number;
	}
}

static gint least_varying(gconstpointer a, gconstpointer b)
{
	const struct shape *x = *(struct shape *const *)a, *y = *(struct shape *const *)b;
	if (x->different[0] != y->different[0])
		return x->different[0] < y->different[0] ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Split by the order of lines of different shapes, among those whose order is compared. */
static void refine_by_order(struct grouping *g)
{
	g_autoptr(GHashTable) ordered = g_hash_table_new(g_str_hash, g_str_equal);
	char **texts = g_new(char *, g->outcomes->len);
	for (guint k = 0; k < g->shapes->len; k++) {
		struct shape *s = g->shapes->pdata[k];
		if (s->compared == DETAIL_ORDER)
			g_hash_table_add(ordered, s->text);
	}
	for (guint i = 0; i < g->outcomes->len; i++) {
		const struct shake_outcome *o = g->outcomes->pdata[i];
		GString *text = g_string_new(NULL);
		for (guint k = 0; k < o->lines->len; k++) {
			g_autofree char *shape = shape_of(o->lines->pdata[k]);
			if (g_hash_table_contains(ordered, shape))
				g_string_append_printf(text, "%s\n", shape);
		}
		texts[i] = g_string_free(text, FALSE);
	}
	refine(g, texts);
}

static void compare_lines(struct grouping *g)
{
	find_shapes(g);
	for (guint k = 0; k < g->shapes->len; k++)
		count_different(g, g->shapes->pdata[k]);
	g_ptr_array_sort(g->shapes, least_varying);
	for (guint k = 0; k < g->shapes->len; k++) {
		struct shape *s = g->shapes->pdata[k];
		s->compared = DETAIL_ORDER;
		while (s->compared < DETAILS && (s->different[s->compared] > g->most ||
		                                 !refine(g, texts_of(g, s, s->compared))))
			s->compared++;
	}
	refine_by_order(g);
}

/* -- one outcome for each group ------------------------------------------------------------ */

/* The last line of a shape whose texts were compared. */
static char *last_compared(const struct grouping *g, const struct shake_outcome *o)
{
	for (guint k = o->lines->len; k-- > 0;) {
		g_autofree char *shape = shape_of(o->lines->pdata[k]);
		bool compared = false;
		for (guint i = 0; i < g->shapes->len && !compared; i++) {
			const struct shape *s = g->shapes->pdata[i];
			compared = s->compared < DETAIL_ANY && strcmp(s->text, shape) == 0 &&
			           *s->text;
		}
		if (compared)
			return shown(o->lines->pdata[k]);
	}
	return g_strdup(o->line);
}

static void note_left_out(struct outcomes *x, const struct grouping *g)
{
	for (guint k = 0; k < g->shapes->len; k++) {
		const struct shape *s = g->shapes->pdata[k];
		if (s->compared == DETAIL_ORDER)
			continue;
		struct left_out l = { .shape = shown(s->text),
			              .texts = s->different[DETAIL_ORDER],
			              .steady = s->compared >= DETAIL_ANY && s->steady };
		g_array_append_val(x->left_out, l);
	}
}

/* Merge each group into its first outcome. */
static void merge(struct grouping *g, GPtrArray *into)
{
	g_autofree struct shake_outcome **first =
	        g_new0(struct shake_outcome *, g->outcomes->len);
	for (guint i = 0; i < g->outcomes->len; i++) {
		struct shake_outcome *o = g->outcomes->pdata[i], *known = first[g->group[i]];
		if (!known) {
			char *line = g->shapes->len ? last_compared(g, o) : g_strdup(o->line);
			g_free(o->line);
			o->line = line;
			first[g->group[i]] = o;
			g_ptr_array_add(into, o);
			continue;
		}
		known->count += o->count;
		known->outputs += o->outputs;
		outcome_free(o);
	}
}

static gint most_frequent_first(gconstpointer a, gconstpointer b)
{
	const struct shake_outcome *x = *(struct shake_outcome *const *)a,
	                           *y = *(struct shake_outcome *const *)b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->run < y->run ? -1 : x->run > y->run;
}

static gint first_first(gconstpointer a, gconstpointer b)
{
	const struct shake_outcome *x = *(struct shake_outcome *const *)a,
	                           *y = *(struct shake_outcome *const *)b;
	return x->run < y->run ? -1 : x->run > y->run;
}

void outcomes_sort(struct outcomes *x)
{
	g_ptr_array_sort(x->list, first_first);
}

void outcomes_group(struct outcomes *x)
{
	struct grouping g = { .outcomes = x->list, .shapes = g_ptr_array_new() };
	uint64_t runs = 0, ends = 0;
	g.group = g_new(uint32_t, x->list->len);
	for (guint i = 0; i < x->list->len; i++) {
		guint k = 0;
		while (!outcome_same_end(x->list->pdata[k], x->list->pdata[i]))
			k++;
		ends += k == i;
		g.group[i] = k;
		runs += ((struct shake_outcome *)x->list->pdata[i])->count;
	}
	g.most = few_of(runs) + ends;
	if (x->list->len > g.most) {
		compare_lines(&g);
		note_left_out(x, &g);
	} else {
		for (guint i = 0; i < x->list->len; i++)
			g.group[i] = i;
	}
	x->list = g_ptr_array_new_with_free_func(free_outcome);
	merge(&g, x->list);
	g_ptr_array_sort(x->list, most_frequent_first);
	for (guint k = 0; k < g.shapes->len; k++)
		shape_free(&g, g.shapes->pdata[k]);
	g_ptr_array_unref(g.shapes);
	g_ptr_array_set_free_func(g.outcomes, NULL);
	g_ptr_array_unref(g.outcomes);
	g_free(g.group);
}

bool outcomes_tell(const struct outcomes *x)
{
	bool found = x->list->len > 1;
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *o = x->list->pdata[i];
		found |= o->signal || o->deadlock || o->timed_out || o->misuses || o->use;
	}
	for (guint i = 0; i < x->left_out->len; i++)
		found |= g_array_index(x->left_out, struct left_out, i).steady;
	return found;
}
