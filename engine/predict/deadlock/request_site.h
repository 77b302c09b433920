/*
 * request_site.h - which requests of locks a report takes for one: those from one place of the
 * user's for one lock, whatever its number or index ("jobs[3].lock", "job#2->lock").
 *
 * The exact location of a request does not tell deadlocks apart: all locks of std::mutex are
 * taken in one function of a header, and a program may have one of its own.
 */
#ifndef HEDDLE_REQUEST_SITE_H
#define HEDDLE_REQUEST_SITE_H

#include "engine/trace/trace.h"

struct request_sites;
/* `t` is borrowed until request_sites_free. */
struct request_sites *request_sites_new(const struct trace *t);
void request_sites_free(struct request_sites *s); /* NULL is allowed */
/* A number that exactly the requests of one site have. */
uint32_t request_site(struct request_sites *s, uint32_t event);
/* A text that exactly the requests of one site have, in all runs of a program; the caller's. */
char *request_site_text(const struct trace *t, uint32_t event);

#endif
