/*
 * fuzz.h - the formats that are fuzzed: how an input of each is damaged, what reads it in
 * this process, and which commands read it.
 */
#ifndef HEDDLE_TESTS_FUZZ_H
#define HEDDLE_TESTS_FUZZ_H

#include <glib.h>

struct fuzz_format {
	const char *name;
	/* Files of the corpus folder that are whole inputs: their suffix. */
	const char *suffix;
	/* Damages `s`; `other` is another input of the format. NULL: makes a whole one anew. */
	void (*mutate)(GString *s, const GString *other);
	/* Reads the file at `path` in this process and aborts when a promise is broken (a
	 * refusal without words, a table that leads nowhere); NULL: only the commands read it.
	 */
	void (*read)(const char *path, const GString *s);
	/* Commands of heddle, words separated by blanks, ends with NULL: @ is the input, %X the
	 * file X of the corpus, & before a word: its path becomes the input's (a configuration,
	 * an index have their places), &$NAME: the path that the environment gives. */
	const char *const *commands;
};

extern const struct fuzz_format fuzz_formats[]; /* ends with a name of NULL */

#endif
