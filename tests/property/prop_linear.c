/*
 * prop_linear.c - the checker of linearizability (linear.h) against the definition: all total
 * orders of the invocations in which one that returned before another was called comes first,
 * with each of the pending ones included or not, on sequential objects written in C. Some
 * invocations were left by an exception: they have taken effect, with a result that is not
 * known.
 */
#include "engine/commute/linear/linear.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char objects[] =
        "object register { method read() / v\n method write(v)\n state x : value\n"
        " effect read() / v { v == x }\n effect write(v) { x := v } }\n"
        "object counter { method inc()\n method read() / r\n method swap(n) / r\n state n : int\n"
        " effect inc() { n := n + 1 }\n effect read() / r { r == n }\n"
        " effect swap(k) / r { r == n; n := k } }\n"
        "object queue { method put(v)\n method get() / r\n method wait() / r\n"
        " state items : map\n state head : int\n state tail : int\n"
        " effect put(v) { items[tail] := v; tail := tail + 1 }\n"
        " effect get() / r { (head < tail && r == items[head]) || (head >= tail && r == nil);"
        " head := head + (head < tail) }\n"
        " effect wait() / r { head < tail; r == items[head]; head := head + 1 } }\n"
        "object stack { method push(v)\n method pop() / r\n state items : map\n state top : int\n"
        " effect push(v) { items[top] := v; top := top + 1 }\n"
        " effect pop() / r { (top > 0 && r == items[top - 1]) || (top <= 0 && r == nil);"
        " top := top - (top > 0) } }\n"
        "object set { method add(v) / r\n method remove(v) / r\n method has(v) / r\n"
        " method size() / n\n method any() / r\n state s : set\n state n : int\n"
        " effect add(v) / r { r == !(v in s); n := n + !(v in s); s += v }\n"
        " effect remove(v) / r { r == (v in s); n := n - (v in s); s -= v }\n"
        " effect has(v) / r { r == (v in s) }\n effect size() / r { r == n }\n"
        " effect any() / r { (r in s) || (n == 0 && r == nil); n := n - (n > 0); s -= r } }\n"
        "object map { method put(k, v) / p\n method get(k) / v\n state d : map\n"
        " effect put(k, v) / p { p == d[k]; d[k] := v }\n effect get(k) / v { v == d[k] } }\n";
static const char *const names[] = { "register", "counter", "queue", "stack", "set", "map" };
enum { REGISTER, COUNTER, QUEUE, STACK, SET, MAP, KINDS };

enum { MOST = 8, ROOM = 32, NIL = -1, NO = -2, YES = -3, UNKNOWN = -4 };

/* A sequential object; its values are the numbers from 0, and the three above. */
struct sequential {
	int n, items[ROOM];
};

/* Returns an invocation's result; *can: may it be called in this state? */
static int perform(struct sequential *s, int kind, uint32_t method, int a, int b, bool *can)
{
	int old = s->n;
	*can = true;
	switch (kind * 8 + (int)method) {
	case REGISTER * 8:
		return s->items[0];
	case REGISTER * 8 + 1:
		s->items[0] = a;
		return NIL;
	case COUNTER * 8:
		s->n++;
		return NIL;
	case COUNTER * 8 + 1:
		return s->n;
	case COUNTER * 8 + 2:
		s->n = a;
		return old;
	case QUEUE * 8:
	case STACK * 8:
		s->items[s->n++] = a;
		return NIL;
	case QUEUE * 8 + 1:
	case QUEUE * 8 + 2:
		*can = s->n > 0 || method == 1;
		if (s->n == 0)
			return NIL;
		old = s->items[0];
		memmove(s->items, s->items + 1, sizeof *s->items * (size_t)--s->n);
		return old;
	case STACK * 8 + 1:
		return s->n == 0 ? NIL : s->items[--s->n];
	case SET * 8:
		old = s->items[a];
		s->items[a] = 1;
		return old ? NO : YES;
	case SET * 8 + 1:
		old = s->items[a];
		s->items[a] = 0;
		return old ? YES : NO;
	case SET * 8 + 2:
		return s->items[a] ? YES : NO;
	case SET * 8 + 3:
		for (int i = old = 0; i < ROOM; i++)
			old += s->items[i];
		return old;
	case MAP * 8:
		old = s->items[a];
		s->items[a] = b;
		return old;
	default:
		return s->items[a];
	}
}

