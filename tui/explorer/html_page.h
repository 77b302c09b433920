/*
 * html_page.h - a finding, an exploration or the whole report as one HTML page that needs
 * nothing else: no network, no other file. A witness can be walked on it with the keys j and k.
 *
 * Everything that comes from the trace is escaped, and the page's content security policy
 * allows its own script and style alone, by their digests.
 */
#ifndef HEDDLE_HTML_PAGE_H
#define HEDDLE_HTML_PAGE_H

#include "tui/explorer/app.h"

/* The page; owned by the caller. `only`: this finding; NULL: all. */
char *page_of_findings(const struct app *app, const struct entry *only);
/* The tree of executions; NULL without one. */
char *page_of_exploration(const struct app *app);

#endif
