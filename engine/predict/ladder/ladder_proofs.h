/*
 * ladder_proofs.h - the proofs of impossibility that the ladder of verdicts keeps and shares: a
 * proof for one pair of places holds for every later pair of the same two stretches.
 *
 * Knows the trace; not how a proof was found.
 */
#ifndef HEDDLE_LADDER_PROOFS_H
#define HEDDLE_LADDER_PROOFS_H

#include "engine/finding.h"

struct ladder_proofs;
/* `use_values`: any write may be what another thread's read sees.  Needs INDEX_ALL but sites.
 */
struct ladder_proofs *ladder_proofs_new(const struct trace *t, bool use_values);
void ladder_proofs_free(struct ladder_proofs *l); /* may be NULL */
/* A proof for a place at or before e1 and one at or before e2 in their stretches, or NULL. */
const struct proof *ladder_proofs_find(const struct ladder_proofs *l, uint32_t e1, uint32_t e2);
/* Keeps a copy. */
void ladder_proofs_keep(struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                        const struct proof *proof);
/* The proof by a lock that both hold; the caller's. */
struct proof *ladder_proofs_by_lock(const struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                                    uint32_t lock);
struct proof *ladder_proof_copy(const struct proof *proof);
/* A hash of two 32-bit numbers in one (a uint64_t): GLib's for 64 bits is their exclusive or,
 * the same for most pairs of neighbours. */
guint ladder_key_hash(gconstpointer key);

#endif
