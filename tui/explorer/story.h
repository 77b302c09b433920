/*
 * story.h - a finding in words, on one page that can be printed: what the two sides do, what
 * kept them apart in the recording, which order of the same events brings them together, what
 * comes of it; or why that cannot be.
 */
#ifndef HEDDLE_STORY_H
#define HEDDLE_STORY_H

#include "tui/explorer/prose.h"
#include "tui/explorer/source.h"

/* The story of the entry; `finding` is what is known about the pair itself (session_finding;
 * NULL: the entry's own). Says why happens-before was silent when the session has that order.
 * The session has the whole index.  GArray of struct prose_row, owned by the caller. */
GArray *story_tell(const struct session *s, struct sources *sources, const struct entry *entry,
                   const struct finding *finding, int columns);

#endif
