/*
 * check_text.h - the report of `heddle check` as text, from its JSON: of one that was just made
 * and of joined ones alike.
 */
#ifndef HEDDLE_CHECK_TEXT_H
#define HEDDLE_CHECK_TEXT_H

#include "tui/batch/reports/changes.h"
#include "tui/batch/reports/report_file.h"

/* Print the findings as every report does, with the effect of each on the program and the
 * runs that show it, then a line with their number, then the coverage. `changes`: against a
 * baseline, whose findings are left out; or NULL. */
void check_print(const struct report_file *report, const struct changes *changes);

/* Print the sentences of checkup_coverage (strings): notes, then the lists of what is not
 * covered and of what was not looked for. */
void check_print_coverage(const json_t *sentences);

#endif
