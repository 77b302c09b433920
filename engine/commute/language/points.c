/* points.c - see points.h. */
#include "engine/commute/language/points.h"
#include "engine/commute/language/form.h"

#include <string.h>

/* -- classification ----------------------------------------------------------------------- */

static const struct expr *first_crossing(const struct form *f)
{
	if (f->kind == FORM_LITERAL)
		return f->crosses ? f->atom : NULL;
	for (guint i = 0; f->parts != NULL && i < f->parts->len; i++) {
		const struct expr *e = first_crossing(f->parts->pdata[i]);
		if (e != NULL)
			return e;
	}
	return NULL;
}

static bool is_ecl(const struct form *f, struct ecl *result)
{
	if (!f->crosses)
		return true;
	if (f->kind == FORM_LITERAL) {
		if (form_is_difference(f))
			return true;
		result->in_the_way = f->atom;
		result->why = "it speaks of both sides and is not `a != b` of two names";
		return false;
	}
	bool crossed = false;
	for (guint i = 0; i < f->parts->len; i++) {
		const struct form *part = f->parts->pdata[i];
		if (!is_ecl(part, result))
			return false;
		if (f->kind == FORM_OR && part->crosses && crossed) {
			result->in_the_way = first_crossing(part);
			result->why =
			        "it stands in a disjunction with another atom across the two "
			        "sides";
			return false;
		}
		crossed |= part->crosses;
	}
	return true;
}

static bool is_simple(const struct form *f)
{
	if (f->kind == FORM_TRUE || f->kind == FORM_FALSE || form_is_difference(f))
		return true;
	if (f->kind != FORM_AND)
		return false;
	for (guint i = 0; i < f->parts->len; i++)
		if (!is_simple(f->parts->pdata[i]))
			return false;
	return true;
}

struct ecl ecl_classify(const struct spec_condition *c)
{
	struct ecl result = { 0 };
	struct form *f = form_new(c->formula);
	result.class = is_simple(f) ? ECL_SIMPLE : is_ecl(f, &result) ? ECL_YES : ECL_NEITHER;
	form_free(f);
	return result;
}

const char *ecl_word(enum ecl_class class)
{
	static const char *const words[] = { "SIMPLE", "ECL", "neither" };
	return words[class];
}

/* -- translation -------------------------------------------------------------------------- */

#define MOST_PREDICATES 10 /* of a method: 1024 beta vectors */
#define MOST_RAW_POINTS 4096

/* A maximal one-sided formula: a component of the beta vector. */
struct predicate {
	struct form *form;
	char *canonical;
};

/* A condition over predicates and differences. */
struct condition_node {
	enum { NODE_TRUE, NODE_FALSE, NODE_PREDICATE, NODE_DIFFERENCE, NODE_AND, NODE_OR } kind;
	uint8_t side;       /* PREDICATE */
	bool negated;       /* PREDICATE */
	uint32_t predicate; /* of the side's method */
	uint32_t slots[2];  /* DIFFERENCE: names of side 0 and side 1 */
	GPtrArray *parts;
};

/* The points touched under one assignment of the predicates. */
struct beta {
	struct touch *touches;
	uint32_t count;
};

struct method_points {
	GPtrArray *predicates; /* struct predicate * */
	GArray *slots;         /* uint32_t: names that occur in differences */
	struct beta *betas;    /* 1 << predicates->len */
	uint32_t first_raw; /* first of its raw points: betas * (1 + slots), each beta's unkeyed
	                       one first */
	bool any_pairwise;
};

struct points {
	const struct spec_object *o;
	struct method_points *methods;
	GPtrArray *points; /* struct point * */
	bool *pairwise;    /* [m1 * methods + m2] */
	/* -- while building */
	struct condition_node **nodes; /* by condition; NULL: pairwise */
	uint32_t raw_count;
	uint8_t *matrix; /* raw x raw */
};

static void node_free(void *node)
{
	struct condition_node *n = node;
	if (n != NULL && n->parts != NULL)
		g_ptr_array_unref(n->parts);
	g_free(n);
}

static void predicate_free(void *predicate)
{
	struct predicate *p = predicate;
	form_free(p->form);
	g_free(p->canonical);
	g_free(p);
}

