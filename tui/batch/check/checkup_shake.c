/*
 * checkup_shake.c - runs by chance, hundreds in the time of a few recordings, where not every
 * schedule is explored: a run that ends as no other did is recorded and analysed.
 */
#include "tui/batch/check/checkup.h"
#include "tui/batch/shake/shake_hunt.h"

enum {
	SHAKEN_RUNS = 1000, /* bound on their number */
	SHAKE_PARTS = 8,    /* part of the time left that they take */
};
static const double LEAST_SECONDS = 0.25;

/* Words of the ends that need no recording any more (char *), a set. */
static GHashTable *known_ends(const struct checkup *c)
{
	GHashTable *known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < c->runs->len; i++)
		if (checkup_run_at(c, i)->outcome)
			g_hash_table_add(known, checkup_end_of(checkup_run_at(c, i)->outcome));
	return known;
}

bool checkup_shake(struct checkup *c,
                   bool (*record)(struct checkup *c, const struct strategy *how))
{
	double seconds = checkup_left(c) / SHAKE_PARTS;
	gint64 until = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
	struct shake_hunt_options options = { .argv = c->argv,
		                              .timeout_ms = (unsigned)CLAMP(seconds * 1000, 1,
		                                                            c->timeout_ms),
		                              .share = c->shard,
		                              .shares = c->share ? c->shards : 0 };
	struct error none;
	bool good = true;

	if (c->binds->len > 0 || c->runs->len == 0 || seconds < LEAST_SECONDS)
		return true;
	c->doing = "running schedules by chance";
	struct shake_hunt *hunt = shake_hunt_new(&options, &none);
	GHashTable *known = known_ends(c);
	while (good && hunt != NULL && c->shaken < SHAKEN_RUNS && !checkup_over(c) &&
	       g_get_monotonic_time() < until && progress_tick(&c->progress, 0, c->doing)) {
		struct shaken_end end;

		checkup_rewind_input(c);
		if (!shake_hunt_run(hunt, known, &end))
			break;
		c->shaken++;
		if (end.fresh && end.elusive)
			checkup_uncovered(
			        c,
			        "a run by chance that ended in a new way (%s): it "
			        "could not be recorded, as addresses of memory decide "
			        "what it does",
			        end.words);
		else if (end.fresh)
			good = record(c, &end.how);
		if (end.fresh)
			g_hash_table_add(known, g_strdup(end.words));
		shaken_end_release(&end);
	}
	g_hash_table_destroy(known);
	shake_hunt_free(hunt);
	return good;
}
