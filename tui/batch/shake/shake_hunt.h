/*
 * shake_hunt.h - runs by chance, as `heddle shake` makes them, until one ends in a new way.
 */
#ifndef HEDDLE_SHAKE_HUNT_H
#define HEDDLE_SHAKE_HUNT_H

#include "engine/record/strategy.h"

struct shake_hunt_options {
	char **argv;            /* the program; borrowed */
	unsigned timeout_ms;    /* for one run */
	uint32_t share, shares; /* as in struct portfolio_options */
};

struct shake_hunt;
/* NULL: `error`. */
struct shake_hunt *shake_hunt_new(const struct shake_hunt_options *options,
                                  struct error *error);
void shake_hunt_free(struct shake_hunt *hunt); /* NULL is allowed */

struct shaken_end {
	char *words;         /* owned: "status 0", "signal 11", "stuck", or "cut" by the time */
	bool fresh;          /* not among the known ones */
	struct strategy how; /* fresh: by which `heddle record` makes such a run; owned */
	bool elusive;        /* fresh: no recording found so far ends so */
};
/* Makes one more run. `known`: words of ends (char *), a set. False: interrupted, or the
 * program cannot be started. */
bool shake_hunt_run(struct shake_hunt *hunt, GHashTable *known, struct shaken_end *end);
void shaken_end_release(struct shaken_end *end);

#endif