static void point_free(void *point)
{
	struct point *p = point;
	g_free(p->name);
	g_free(p->key);
	g_array_unref(p->conflicts);
	g_free(p);
}

void points_free(struct points *p)
{
	if (p == NULL)
		return;
	for (guint m = 0; m < p->o->methods->len; m++) {
		struct method_points *mp = &p->methods[m];
		for (uint32_t b = 0; mp->betas != NULL && b < 1u << mp->predicates->len; b++)
			g_free(mp->betas[b].touches);
		g_free(mp->betas);
		g_ptr_array_unref(mp->predicates);
		g_array_unref(mp->slots);
	}
	g_free(p->methods);
	g_ptr_array_unref(p->points);
	g_free(p->pairwise);
	g_free(p);
}

/* The predicate of a method for a one-sided formula. A formula and its negation share one. */
static uint32_t predicate_of(struct points *p, uint32_t method, const struct form *f,
                             bool *negated)
{
	GPtrArray *list = p->methods[method].predicates;
	char **names = spec_method_at(p->o, method)->names;
	struct form *negation = form_negation(f);
	g_autofree char *text = form_canonical(p->o, f, names),
	                *opposite = form_canonical(p->o, negation, names);
	uint32_t found = NONE;
	for (guint i = 0; found == NONE && i < list->len; i++) {
		const struct predicate *q = list->pdata[i];
		*negated = strcmp(q->canonical, opposite) == 0;
		if (*negated || strcmp(q->canonical, text) == 0)
			found = i;
	}
	if (found == NONE) {
		struct predicate *q = g_new0(struct predicate, 1);
		q->form = form_copy(f);
		q->canonical = g_strdup(text);
		g_ptr_array_add(list, q);
		found = list->len - 1;
		*negated = false;
	}
	form_free(negation);
	return found;
}

static void note_slot(struct points *p, uint32_t method, uint32_t slot)
{
	GArray *slots = p->methods[method].slots;
	for (guint i = 0; i < slots->len; i++)
		if (g_array_index(slots, uint32_t, i) == slot)
			return;
	g_array_append_val(slots, slot);
}

static struct condition_node *node_of(struct points *p, const struct spec_condition *c,
                                      const struct form *f)
{
	struct condition_node *n = g_new0(struct condition_node, 1);
	if (f->kind == FORM_TRUE || f->kind == FORM_FALSE) {
		n->kind = f->kind == FORM_TRUE ? NODE_TRUE : NODE_FALSE;
	} else if (f->sides != SIDE_BOTH) {
		n->kind = NODE_PREDICATE;
		n->side = f->sides == SIDE_SECOND;
		n->predicate = predicate_of(p, c->methods[n->side], f, &n->negated);
	} else if (f->kind == FORM_LITERAL) {
		n->kind = NODE_DIFFERENCE;
		const struct expr *a = f->atom->a, *b = f->atom->b;
		n->slots[a->side] = a->index;
		n->slots[b->side] = b->index;
		note_slot(p, c->methods[0], n->slots[0]);
		note_slot(p, c->methods[1], n->slots[1]);
	} else {
		n->kind = f->kind == FORM_AND ? NODE_AND : NODE_OR;
		n->parts = g_ptr_array_new_with_free_func(node_free);
		for (guint i = 0; i < f->parts->len; i++)
			g_ptr_array_add(n->parts, node_of(p, c, f->parts->pdata[i]));
	}
	return n;
}

/* phi[beta1; beta2]: false, or true with the remaining differences appended to `left`. */
static bool node_evaluate(const struct condition_node *n, const uint32_t beta[2],
                          GPtrArray *left)
{
	guint before = left->len;
	bool any;
	switch (n->kind) {
	case NODE_TRUE:
		return true;
	case NODE_FALSE:
		return false;
	case NODE_PREDICATE:
		return (beta[n->side] >> n->predicate & 1) != n->negated;
	case NODE_DIFFERENCE:
		g_ptr_array_add(left, (void *)n);
		return true;
	case NODE_AND:
		for (guint i = 0; i < n->parts->len; i++)
			if (!node_evaluate(n->parts->pdata[i], beta, left))
				return false;
		return true;
	default:
		/* At most one part has differences; a part that is true makes them
		 * irrelevant. */
		any = false;
		for (guint i = 0; i < n->parts->len; i++) {
			guint had = left->len;
			if (!node_evaluate(n->parts->pdata[i], beta, left)) {
				g_ptr_array_set_size(left, (gint)had);
			} else if (left->len == had) {
				g_ptr_array_set_size(left, (gint)before);
				return true;
			} else {
				any = true;
			}
		}
		return any;
	}
}