static struct sequential new_object(int kind)
{
	struct sequential s = { 0 };
	for (int i = 0; i < ROOM && (kind == REGISTER || kind == MAP); i++)
		s.items[i] = NIL;
	return s;
}

struct invocation {
	uint32_t call, ret, thread, method;
	int a, b, result;
};
struct example {
	int kind;
	uint32_t count;
	struct invocation all[MOST];
};

/* -- the definition ------------------------------------------------------------------------ */

/* `any` takes each member, or nil from an empty set. */
static bool returns_any(struct sequential *s, int result, bool free_choice, int *choice)
{
	int members = 0;
	for (int i = 0; i < ROOM; i++)
		members += s->items[i];
	if (members == 0)
		return *choice < 0 && (free_choice || result == NIL);
	if (*choice < 0 || !s->items[*choice] || (!free_choice && result != *choice))
		return false;
	s->items[*choice] = 0;
	return true;
}

static bool explained(const struct example *x, struct sequential s, uint32_t placed)
{
	bool done = true;
	for (uint32_t i = 0; i < x->count; i++)
		done &= (placed >> i & 1) || x->all[i].ret == NONE;
	if (done)
		return true;
	for (uint32_t i = 0; i < x->count; i++) {
		const struct invocation *c = &x->all[i];
		bool next = !(placed >> i & 1), can;
		bool pending = c->ret == NONE || c->result == UNKNOWN;
		for (uint32_t k = 0; k < x->count && next; k++)
			next = (placed >> k & 1) || x->all[k].ret >= c->call;
		if (!next)
			continue;
		bool any = x->kind == SET && c->method == 4;
		for (int choice = NIL; choice < (any ? 5 : 0); choice++) {
			struct sequential then = s;
			int r = any ? NIL
			            : perform(&then, x->kind, c->method, c->a, c->b, &can);
			bool good = any ? returns_any(&then, c->result, pending, &choice)
			                : can && (pending || r == c->result);
			if (good && explained(x, then, placed | 1u << i))
				return true;
		}
	}
	return false;
}

/* -- random histories ---------------------------------------------------------------------- */

/* Results as of the order of some moments within the intervals. */
static void fill_results(struct dice *d, struct example *x)
{
	uint32_t order[MOST];
	struct sequential s = new_object(x->kind);
	for (uint32_t placed = 0; placed < x->count; placed++) {
		uint32_t from = roll(d, x->count), i = from, k;
		for (;; i = (i + 1) % x->count) { /* one of those that may be next */
			bool next = true;
			for (k = 0; k < placed; k++)
				next &= order[k] != i;
			for (k = 0; k < x->count && next; k++) {
				bool before = x->all[k].ret < x->all[i].call, there = false;
				for (uint32_t n = 0; n < placed; n++)
					there |= order[n] == k;
				next = !before || there;
			}
			if (next)
				break;
		}
		order[placed] = i;
		struct invocation *c = &x->all[i];
		bool can;
		int choice = NIL;
		if (x->kind == SET && c->method == 4) {
			for (int v = 0; v < 5; v++)
				choice = s.items[v] ? v : choice;
			c->result = choice;
			returns_any(&s, choice, true, &choice);
		} else {
			c->result = perform(&s, x->kind, c->method, c->a, c->b, &can);
		}
	}
}

