/*
 * random_log.h - recording logs of random records of every kind, in both modes, compressed or
 * not, and damage to them; the numbers are mutate.h's.
 */
#ifndef HEDDLE_TESTS_RANDOM_LOG_H
#define HEDDLE_TESTS_RANDOM_LOG_H

#include <glib.h>

/* A log for the caller to free. */
GByteArray *random_log(void);
/* Up to five places become wrong. */
void damage_log(GByteArray *log);

#endif
