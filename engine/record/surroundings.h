/*
 * surroundings.h - the surroundings of a run beside its input: working directory, environment
 * variables, inherited descriptors.  A program may go another way where they differ, so a
 * recording describes its own and replay compares.
 *
 * Values of environment variables are kept as 24 bits of a hash each: enough to see a change,
 * too little to reveal a secret.
 */
#ifndef HEDDLE_SURROUNDINGS_H
#define HEDDLE_SURROUNDINGS_H

#include <glib.h>
#include <sys/types.h>

/* The trace's note of the surroundings. */
#define SURROUNDINGS_NOTE "recording-surroundings"

/* In short, for people: "folder /home/a, 3 descriptors, 37 environment variables". Owned by the
 * caller. */
char *surroundings_brief(const char *recorded);

/* The surroundings of a program started now, as a note has them: the folder and environment of
 * this process, and the descriptors of the process `pid`, 0: this one. Owned by the caller. */
char *surroundings_of(pid_t pid);

/*
 * From now on started programs inherit the descriptors of the recording: others are closed on
 * exec, and for a missing one a stand-in of the same kind is opened (the null device for a
 * file). Descriptors 0 to 2 stay as they are. `recorded`: the note.
 */
void surroundings_inherit(const char *recorded);

/* The differences between two notes in words, a sentence each (char *, owned); empty when the
 * notes agree.  The caller frees the array. */
GPtrArray *surroundings_compare(const char *recorded, const char *now);

#endif
