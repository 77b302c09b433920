/* strategy.c - see strategy.h. */
#include "engine/record/strategy.h"

#include <inttypes.h>
#include <string.h>

const char *const record_strategies[] = {
#define S(name, word) word,
	LOG_STRATEGIES(S)
#undef S
	        NULL
};

void strategy_release(struct strategy *s)
{
	if (s->turns)
		g_array_unref(s->turns);
	s->turns = NULL;
}

struct strategy strategy_copy(const struct strategy *s)
{
	struct strategy copy = *s;
	copy.turns = s->turns ? g_array_copy(s->turns) : NULL;
	return copy;
}

void strategy_configure(const struct strategy *s, struct log_config *config)
{
	config->strategy = s->kind;
	config->depth = s->depth ? s->depth : 3;
	config->seed = s->seed;
	config->steps = s->steps;
	if (s->kind == STRATEGY_SURW)
		config->target = s->target;
	if (s->kind != STRATEGY_TURNS || s->turns == NULL || s->turns->len == 0)
		return;
	config->turn_count = MIN(s->turns->len, LOG_TURNS);
	memcpy(config->turns, s->turns->data, config->turn_count * sizeof(struct log_turn));
}

static void append_target(const struct log_target *t, GString *out)
{
	g_string_append_printf(out, " --target 0x%" PRIx64 "+%" PRIu32 "=", t->place, t->size);
	for (uint32_t i = 0, last; i < t->threads && i < LOG_WEIGHTS; i = last) {
		for (last = i + 1; last < t->threads && last < LOG_WEIGHTS; last++)
			if (t->weight[last] != t->weight[i])
				break;
		g_string_append_printf(out, "%s%u", i ? "," : "", t->weight[i]);
		if (last - i > 1)
			g_string_append_printf(out, "x%" PRIu32, last - i);
	}
}

static void append_turns(const GArray *turns, GString *out)
{
	g_string_append(out, " --turns ");
	for (guint i = 0; turns && i < turns->len; i++) {
		const struct log_turn *t = &g_array_index(turns, struct log_turn, i);
		g_string_append_printf(out, "%s%" PRIu32, i ? "," : "", t->thread);
		if (t->until != UINT32_MAX)
			g_string_append_printf(out, ":%" PRIu32, t->until);
	}
	if (turns == NULL || turns->len == 0) /* a turn that ends at once */
		g_string_append(out, "0:0");
}

void strategy_append(const struct strategy *s, GString *out)
{
	g_string_append_printf(out, "--strategy %s", record_strategies[s->kind]);
	if (s->kind == STRATEGY_PCT)
		g_string_append_printf(out, " --depth %" PRIu32, s->depth ? s->depth : 3);
	if (s->kind == STRATEGY_PCT && s->steps)
		g_string_append_printf(out, " --steps %" PRIu64, s->steps);
	if (s->kind == STRATEGY_SURW && s->target.size)
		append_target(&s->target, out);
	if (s->kind == STRATEGY_TURNS)
		append_turns(s->turns, out);
	g_string_append_printf(out, " --seed %" PRIu64, s->seed);
}

/* Reads a number at *text, which is moved behind it. */
static bool read_number(const char **text, unsigned base, uint64_t most, uint64_t *number)
{
	char *end;
	if (!g_ascii_isxdigit(**text))
		return false;
	*number = g_ascii_strtoull(*text, &end, base);
	bool good = end > *text && *number <= most;
	*text = end;
	return good;
}

static bool accept(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

bool strategy_read_target(const char *text, struct log_target *target, struct error *error)
{
	const char *at = text;
	uint64_t size, weight;
	*target = (struct log_target){ 0 };
	bool good = read_number(&at, 0, UINT64_MAX, &target->place) && accept(&at, '+') &&
	            read_number(&at, 10, 1 << 30, &size) && accept(&at, '=');
	target->size = good ? (uint32_t)size : 0;
	while (good) {
		uint64_t times = 1;
		good = read_number(&at, 10, UINT16_MAX, &weight) &&
		       (!accept(&at, 'x') || read_number(&at, 10, LOG_WEIGHTS, &times)) &&
		       target->threads + times <= LOG_WEIGHTS;
		for (uint64_t i = 0; good && i < times; i++)
			target->weight[target->threads++] = (uint16_t)weight;
		if (!accept(&at, ','))
			break;
	}
	return (good && *at == '\0') ||
	       error_set(error, "--target", "take it from what 'heddle shake' printed",
	                 "expected ADDRESS+SIZE=EVENTS,... (0x404040+4=3,1x8), found '%s'",
	                 text);
}

bool strategy_read_turns(const char *text, GArray *turns, struct error *error)
{
	const char *at = text;
	uint64_t number = 0;
	bool good = true;
	while (good) {
		struct log_turn t = { .until = UINT32_MAX };
		good = read_number(&at, 10, LOG_THREADS - 1, &number);
		t.thread = (uint32_t)number;
		if (good && accept(&at, ':')) {
			good = read_number(&at, 10, UINT32_MAX - 1, &number);
			t.until = (uint32_t)number;
		}
		if (good)
			g_array_append_val(turns, t);
		if (!accept(&at, ','))
			break;
	}
	return (good && *at == '\0' && turns->len <= LOG_TURNS) ||
	       error_set(error, "--turns", "take it from what 'heddle shake' printed",
	                 "expected at most %d of THREAD:EVENTS,... (0:12,2:5,1), found '%s'",
	                 LOG_TURNS, text);
}
