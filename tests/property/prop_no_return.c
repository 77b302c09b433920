/*
 * prop_no_return.c - the point of no return of failing runs of random small programs, against
 * the tree of all their executions.
 */
#include "engine/explore/explore_private.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 4, LENGTH = 5, MOST_EVENTS = 24, MOST_CLASSES = 400, MOST_ERRORS = 16 };

/* A program: ops of each thread.  r reads x, w writes 1, i writes one more than was read, ?
 * leaves out the next unless 0 was read, A and B lock and unlock, p posts, t takes, W waits, T
 * waits for some time, S signals, X ends the program at once unless x is 0. */
struct program {
	char ops[THREADS][LENGTH + 1];
	int threads, fails_at; /* the final value of x that is wrong */
};

/* A state of an execution; no pointers, so that it is its own key. */
struct machine {
	int8_t at[THREADS], read[THREADS], in_wait[THREADS], woken[THREADS];
	int8_t owner[2], count, x, aborted;
};

struct choice {
	int8_t thread, woken;
};

static unsigned failing, not_at_once, programs_with, hidden_wakes;

static bool runs(const struct program *p, const struct machine *m, int u)
{
	char op = p->ops[u][m->at[u]];

	switch (op) {
	case '\0':
		return false;
	case 'A':
	case 'B':
		return m->owner[op - 'A'] < 0 || m->owner[op - 'A'] == u;
	case 't':
		return m->count > 0;
	case 'W':
		return !m->in_wait[u] || m->woken[u];
	default:
		return true;
	}
}

/* Take the thread's step, and append it to `text`, if not NULL. */
static void step(const struct program *p, struct machine *m, struct choice s, GString *text)
{
	int u = s.thread;
	char op = p->ops[u][m->at[u]];
	char line[32] = "";

	m->at[u]++;
	switch (op) {
	case 'r':
		m->read[u] = m->x;
		snprintf(line, sizeof(line), "r(x)=%d", m->x);
		break;
	case 'w':
	case 'i':
		m->x = op == 'w' ? 1 : (int8_t)(m->read[u] + 1);
		snprintf(line, sizeof(line), "w(x)=%d", m->x);
		break;
	case '?':
		if (m->read[u] != 0 && p->ops[u][m->at[u]] != '\0')
			m->at[u]++;
		snprintf(line, sizeof(line), "branch()");
		break;
	case 'A':
	case 'B':
		snprintf(line, sizeof(line), "%s(%c)", m->owner[op - 'A'] == u ? "rel" : "acq",
		         op);
		m->owner[op - 'A'] = m->owner[op - 'A'] == u ? -1 : (int8_t)u;
		break;
	case 'p':
		m->count++;
		snprintf(line, sizeof(line), "post(s)");
		break;
	case 't':
		m->count--;
		snprintf(line, sizeof(line), "take(s)");
		break;
	case 'S':
		if (s.woken >= 0)
			m->woken[s.woken] = 1;
		snprintf(line, sizeof(line), "signal(c)");
		break;
	case 'X':
		m->aborted = m->x != 0;
		snprintf(line, sizeof(line), "r(x)=%d", m->x);
		break;
	default:
		snprintf(line, sizeof(line), "%s(c)",
		         !m->in_wait[u]              ? op == 'T' ? "timed" : "wait"
		         : op == 'T' && !m->woken[u] ? "late"
		                                     : "wake");
		if (!m->in_wait[u])
			m->at[u]--;
		m->in_wait[u] = !m->in_wait[u];
		m->woken[u] = 0;
	}
	/* a thread's place in its program is the place of the event */
	if (text != NULL)
		g_string_append_printf(text, "T%d|%s|%d%02d\n", u, line, u, m->at[u]);
}

/* All steps of a state; their number. */
static int steps_of(const struct program *p, const struct machine *m, struct choice *steps)
{
	int count = 0;

	for (int u = 0; u < p->threads && !m->aborted; u++) {
		bool any = false;

		if (!runs(p, m, u))
			continue;
		for (int v = 0; p->ops[u][m->at[u]] == 'S' && v < p->threads; v++) {
			if (!m->in_wait[v] || m->woken[v])
				continue;
			any = true;
			steps[count++] = (struct choice){ (int8_t)u, (int8_t)v };
		}
		if (!any)
			steps[count++] = (struct choice){ (int8_t)u, -1 };
	}
	return count;
}

static bool has_ended(const struct program *p, const struct machine *m)
{
	for (int u = 0; u < p->threads; u++) {
		if (p->ops[u][m->at[u]] != '\0')
			return false;
	}
	return true;
}

static bool has_passed(const struct program *p, const struct machine *m)
{
	return !m->aborted && has_ended(p, m) && m->x != p->fails_at;
}

static guint machine_hash(gconstpointer p)
{
	const unsigned char *bytes = p;
	guint h = 2166136261u;

	for (size_t i = 0; i < sizeof(struct machine); i++)
		h = (h ^ bytes[i]) * 16777619u;
	return h;
}

