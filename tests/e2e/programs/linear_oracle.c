/*
 * linear_oracle.c - random programs for random_linear.c, and by all their interleavings, with
 * calls and returns as steps of their own, which of the two objects have a history that is not
 * linearizable, by all orders of its invocations. Usage: linear_oracle SEED. Prints the
 * program, and in the next line these objects, or "none".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, CALLS = 3, MOST = 2000000 };

static unsigned long state;
static unsigned roll(unsigned sides)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % sides;
}

struct call {
	int object, value;
	char method, text[40];
};
static struct call calls[THREADS][CALLS];
static int threads, counts[THREADS];

/* -- the program --------------------------------------------------------------------------- */

static void body_of(struct call *c)
{
	static const char *const adds[] = { "I%d", "L%dPS%d", "ML%dPS%dU", "I%dI%d", "L%d" };
	static const char *const reads[] = { "L%d", "L%dL%d", "ML%dU", "L%d" };
	static const char *const writes[] = { "K%dS%d", "MK%dS%dU", "K%dX%d", "K%dS%dS%d",
		                              "K%d" };
	int main = c->object * 2, other = roll(6) ? main : (int)roll(4);
	char *to = c->text;
	size_t size = sizeof c->text;
	if (c->method == 'w') {
		snprintf(to, size, writes[roll(5)], c->value, other, main);
	} else if (c->method == 'r') {
		snprintf(to, size, reads[roll(4)], roll(4) ? main : other, main);
	} else {
		/* the accumulator is what is returned: what was */
		static const char *const last[] = { "I%d", "L%dS3I%d", "MI%dU", "I3L%d" };
		snprintf(to, size, roll(3) ? last[roll(4)] : adds[roll(5)], other, main);
	}
}

static void make_program(void)
{
	static const char methods[] = { 'w', 'r', 'a' };
	int objects = 1 + (roll(3) == 0);
	threads = 2 + (roll(2) == 0);
	for (int t = 0; t < threads; t++) {
		counts[t] = 1 + (int)roll(threads == 2 ? 3 : t == 0 ? 2 : 1);
		for (int i = 0; i < counts[t]; i++) {
			struct call *c = &calls[t][i];
			*c = (struct call){ .object = (int)roll((unsigned)objects),
				            .method = methods[roll(3)],
				            .value = 1 + (int)roll(2) };
			body_of(c);
		}
	}
}

/* -- linearizability ----------------------------------------------------------------------- */

struct happened {
	int from, to, object, value, result;
	char method;
	int place; /* of its thread and place in it */
};
static struct happened all[THREADS * CALLS];
static int happened_count;

static bool explained(int object, int n, unsigned placed)
{
	bool done = true;
	for (int i = 0; i < happened_count; i++)
		done &= all[i].object != object || placed >> i & 1;
	if (done)
		return true;
	for (int i = 0; i < happened_count; i++) {
		const struct happened *c = &all[i];
		bool next = c->object == object && !(placed >> i & 1);
		for (int k = 0; k < happened_count && next; k++)
			next = all[k].object != object || placed >> k & 1 ||
			       all[k].to > c->from;
		if (!next || (c->method != 'w' && c->result != n))
			continue;
		if (explained(object, c->method == 'w' ? c->value : n + (c->method == 'a'),
		              placed | 1u << i))
			return true;
	}
	return false;
}

/* -- all interleavings --------------------------------------------------------------------- */

struct run {
	int v[4], holder, time;
	struct {
		int call, at, a, from; /* at: -1 before the call */
	} t[THREADS];
};
static bool broken[2];
static long steps;
static char seen[1 << 20][64];
static int seen_count;

/* A history is looked at once. */
static bool is_new(void)
{
	char key[64] = { 0 };
	unsigned long hash = 1;
	for (int i = 0; i < happened_count; i++) {
		char *at = &key[all[i].place * 4];
		for (int k = 0; k < happened_count; k++) { /* the order of returns and calls */
			at[0] = (char)(at[0] + (all[k].to < all[i].from));
			at[1] = (char)(at[1] + (all[k].from < all[i].to));
		}
		at[2] = (char)(all[i].result + 1);
	}
	for (size_t i = 0; i < sizeof key; i++)
		hash = (hash ^ (unsigned char)key[i]) * 1099511628211u;
	for (unsigned at = (unsigned)(hash >> 20) % (1 << 20);; at = (at + 1) % (1 << 20)) {
		if (seen[at][63] == 0) {
			key[63] = 1;
			memcpy(seen[at], key, sizeof key);
			seen_count++;
			return true;
		}
		if (memcmp(seen[at], key, sizeof key - 1) == 0)
			return false;
	}
}

static void perform(struct run *r, int t, const char *op)
{
	int n = op[1] - '0', *a = &r->t[t].a, was;
	switch (*op) {
	case 'L':
		*a = r->v[n];
		break;
	case 'S':
		r->v[n] = *a;
		break;
	case 'K':
		*a = n;
		break;
	case 'P':
		++*a;
		break;
	case 'I':
		*a = r->v[n]++;
		break;
	case 'X':
		was = r->v[n];
		r->v[n] = *a;
		*a = was;
		break;
	case 'M':
		r->holder = t;
		break;
	default:
		r->holder = -1;
	}
	r->t[t].at += *op == 'P' || *op == 'M' || *op == 'U' ? 1 : 2;
}

static void search(struct run r)
{
	bool ended = true;
	if (++steps > MOST)
		exit(1);
	for (int t = 0; t < threads; t++) {
		struct run n = r;
		if (r.t[t].call == counts[t])
			continue;
		const struct call *c = &calls[t][r.t[t].call];
		ended = false;
		n.time++;
		if (r.t[t].at < 0) {
			n.t[t].at = n.t[t].a = 0;
			n.t[t].from = r.time;
			search(n);
		} else if (c->text[r.t[t].at] == 0) {
			all[happened_count++] = (struct happened){ r.t[t].from,
				                                   r.time,
				                                   c->object,
				                                   c->value,
				                                   r.t[t].a,
				                                   c->method,
				                                   t * CALLS + r.t[t].call };
			n.t[t].call++;
			n.t[t].at = -1;
			search(n);
			happened_count--;
		} else if (c->text[r.t[t].at] != 'M' || r.holder < 0) {
			perform(&n, t, &c->text[r.t[t].at]);
			search(n);
		}
	}
	if (ended && is_new())
		for (int o = 0; o < 2; o++)
			broken[o] |= !explained(o, 0, 0);
}

int main(int argc, char **argv)
{
	struct run r = { .holder = -1 };
	state = strtoul(argc > 1 ? argv[1] : "1", NULL, 10) * 7919;
	for (int i = 0; i < 3; i++)
		roll(2);
	make_program();
	for (int t = 0; t < threads; t++) {
		r.t[t].at = -1;
		for (int i = 0; i < counts[t]; i++) {
			const struct call *c = &calls[t][i];
			printf("%s%d%c", i ? "," : t ? " " : "", c->object, c->method);
			if (c->method == 'w')
				printf("%d", c->value);
			printf(":%s", c->text);
		}
	}
	printf("\n");
	search(r);
	printf("%s\n", broken[0] && broken[1] ? "one zero"
	               : broken[0]            ? "zero"
	               : broken[1]            ? "one"
	                                      : "none");
	return 0;
}