static uint32_t slots_per_beta(const struct method_points *mp)
{
	return 1 + mp->slots->len;
}

static uint32_t raw_point(const struct points *p, uint32_t method, uint32_t beta, uint32_t slot)
{
	const struct method_points *mp = &p->methods[method];
	uint32_t at = 0;
	if (slot != NONE)
		while (g_array_index(mp->slots, uint32_t, at++) != slot)
			;
	return mp->first_raw + beta * slots_per_beta(mp) + at;
}

static void set_conflict(struct points *p, uint32_t a, uint32_t b)
{
	p->matrix[(size_t)a * p->raw_count + b] = 1;
	p->matrix[(size_t)b * p->raw_count + a] = 1;
}

/* The conflict relation of section 6.2 for one pair of methods. */
static void fill_pair(struct points *p, const uint32_t methods[2],
                      const struct condition_node *n)
{
	g_autoptr(GPtrArray) left = g_ptr_array_new();
	uint32_t beta[2];
	for (beta[0] = 0; beta[0] < 1u << p->methods[methods[0]].predicates->len; beta[0]++)
		for (beta[1] = 0; beta[1] < 1u << p->methods[methods[1]].predicates->len;
		     beta[1]++) {
			g_ptr_array_set_size(left, 0);
			if (n == NULL || !node_evaluate(n, beta, left)) {
				set_conflict(p, raw_point(p, methods[0], beta[0], NONE),
				             raw_point(p, methods[1], beta[1], NONE));
				continue;
			}
			for (guint i = 0; i < left->len; i++) {
				const struct condition_node *d = left->pdata[i];
				set_conflict(p, raw_point(p, methods[0], beta[0], d->slots[0]),
				             raw_point(p, methods[1], beta[1], d->slots[1]));
			}
		}
}

static void fill_matrix(struct points *p)
{
	guint n = p->o->methods->len;
	for (uint32_t m1 = 0; m1 < n; m1++)
		for (uint32_t m2 = m1; m2 < n; m2++) {
			const struct spec_condition *c = spec_condition_of(p->o, m1, m2);
			if (c == NULL) {
				fill_pair(p, (uint32_t[]){ m1, m2 }, NULL);
				continue;
			}
			guint i = 0;
			while (p->o->conditions->pdata[i] != c)
				i++;
			if (p->nodes[i] != NULL)
				fill_pair(p, c->methods, p->nodes[i]);
		}
}

/* Order in which names are given: keyed points that conflict with themselves, other keyed ones,
 * the rest. */
static int raw_rank(const struct points *p, uint32_t raw)
{
	guint m = p->o->methods->len - 1;
	while (p->methods[m].first_raw > raw)
		m--;
	const struct method_points *mp = &p->methods[m];
	bool keyed = (raw - mp->first_raw) % slots_per_beta(mp) != 0;
	return !keyed ? 2 : p->matrix[(size_t)raw * p->raw_count + raw] ? 0 : 1;
}

/* Class of each raw point: those with equal rows are one, those with an empty row none. */
static uint32_t *merge_equal_rows(const struct points *p, uint32_t *classes)
{
	uint32_t *class_of = g_new(uint32_t, p->raw_count + 1);
	g_autofree uint32_t *first = g_new(uint32_t, p->raw_count + 1);
	size_t row_size = p->raw_count;
	*classes = 0;
	for (uint32_t pass = 0; pass < 3 * p->raw_count; pass++) {
		uint32_t r = pass % p->raw_count, c = 0;
		const uint8_t *row = p->matrix + r * row_size;
		if (raw_rank(p, r) != (int)(pass / p->raw_count))
			continue;
		class_of[r] = NONE;
		if (memchr(row, 1, row_size) == NULL)
			continue;
		while (c < *classes &&
		       memcmp(p->matrix + first[c] * row_size, row, row_size) != 0)
			c++;
		if (c == *classes)
			first[(*classes)++] = r;
		class_of[r] = c;
	}
	return class_of;
}

