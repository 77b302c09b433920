/* sum.h - the checksum by which files find damage: over four lanes, at memory speed; not
 * cryptographic. */
#ifndef HEDDLE_SUM_H
#define HEDDLE_SUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t sum_bytes(const void *bytes, size_t length);

#endif
