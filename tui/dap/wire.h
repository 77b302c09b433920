/*
 * wire.h - messages of the Debug Adapter Protocol on a pair of descriptors: a header with
 * Content-Length, and JSON.
 *
 * Source: "Debug Adapter Protocol", overview, "Base protocol".  The client is not trusted: a
 * header that is none, a length beyond WIRE_MOST and a text that is no JSON object end the
 * connection with an error, since nothing after them has a known beginning.
 */
#ifndef HEDDLE_WIRE_H
#define HEDDLE_WIRE_H

#include <jansson.h>

#include "engine/base/base.h"

enum { WIRE_MOST = 4 << 20 }; /* bytes of a message */

struct wire {
	int in, out;
	GString *bytes;   /* bytes read, not a whole message yet */
	GQueue *received; /* json_t *, objects, owned */
	json_int_t sent;  /* number of the last message */
	bool gone;        /* the client has left, or its stream cannot be read any more */
	bool bad;         /* `error` says why */
	struct error error;
};

void wire_open(struct wire *w, int in, int out);
void wire_close(struct wire *w);

/* Reads once, without waiting if the descriptor is ready; whole messages go to `received`. */
void wire_read(struct wire *w);

/* Send an object, which is released; its "seq" is set. */
void wire_send(struct wire *w, json_t *message);

#endif
