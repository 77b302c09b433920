/* folder.h - files that a test has made. */
#ifndef HEDDLE_TESTS_FOLDER_H
#define HEDDLE_TESTS_FOLDER_H

/* Remove the folder and all that is in it; one that is not there is fine. */
void folder_remove(const char *path);

#endif
