/*
 * exploration_text.h - the report of an exploration as text, from its JSON: of one that was
 * just made and of joined shares alike.
 */
#ifndef HEDDLE_EXPLORATION_TEXT_H
#define HEDDLE_EXPLORATION_TEXT_H

#include <jansson.h>

/* Print the findings as every report does, then a line with their number and the
 * exploration's coverage, then notes. The report's member "runs" is not needed. */
void exploration_print(const json_t *report);

#endif