static gboolean machine_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct machine)) == 0;
}

/* Does some continuation pass?  `known`: by state, 1 or 2. */
static bool can_pass(const struct program *p, const struct machine *m, GHashTable *known)
{
	struct choice steps[THREADS * THREADS];
	int count = steps_of(p, m, steps), was = GPOINTER_TO_INT(g_hash_table_lookup(known, m));
	bool passes = count == 0 && has_passed(p, m);

	if (was != 0)
		return was == 2;
	for (int i = 0; i < count && !passes; i++) {
		struct machine next = *m;

		step(p, &next, steps[i], NULL);
		passes = can_pass(p, &next, known);
	}
	g_hash_table_insert(known, g_memdup2(m, sizeof(*m)), GINT_TO_POINTER(passes ? 2 : 1));
	return passes;
}

/* -- all executions -------------------------------------------------------------------------- */

struct tree {
	const struct program *p;
	struct no_return *points;
	struct explore_report *report;
	GHashTable *known;   /* struct machine -> see can_pass */
	GHashTable *classes; /* char *: of executions that passed */
	GArray *wanted; /* uint32_t: by error, events after which some continuation passes */
	struct choice path[MOST_EVENTS];
	bool late[MOST_EVENTS]; /* by step of the path: a wait's time is up */
	GRand *random;
};

/* Text has no words for a wait with a time limit and for its end by time: flags say so. */
static struct trace *trace_of(const char *timed)
{
	struct error error = { .where = "" };
	char **lines = g_strsplit(timed, "\n", -1);
	GString *text = g_string_new(timed);

	g_string_replace(text, "timed(c)", "wait(c)", 0);
	g_string_replace(text, "late(c)", "wake(c)", 0);
	struct trace *t = trace_from_text("run", text->str, text->len, NULL, &error);
	if (t == NULL)
		BUG("%s: %s\n%s", error.where, error.what, timed);
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (strstr(lines[e + 1], "timed") || strstr(lines[e + 1], "late"))
			((struct event *)t->events)[e].flags |= EVENT_TRY;
	}
	g_string_free(text, TRUE);
	g_strfreev(lines);
	return t;
}

static struct machine begin(void)
{
	return (struct machine){ .owner = { -1, -1 } };
}

/* Actions and observations of each thread, thread by thread. */
static char *class_of(const struct program *p, int x, const char *text)
{
	GString *class = g_string_new(NULL);
	char **lines = g_strsplit(text, "\n", -1);

	for (int u = 0; u < p->threads; u++)
		for (char **line = lines; *line; line++)
			if ((*line)[0] == 'T' && (*line)[1] == '0' + u)
				g_string_append_printf(class, "%s\n", *line);
	g_strfreev(lines);
	g_string_append_printf(class, "at the end x is %d", x);
	return g_string_free(class, FALSE);
}

/* Which thread a signal woke is in no event.  By the definitions (rule 4) a wake takes the
 * earliest signal that no earlier wake took: of the threads that wait, the signal woke the one
 * whose wake comes first.  Where none of them wakes in the run, it may have been any.  Their
 * number. */
static unsigned woken_of(const struct tree *tree, const struct machine *m, int signal,
                         int length, int *woken)
{
	unsigned count = 0;
	int first = length;

	for (int v = 0; v < tree->p->threads; v++) {
		int next = signal + 1;

		if (!m->in_wait[v] || m->woken[v])
			continue;
		while (next < length && tree->path[next].thread != v)
			next++;
		if (next > first || (next < length && tree->late[next]))
			continue;
		count = next < first ? 0 : count;
		first = next;
		woken[count++] = v;
	}
	return count;
}

/* The most events of a failing run after which some continuation passes; `at` of them have
 * come.
 */
static int most_good(const struct tree *tree, const struct machine *m, int at, int length)
{
	int woken[THREADS], best = -1;
	struct choice taken = tree->path[at];
	unsigned count = 0;

	if (at == length || !can_pass(tree->p, m, tree->known))
		return at - 1;
	if (taken.woken >= 0)
		count = woken_of(tree, m, at, length, woken);
	hidden_wakes += count > 1;
	for (unsigned i = 0; i < MAX(count, 1); i++) {
		struct machine next = *m;

		taken.woken = count > 0 ? (int8_t)woken[i] : -1;
		step(tree->p, &next, taken, NULL);
		best = MAX(best, most_good(tree, &next, at + 1, length));
	}
	return best;
}

