/*
 * report_print.h - prints a report that was read or joined as its command would have.
 */
#ifndef HEDDLE_REPORT_PRINT_H
#define HEDDLE_REPORT_PRINT_H

#include "tui/batch/reports/report_file.h"

/* Prints by the options --format and --baseline. The exit status, also after bad usage. */
int report_file_print(const struct arguments *a, const struct report_file *r);

#endif
