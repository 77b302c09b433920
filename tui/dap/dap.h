/*
 * dap.h - heddle replay --dap: an adapter of the Debug Adapter Protocol, by which editors go
 * through a replayed run forward and backward.
 */
#ifndef HEDDLE_DAP_H
#define HEDDLE_DAP_H

#include "engine/base/base.h"

struct dap_start {
	int in, out; /* the editor */
	/* Options of the command line, unless 'launch' says otherwise: */
	GPtrArray *options;          /* char *: options of `heddle replay` beyond these */
	const char *witness, *trace; /* or NULL */
	char *const *argv;           /* the program, or NULL */
	unsigned timeout;            /* seconds for the server to be ready; 0: no limit */
};

/* Until the editor leaves.  False and `error` when it does not speak the protocol. */
bool dap_serve(const struct dap_start *start, struct error *error);

#endif
