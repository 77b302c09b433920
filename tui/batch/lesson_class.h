/*
 * lesson_class.h - the progress of a class: files that students hand in, joined for the
 * teacher.
 */
#ifndef HEDDLE_LESSON_CLASS_H
#define HEDDLE_LESSON_CLASS_H

#include "engine/base/base.h"

/* Print a table of students and lessons from files of `heddle lesson --format json` (char *
 * paths), or with `json` a list of the same. A student is the file's name without folder and
 * suffix. False and `error` when a file is none: then nothing is printed. */
bool lesson_class_print(const GPtrArray *files, bool json, struct error *error);

#endif