static void random_history(struct dice *d, const struct spec_object *o, struct example *x)
{
	uint32_t threads = 2 + roll(d, 3), running[4] = { 0 }, time = 1;
	uint32_t most = 2 + roll(d, MOST - 1);
	for (bool more = true; more; time++) {
		uint32_t u = roll(d, threads);
		if (running[u]) {
			x->all[running[u] - 1].ret = time;
			running[u] = 0;
		} else if (x->count < most) {
			uint32_t method = roll(d, o->methods->len);
			x->all[x->count++] = (struct invocation){ .call = time,
				                                  .ret = NONE,
				                                  .thread = u,
				                                  .method = method,
				                                  .a = (int)roll(d, 3),
				                                  .b = (int)roll(d, 3) };
			running[u] = x->count;
		}
		more = x->count < most || roll(d, 6) > 0;
	}
	fill_results(d, x);
	for (uint32_t i = roll(d, 3); i > 0; i--) {
		struct invocation *c = &x->all[roll(d, x->count)];
		if (spec_method_at(o, c->method)->results == 0)
			continue;
		if (roll(d, 6) == 0) { /* left by an exception: it has taken effect */
			c->result = UNKNOWN;
			continue;
		}
		c->result = c->result == NO ? YES : c->result == YES ? NO : (int)roll(d, 4) - 1;
	}
}

static struct val val_of(int v)
{
	return v == NIL       ? (struct val){ .kind = V_NIL }
	       : v == NO      ? (struct val){ .kind = V_FALSE }
	       : v == YES     ? (struct val){ .kind = V_TRUE }
	       : v == UNKNOWN ? (struct val){ .kind = V_NONE }
	                      : (struct val){ .kind = V_INT, .n = v };
}

static void convert(const struct example *x, const struct spec_object *o,
                    struct linear_call *calls, struct val vals[MOST][3])
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct invocation *c = &x->all[i];
		const struct spec_method *m = spec_method_at(o, c->method);
		uint32_t n = 0;
		if (m->arguments > 0)
			vals[i][n++] = val_of(c->a);
		if (m->arguments > 1)
			vals[i][n++] = val_of(c->b);
		vals[i][n] = val_of(c->result);
		calls[i] =
		        (struct linear_call){ c->call, c->ret, c->thread, c->method, vals[i] };
	}
}

/* -- comparison ---------------------------------------------------------------------------- */

static uint64_t yes, no, undecided, pending_no, unknown_no, shrunk, divided;

/* The order explains the results of its invocations, and respects real time. */
static void check_order(const struct example *x, const struct linear_result *r)
{
	struct sequential s = new_object(x->kind);
	for (guint i = 0; i < r->order->len; i++) {
		const struct invocation *c = &x->all[g_array_index(r->order, uint32_t, i)];
		bool can, any = x->kind == SET && c->method == 4;
		int choice = c->result;
		if (any && (c->ret == NONE || c->result == UNKNOWN))
			return;
		ck_assert(any ? returns_any(&s, c->result, false, &choice)
		              : perform(&s, x->kind, c->method, c->a, c->b, &can) ==
		                                  c->result ||
		                          c->ret == NONE || c->result == UNKNOWN);
		for (guint k = 0; k < i; k++)
			ck_assert(x->all[g_array_index(r->order, uint32_t, k)].call <= c->ret);
	}
}

static void check_smaller(const struct example *x, const struct linear_history *h,
                          const struct linear_result *r)
{
	GArray *kept = linear_shrink(h, r, 1000000);
	struct linear_history part = linear_part_of(h, kept);
	struct example small = { .kind = x->kind, .count = kept->len };
	for (guint i = 0; i < kept->len; i++) {
		small.all[i] = x->all[g_array_index(kept, struct linear_kept, i).of];
		small.all[i].ret = part.calls[i].ret;
	}
	ck_assert(!explained(&small, new_object(x->kind), 0));
	shrunk += kept->len < x->count;
	g_array_unref(kept);
	g_free((void *)part.calls);
}