static void end_of_path(struct tree *tree, int length)
{
	const struct program *p = tree->p;
	struct machine m = begin();
	GString *text = g_string_new("#! heddle 1\n");
	struct explore_run run = { .parent = NONE };

	for (int i = 0; i < length; i++) {
		int u = tree->path[i].thread;

		tree->late[i] = m.in_wait[u] && !m.woken[u];
		step(p, &m, tree->path[i], text);
	}
	bool passed = has_passed(p, &m);
	char *class = class_of(p, m.x, text->str);
	bool fresh = passed && g_hash_table_size(tree->classes) < MOST_CLASSES &&
	             g_hash_table_add(tree->classes, class);
	if (!passed)
		g_free(class);
	if (fresh || (!passed && length > 0 && tree->report->errors->len < MOST_ERRORS &&
	              g_rand_int_range(tree->random, 0, 12) == 0)) {
		run.end = passed ? EXPLORE_FINE : EXPLORE_CHECK;
		if (!passed) {
			struct explore_error e = { .end = run.end,
				                   .run = tree->report->runs->len };
			struct machine first = begin();
			uint32_t good = (uint32_t)MAX(most_good(tree, &first, 0, length), 0);

			g_array_append_val(tree->report->errors, e);
			g_array_append_val(tree->wanted, good);
		}
		no_return_keep(tree->points, tree->report->runs->len, trace_of(text->str));
		g_array_append_val(tree->report->runs, run);
	}
	g_string_free(text, TRUE);
}

static void walk(struct tree *tree, const struct machine *m, int length)
{
	struct choice steps[THREADS * THREADS];
	int count = steps_of(tree->p, m, steps);

	for (int i = 0; i < count; i++) {
		struct machine next = *m;

		step(tree->p, &next, steps[i], NULL);
		tree->path[length] = steps[i];
		walk(tree, &next, length + 1);
	}
	if (count == 0)
		end_of_path(tree, length);
}

/* -- comparison ------------------------------------------------------------------------------ */

static struct program random_program(GRand *random)
{
	static const char *const kinds[] = { "riw?A", "rwAAB", "ABAB", "ptA",   "WSr?w",
		                             "rw?pt", "WSTw",  "SSXw", "WTSSXw" };
	const char *kind = kinds[g_rand_int_range(random, 0, G_N_ELEMENTS(kinds))];
	static const int longest[] = { 0, 0, LENGTH, 3, 2 };
	struct program p = { .threads = g_rand_int_range(random, 2, THREADS + 1) };

	for (int u = 0; u < p.threads; u++) {
		int length = g_rand_int_range(random, 1, longest[p.threads] + 1);

		for (int i = 0; i < length; i++)
			p.ops[u][i] = kind[g_rand_int_range(random, 0, (int)strlen(kind))];
	}
	/* two that wait, one of them for a signal that comes before the end */
	if (strchr(kind, 'X'))
		p.ops[0][0] = p.ops[1][0] = 'W';
	p.fails_at = g_rand_int_range(random, 0, 3);
	return p;
}

static bool judge(const struct tree *tree)
{
	const struct explore_report *r = tree->report;

	for (guint i = 0; i < r->errors->len; i++) {
		const struct explore_point *point = NULL;
		uint32_t wanted = g_array_index(tree->wanted, uint32_t, i);

		for (guint k = 0; k < r->points->len; k++) {
			const struct explore_point *at =
			        &g_array_index(r->points, struct explore_point, k);
			point = at->error == i ? at : point;
		}
		/* no execution reaches it, so no class */
		if (g_hash_table_size(tree->classes) == 0) {
			if (point != NULL)
				return false;
			continue;
		}
		failing++;
		not_at_once += wanted > 0;
		if (point == NULL || point->fails.event != wanted || !point->every) {
			printf("error %u: the point is event %d, and should be %u\n", i,
			       point == NULL ? -1 : (int)point->fails.event, wanted);
			return false;
		}
	}
	return true;
}

static bool one(uint64_t seed)
{
	GPtrArray *finals = g_ptr_array_new();
	GRand *random = g_rand_new_with_seed((guint32)seed);
	struct program p = random_program(random);
	struct machine m = begin();
	struct tree tree = {
		.p = &p,
		.points = no_return_new(finals),
		.report = explore_report_new(),
		.classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.known = g_hash_table_new_full(machine_hash, machine_equal, g_free, NULL),
		.wanted = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.random = random
	};

	g_ptr_array_add(finals, "x");
	walk(&tree, &m, 0);
	tree.report->complete = true;
	bool whole = g_hash_table_size(tree.classes) < MOST_CLASSES;
	no_return_find(tree.points, tree.report, NULL);
	bool good = !whole || judge(&tree);
	if (!good)
		for (int u = 0; u < p.threads; u++)
			printf("T%d: %s%s\n", u, p.ops[u], u == 0 ? "" : "");
	programs_with += tree.report->points->len > 0;
	explore_report_free(tree.report);
	no_return_free(tree.points);
	g_hash_table_destroy(tree.classes);
	g_hash_table_destroy(tree.known);
	g_array_free(tree.wanted, TRUE);
	g_ptr_array_unref(finals);
	g_rand_free(random);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "points of no return against the tree", 6000, one);

	printf("%u failing runs of %u programs, %u with a point after the first event, "
	       "%u signals whose waiter is not known\n",
	       failing, programs_with, not_at_once, hidden_wakes);
	return status != 0 || failing == 0 || not_at_once == 0;
}
