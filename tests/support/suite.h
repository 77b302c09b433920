/*
 * suite.h - a test program's end: its suite runs, and the number of failures becomes the exit
 * status.
 */
#ifndef HEDDLE_TESTS_SUITE_H
#define HEDDLE_TESTS_SUITE_H

#include <check.h>

/* Runs the suite, which is freed; the exit status: 0 when all passed, else 1. */
int suite_run(Suite *suite);

#endif