/* By keys the answer is the same. */
static void check_keys(const struct linear_history *h, enum linear_answer answer)
{
	bool used[8] = { false };
	uint32_t keys[8];
	for (uint32_t i = 0; i < h->count; i++)
		used[h->calls[i].method] = true;
	if (!linear_has_keys(h->o, used, keys))
		return;
	enum linear_answer all = LINEAR_YES;
	for (int64_t key = 0; key < 3; key++) {
		struct linear_call calls[MOST];
		struct linear_history part = { h->o, h->texts, calls, 0 };
		for (uint32_t i = 0; i < h->count; i++) {
			uint32_t at = keys[h->calls[i].method];
			if (at != NONE && h->calls[i].names[at].n == key)
				calls[part.count++] = h->calls[i];
		}
		uint64_t spent = 0;
		struct linear_result r = linear_check(&part, 1000000, &spent);
		if (all != LINEAR_NO && r.answer != LINEAR_YES)
			all = r.answer;
		linear_result_release(&r);
	}
	ck_assert_int_eq(all, answer);
	divided++;
}

static void compare(struct dice *d, const struct specs *specs, struct texts *texts,
                    uint64_t seed)
{
	struct example x = { .kind = (int)roll(d, KINDS) };
	const struct spec_object *o = specs_object(specs, names[x.kind]);
	struct linear_call calls[MOST];
	struct val vals[MOST][3];
	uint64_t used = 0;
	random_history(d, o, &x);
	convert(&x, o, calls, vals);
	struct linear_history h = { o, texts, calls, x.count };
	struct linear_result r = linear_check(&h, 1000000, &used);
	bool linearizable = explained(&x, new_object(x.kind), 0), open = false, pending = false,
	     unknown = false;
	for (uint32_t i = 0; i < x.count; i++) {
		pending |= x.all[i].ret == NONE;
		open |= x.all[i].ret == NONE && x.kind == SET && x.all[i].method == 4;
		open |= x.all[i].result == UNKNOWN; /* its effect may depend on it */
		unknown |= x.all[i].ret != NONE && x.all[i].result == UNKNOWN;
	}
	ck_assert_msg(r.answer == (linearizable ? LINEAR_YES : LINEAR_NO) ||
	                      (open && r.answer == LINEAR_UNDECIDED && r.unclear != NONE),
	              "seed %" G_GUINT64_FORMAT ", %s: %d, %s", seed, names[x.kind], r.answer,
	              linearizable ? "linearizable" : "not");
	yes += r.answer == LINEAR_YES;
	no += r.answer == LINEAR_NO;
	pending_no += r.answer == LINEAR_NO && pending;
	unknown_no += r.answer == LINEAR_NO && unknown;
	undecided += r.answer == LINEAR_UNDECIDED;
	if (r.answer != LINEAR_UNDECIDED)
		check_order(&x, &r);
	if (r.answer == LINEAR_NO)
		check_smaller(&x, &h, &r);
	if (r.answer != LINEAR_UNDECIDED)
		check_keys(&h, r.answer);
	linear_result_release(&r);
	used = 0;
	r = linear_check(&h, roll(d, 8), &used); /* never wrong for want of budget */
	ck_assert(r.answer == LINEAR_UNDECIDED ||
	          r.answer == (linearizable ? LINEAR_YES : LINEAR_NO));
	linear_result_release(&r);
}

START_TEST(the_checker_agrees_with_all_orders)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1),
	         count = mix_setting("HEDDLE_TRACES", 6000);
	struct specs *specs = specs_new();
	struct error error = { 0 };
	struct texts texts;
	ck_assert(specs_parse(specs, "objects", objects, strlen(objects), &error));
	texts_init(&texts);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct dice d = { seed };
		compare(&d, specs, &texts, seed);
	}
	if (mix_default()) {
		ck_assert_uint_gt(yes, count / 4);
		ck_assert_uint_gt(no, count / 10);
		ck_assert_uint_gt(pending_no, count / 50);
		ck_assert_uint_gt(unknown_no, count / 500);
		ck_assert_uint_gt(undecided, 0);
		ck_assert_uint_gt(shrunk, count / 50);
		ck_assert_uint_gt(divided, count / 20);
	}
	texts_release(&texts);
	specs_free(specs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("linear");
	TCase *c = tcase_create("histories");
	tcase_set_timeout(c, 600);
	tcase_add_test(c, the_checker_agrees_with_all_orders);
	suite_add_tcase(s, c);
	return suite_run(s);
}