static void add_touch(struct beta *b, struct touch t)
{
	b->touches = g_renew(struct touch, b->touches, b->count + 1);
	b->touches[b->count++] = t;
}

/* Make a point for each class, and the touches of each beta vector. */
static void make_points(struct points *p)
{
	uint32_t classes, *class_of = merge_equal_rows(p, &classes);
	for (uint32_t c = 0; c < classes; c++) {
		struct point *point = g_new0(struct point, 1);
		point->conflicts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_ptr_array_add(p->points, point);
	}
	bool *seen = g_new0(bool, (size_t)classes *classes + 1);
	for (uint32_t a = 0; a < p->raw_count; a++)
		for (uint32_t b = 0; b < p->raw_count; b++) {
			if (!p->matrix[(size_t)a * p->raw_count + b] ||
			    seen[class_of[a] * classes + class_of[b]])
				continue;
			seen[class_of[a] * classes + class_of[b]] = true;
			struct point *point = p->points->pdata[class_of[a]];
			g_array_append_val(point->conflicts, class_of[b]);
		}
	g_free(seen);
	for (guint m = 0; m < p->o->methods->len; m++) {
		struct method_points *mp = &p->methods[m];
		char **names = spec_method_at(p->o, m)->names;
		mp->betas = g_new0(struct beta, 1u << mp->predicates->len);
		for (uint32_t beta = 0; beta < 1u << mp->predicates->len; beta++)
			for (uint32_t at = 0; at < slots_per_beta(mp); at++) {
				uint32_t c = class_of[mp->first_raw +
				                      beta * slots_per_beta(mp) + at];
				if (c == NONE)
					continue;
				uint32_t slot =
				        at == 0 ? NONE
				                : g_array_index(mp->slots, uint32_t, at - 1);
				add_touch(&mp->betas[beta], (struct touch){ c, slot });
				struct point *point = p->points->pdata[c];
				if (slot != NONE && point->key == NULL)
					point->key = g_strdup(names[slot]);
			}
	}
	g_free(class_of);
}

/* -- names -------------------------------------------------------------------------------- */

static bool touches_point(const struct points *p, uint32_t method, uint32_t beta,
                          uint32_t point)
{
	const struct beta *b = &p->methods[method].betas[beta];
	for (uint32_t i = 0; i < b->count; i++)
		if (b->touches[i].point == point)
			return true;
	return false;
}

/* Number of a method's beta vectors that touch the point: 0 none, 1 some, 2 all. */
static uint32_t touch_extent(const struct points *p, uint32_t method, uint32_t point)
{
	uint32_t count = 0, all = 1u << p->methods[method].predicates->len;
	for (uint32_t beta = 0; beta < all; beta++)
		count += touches_point(p, method, beta, point);
	return count == all ? 2 : count > 0;
}

/* The only method that touches a point, if it always does; or NONE. */
static uint32_t only_method(const struct points *p, uint32_t point)
{
	uint32_t only = NONE;
	for (guint m = 0; m < p->o->methods->len; m++) {
		uint32_t often = touch_extent(p, m, point);
		if (often == 0)
			continue;
		if (often == 1 || only != NONE)
			return NONE;
		only = m;
	}
	return only;
}

static bool clashes_with(const struct point *a, uint32_t b)
{
	for (guint i = 0; i < a->conflicts->len; i++)
		if (g_array_index(a->conflicts, uint32_t, i) == b)
			return true;
	return false;
}

/* Does it conflict with the size alone? */
static bool is_resize(const struct points *p, const struct point *point)
{
	if (point->conflicts->len != 1)
		return false;
	uint32_t only = only_method(p, g_array_index(point->conflicts, uint32_t, 0));
	return only != NONE && strcmp(spec_method_at(p->o, only)->name, "size") == 0;
}

