/*
 * editor.h - the user's editor: $VISUAL, else $EDITOR, else vi.
 */
#ifndef HEDDLE_EDITOR_H
#define HEDDLE_EDITOR_H

#include "engine/base/base.h"

/* The command line that opens the file at the line (0: none), owned by the caller. The editor's
 * words are the user's own and run by the shell, the file is a separate argument. */
char **editor_words(const char *path, unsigned line);
/* The editor's command as the user set it; borrowed. */
const char *editor_name(void);

#endif
