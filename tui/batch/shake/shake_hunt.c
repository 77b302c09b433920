/* shake_hunt.c - see shake_hunt.h. */
#include "tui/batch/shake/shake_hunt.h"

#include "engine/explore/hunt/portfolio.h"
#include "tui/batch/shake/shake_run.h"

struct shake_hunt {
	struct shaken runs;
	struct portfolio *portfolio;
	uint64_t made;
};

struct shake_hunt *shake_hunt_new(const struct shake_hunt_options *options, struct error *error)
{
	struct shake_hunt *hunt = g_new0(struct shake_hunt, 1);

	hunt->runs.argv = options->argv;
	hunt->runs.timeout_ms = options->timeout_ms;
	if (!shaken_open(&hunt->runs, error)) {
		shake_hunt_free(hunt);
		return NULL;
	}
	hunt->portfolio = portfolio_new(&(struct portfolio_options){
	        .seed = 1, .share = options->share, .shares = options->shares });
	return hunt;
}

void shake_hunt_free(struct shake_hunt *hunt)
{
	if (hunt == NULL)
		return;
	portfolio_free(hunt->portfolio);
	shaken_close(&hunt->runs);
	g_free(hunt);
}

void shaken_end_release(struct shaken_end *end)
{
	g_free(end->words);
	strategy_release(&end->how);
	*end = (struct shaken_end){ 0 };
}

static char *words_of(const struct shake_outcome *o)
{
	GString *words = g_string_new(NULL);

	if (o->deadlock)
		g_string_append(words, "stuck");
	else if (o->timed_out)
		g_string_append(words, "cut");
	else if (o->signal)
		g_string_append_printf(words, "signal %d", o->signal);
	else
		g_string_append_printf(words, "status %d", o->status);
	if (o->misuses)
		g_string_append_printf(words, ", with misuse of kind %x", o->misuses);
	if (o->use)
		g_string_append(words, ", use after free");
	return g_string_free(words, FALSE);
}

bool shake_hunt_run(struct shake_hunt *hunt, GHashTable *known, struct shaken_end *end)
{
	struct error none;
	struct shaken_run look = { 0 };
	struct strategy how = portfolio_next(hunt->portfolio);
	bool looks = portfolio_looks(hunt->portfolio);
	struct shake_outcome *o =
	        shaken_try(&hunt->runs, &how, hunt->made++, looks ? &look : NULL, &none);

	*end = (struct shaken_end){ 0 };
	if (o != NULL) {
		end->words = words_of(o);
		end->fresh = !o->timed_out && !g_hash_table_contains(known, end->words);
	}
	if (end->fresh) {
		o = shaken_confirm(&hunt->runs, &how, o, looks ? &look : NULL, &none);
		bool by_turns = o != NULL && o->strategy == STRATEGY_TURNS && look.turns;

		end->how = strategy_copy(by_turns && how.kind != STRATEGY_TURNS
		                                 ? &(struct strategy){ .kind = STRATEGY_TURNS,
		                                                       .turns = look.turns }
		                                 : &how);
		end->elusive = o != NULL && o->elusive;
	}
	if (o != NULL)
		portfolio_learn(hunt->portfolio, look.trace, look.turns, end->fresh);
	bool made = o != NULL;
	outcome_free(o);
	shaken_run_release(&look);
	strategy_release(&how);
	if (!made)
		shaken_end_release(end);
	return made;
}