static char *point_name(const struct points *p, uint32_t at)
{
	const struct point *point = p->points->pdata[at];
	if (point->key != NULL) /* writes conflict with themselves, reads do not */
		return g_strdup(clashes_with(point, at) ? "w" : "r");
	if (is_resize(p, point) && only_method(p, at) == NONE)
		return g_strdup("resize");
	GString *name = g_string_new(NULL);
	for (guint m = 0; m < p->o->methods->len; m++)
		if (touch_extent(p, m, at) > 0)
			g_string_append_printf(name, "%s%s", name->len ? "/" : "",
			                       spec_method_at(p->o, m)->name);
	return g_string_free(name, FALSE);
}

static void name_points(struct points *p)
{
	for (guint i = 0; i < p->points->len; i++) {
		struct point *point = p->points->pdata[i];
		g_autofree char *name = point_name(p, i);
		uint32_t same = 0;
		for (guint k = 0; k < i; k++) {
			const char *other = ((struct point *)p->points->pdata[k])->name;
			size_t length = strlen(name);
			same += strncmp(other, name, length) == 0 &&
			        strspn(other + length, "0123456789") == strlen(other + length);
		}
		point->name = same ? g_strdup_printf("%s%u", name, same + 1) : g_strdup(name);
	}
}

/* -- construction ------------------------------------------------------------------------- */

static void choose_pairwise(struct points *p)
{
	guint n = p->o->methods->len;
	for (guint i = 0; i < p->o->conditions->len; i++) {
		const struct spec_condition *c = p->o->conditions->pdata[i];
		if (p->nodes[i] != NULL)
			continue;
		p->pairwise[c->methods[0] * n + c->methods[1]] = true;
		p->pairwise[c->methods[1] * n + c->methods[0]] = true;
		p->methods[c->methods[0]].any_pairwise = true;
		p->methods[c->methods[1]].any_pairwise = true;
	}
}

/* Number the raw points; false when they exceed the bounds. */
static bool number_raw(struct points *p)
{
	p->raw_count = 0;
	for (guint m = 0; m < p->o->methods->len; m++) {
		struct method_points *mp = &p->methods[m];
		if (mp->predicates->len > MOST_PREDICATES)
			return false;
		mp->first_raw = p->raw_count;
		p->raw_count += slots_per_beta(mp) << mp->predicates->len;
		if (p->raw_count > MOST_RAW_POINTS)
			return false;
	}
	return true;
}

static void node_drop(struct points *p, guint condition)
{
	node_free(p->nodes[condition]);
	p->nodes[condition] = NULL;
}

/* Beyond the bounds every condition is compared pairwise. */
static void drop_all_nodes(struct points *p)
{
	for (guint i = 0; i < p->o->conditions->len; i++)
		node_drop(p, i);
	for (guint m = 0; m < p->o->methods->len; m++) {
		g_ptr_array_set_size(p->methods[m].predicates, 0);
		g_array_set_size(p->methods[m].slots, 0);
	}
	number_raw(p);
}

