/*
 * shares_options.c - the options of shares.h: --shard and --jobs.
 */
#include "tui/batch/shares/shares_private.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 1000000 };

void argument_shard(const struct arguments *a, uint32_t *shard, uint32_t *shards)
{
	const char *text = argument_value(a, "shard");
	char *end = NULL;
	*shard = *shards = 0;
	if (text == NULL)
		return;
	guint64 i = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0, n = 0;
	if (i > 0 && *end == '/' && g_ascii_isdigit(end[1]))
		n = g_ascii_strtoull(end + 1, &end, 10);
	if (i < 1 || i > n || n > MOST_SHARDS || *end)
		exit(usage_error(a, "--shard: expected I/N with I from 1 to N, found '%s'",
		                 text));
	if (argument_value(a, "baseline"))
		exit(usage_error(a,
		                 "--baseline is for 'heddle merge', as a share does not know "
		                 "what the others find"));
	*shard = (uint32_t)i - 1;
	*shards = (uint32_t)n;
}

unsigned shares_jobs_of(const struct arguments *a)
{
	uint64_t jobs = argument_number(a, "jobs", 1);
	if (jobs < 1 || jobs > MOST_JOBS)
		exit(usage_error(a, "--jobs wants a number from 1 to %d, found '%s'", MOST_JOBS,
		                 argument_value(a, "jobs")));
	if (jobs > 1 && argument_value(a, "shard"))
		exit(usage_error(a, "--jobs and --shard: each job takes a share already"));
	if (jobs > 1 && argument_value(a, "before"))
		exit(usage_error(a,
		                 "--jobs and --before: runs at the same time would change the "
		                 "same files"));
	return (unsigned)jobs;
}

bool shares_is_exploration(const struct arguments *a)
{
	return strcmp(a->command->name, "explore") == 0;
}
