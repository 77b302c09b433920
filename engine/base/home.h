/*
 * home.h - finds the program's installed files: specifications, recording runtime. In the
 * source tree they are beside the binary, installed in ../share/heddle or ../lib/heddle.
 */
#ifndef HEDDLE_HOME_H
#define HEDDLE_HOME_H

/*
 * The path of a shipped file or folder, such as "specs" or "specs/dict.spec": the first that
 * exists of DIR/../share/heddle/RELATIVE, DIR/../lib/heddle/RELATIVE, DIR/RELATIVE,
 * DIR/../RELATIVE, ... where DIR is the running binary's folder (test programs under build/ so
 * find the tree's files). Owned by the caller; NULL: none.
 */
char *home_find(const char *relative);

#endif