struct points *points_new(const struct spec_object *o)
{
	struct points *p = g_new0(struct points, 1);
	guint n = o->methods->len;
	p->o = o;
	p->methods = g_new0(struct method_points, n + 1);
	p->points = g_ptr_array_new_with_free_func(point_free);
	p->pairwise = g_new0(bool, n *n + 1);
	for (guint m = 0; m < n; m++) {
		p->methods[m].predicates = g_ptr_array_new_with_free_func(predicate_free);
		p->methods[m].slots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	p->nodes = g_new0(struct condition_node *, o->conditions->len + 1);
	for (guint i = 0; i < o->conditions->len; i++) {
		const struct spec_condition *c = o->conditions->pdata[i];
		if (ecl_classify(c).class == ECL_NEITHER)
			continue;
		struct form *f = form_new(c->formula);
		form_consolidate(f);
		p->nodes[i] = node_of(p, c, f);
		form_free(f);
	}
	if (!number_raw(p))
		drop_all_nodes(p);
	p->matrix = g_malloc0((size_t)p->raw_count * p->raw_count + 1);
	fill_matrix(p);
	make_points(p);
	name_points(p);
	choose_pairwise(p);
	for (guint i = 0; i < o->conditions->len; i++)
		node_drop(p, i);
	g_free(p->nodes);
	g_free(p->matrix);
	p->nodes = NULL;
	p->matrix = NULL;
	return p;
}

/* -- queries ------------------------------------------------------------------------------ */

uint32_t points_count(const struct points *p)
{
	return p->points->len;
}

const struct point *points_at(const struct points *p, uint32_t point)
{
	return p->points->pdata[point];
}

bool points_pairwise(const struct points *p, uint32_t m1, uint32_t m2)
{
	return p->pairwise[m1 * p->o->methods->len + m2];
}

bool points_any_pairwise(const struct points *p, uint32_t method)
{
	return p->methods[method].any_pairwise;
}

const struct touch *points_touched(const struct points *p, uint32_t method,
                                   const struct val *names, struct texts *texts,
                                   uint32_t *count, bool *overflow)
{
	const struct method_points *mp = &p->methods[method];
	struct evaluation v = { .names = { names, names }, .texts = texts };
	uint32_t beta = 0;
	for (guint i = 0; i < mp->predicates->len; i++) {
		const struct predicate *q = mp->predicates->pdata[i];
		beta |= (uint32_t)(form_eval(q->form, &v) == TRUTH_YES) << i;
	}
	*overflow |= v.overflow;
	*count = mp->betas[beta].count;
	return mp->betas[beta].touches;
}

void point_print(const struct point *point, GString *out)
{
	g_string_append_printf(out, "o:%s", point->name);
	if (point->key)
		g_string_append_printf(out, ":%s", point->key);
}

/* Does a beta vector touch (point, slot)? */
static bool touched_under(const struct method_points *mp, uint32_t beta, struct touch t)
{
	const struct beta *b = &mp->betas[beta];
	for (uint32_t i = 0; i < b->count; i++)
		if (b->touches[i].point == t.point && b->touches[i].slot == t.slot)
			return true;
	return false;
}

static void print_predicate(const struct points *p, uint32_t method, uint32_t predicate,
                            bool holds, bool parens, GString *out)
{
	const struct predicate *q = p->methods[method].predicates->pdata[predicate];
	struct form *f = holds ? form_copy(q->form) : form_negation(q->form);
	parens &= f->parts != NULL;
	g_string_append(out, parens ? "(" : "");
	form_print(p->o, f, spec_method_at(p->o, method)->names, out);
	g_string_append(out, parens ? ")" : "");
	form_free(f);
}

/* The condition under which a method touches (point, slot), as a disjunction over the relevant
 * predicates. */
static char *touch_condition(const struct points *p, uint32_t method, struct touch t)
{
	const struct method_points *mp = &p->methods[method];
	uint32_t all = 1u << mp->predicates->len, matter = 0;
	for (uint32_t beta = 0; beta < all; beta++)
		for (guint i = 0; i < mp->predicates->len; i++)
			if (touched_under(mp, beta, t) != touched_under(mp, beta ^ 1u << i, t))
				matter |= 1u << i;
	GString *s = g_string_new(NULL);
	bool several = matter & (matter - 1);
	for (uint32_t beta = 0; matter != 0 && beta < all; beta++) {
		if ((beta & ~matter) != 0 || !touched_under(mp, beta, t))
			continue;
		g_string_append(s, s->len ? " || " : "");
		bool first = true;
		for (guint i = 0; i < mp->predicates->len; i++) {
			if (!(matter >> i & 1))
				continue;
			g_string_append(s, first ? "" : " && ");
			print_predicate(p, method, i, beta >> i & 1, several, s);
			first = false;
		}
	}
	return g_string_free(s, FALSE);
}

void points_of_method(const struct points *p, uint32_t method, GArray *rows)
{
	const struct method_points *mp = &p->methods[method];
	guint from = rows->len;
	for (uint32_t beta = 0; beta < 1u << mp->predicates->len; beta++)
		for (uint32_t i = 0; i < mp->betas[beta].count; i++) {
			struct touch t = mp->betas[beta].touches[i];
			bool seen = false;
			for (guint k = from; !seen && k < rows->len; k++) {
				struct touch u = g_array_index(rows, struct touch_row, k).touch;
				seen = u.point == t.point && u.slot == t.slot;
			}
			if (seen)
				continue;
			struct touch_row row = { t, touch_condition(p, method, t) };
			g_array_append_val(rows, row);
		}
}
