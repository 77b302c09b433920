/* folder.h - files that a test has made. */
#ifndef HEDDLE_TESTS_FOLDER_H
#define HEDDLE_TESTS_FOLDER_H

/* Removes the folder and its contents, if it exists. */
void folder_remove(const char *path);

#endif
