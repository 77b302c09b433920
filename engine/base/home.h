/*
 * home.h - where the program's own files are: the specifications that ship, the recording
 * runtime.  In the tree they lie beside the binary, installed under ../share/heddle or
 * ../lib/heddle.  Knows nothing of what the files are for.
 */
#ifndef HEDDLE_HOME_H
#define HEDDLE_HOME_H

/*
 * The path of a file or folder that ships, such as "specs" or "specs/dict.spec": the first
 * that exists of these, from the folder of the running binary upwards (so that test
 * programs under build/ find the tree's): DIR/../share/heddle/RELATIVE,
 * DIR/../lib/heddle/RELATIVE, DIR/RELATIVE, DIR/../RELATIVE, DIR/../../RELATIVE, ...
 * Owned by the caller; NULL when there is none.
 */
char *home_find(const char *relative);

#endif
