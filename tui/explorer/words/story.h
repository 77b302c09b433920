/*
 * story.h - a finding as one printable page: the two sides, what kept them apart in the
 * recording, the reordering that brings them together, and its outcome; or why that is
 * impossible.
 */
#ifndef HEDDLE_STORY_H
#define HEDDLE_STORY_H

#include "tui/explorer/words/prose.h"
#include "tui/explorer/schedule.h"
#include "tui/explorer/source.h"

/* The story of the entry; `finding` is the verdict on the pair itself (session_finding; NULL:
 * the entry's). With happens-before in the session, says why it orders the pair. Needs the
 * complete index. GArray of struct prose_row, owned by the caller. */
GArray *story_tell(const struct session *s, struct sources *sources, const struct entry *entry,
                   const struct finding *finding, int columns);

/* Append the events of a thread's turn [begin, end) in the schedule: its synchronisation, the
 * accesses to the variable of event `pair`, and the number of other events. */
void story_append_turn(const struct stage *stage, guint begin, guint end, uint32_t pair,
                       GString *out);

#endif
