/*
 * home.h - finds the program's installed files (specifications, recording runtime), and the
 * folder of its cache. In the source tree the files are beside the binary, installed in
 * ../share/heddle or ../lib/heddle.
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

/* $XDG_CACHE_HOME/heddle, made if it is not there, owned by the caller; NULL when others can
 * write it, or it is not a folder of this user's. */
char *home_cache(void);

#endif
