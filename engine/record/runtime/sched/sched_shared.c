/*
 * sched_shared.c - controlled mode: which words of memory several threads access, for
 * strategies that decide before each event.
 *
 * A word belongs to the first thread that accesses it while others exist (an initialisation
 * by main alone counts for no thread), until another thread accesses it. The words are those
 * that were accessed last: one whose slot another word has taken is met anew.
 */
#include "sched_private.h"

/* Neighbours have slots in one page of the table, so that a small program touches few of them
 * (an exploration puts back each). */
enum { NEIGHBOURS = 256, GROUPS = 256 };
static struct sched_word words[GROUPS][NEIGHBOURS];

struct sched_word *sched_word_at(uintptr_t word)
{
	uint64_t group = (word / NEIGHBOURS) * 0x9e3779b97f4a7c15ull >> 40;
	return &words[group % GROUPS][word % NEIGHBOURS];
}

bool sched_may_conflict(const struct thread *t)
{
	const struct thread_sched *s = &t->sched;
	uintptr_t word = (uintptr_t)s->place >> 3;
	struct sched_word *w = sched_word_at(word);
	if (s->place == NULL || s->synchronises)
		return true;
	if (sched_alone())
		return false;
	if (w->word != word)
		*w = (struct sched_word){ .word = word };
	if (w->user == 0)
		w->user = t->id + 1;
	w->several |= w->user != t->id + 1;
	w->written |= s->changes;
	return w->several && w->written;
}
