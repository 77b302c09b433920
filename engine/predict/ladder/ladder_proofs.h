/*
 * ladder_proofs.h - proofs of impossibility shared by the ladder of verdicts: a proof for one
 * pair of events holds for all later pairs of the same two synchronisation-free regions.
 * Independent of how it was found.
 */
#ifndef HEDDLE_LADDER_PROOFS_H
#define HEDDLE_LADDER_PROOFS_H

#include "engine/finding.h"

struct ladder_proofs;
/* `use_values`: another thread may read any write. Needs INDEX_ALL but sites. */
struct ladder_proofs *ladder_proofs_new(const struct trace *t, bool use_values);
void ladder_proofs_free(struct ladder_proofs *l); /* may be NULL */
/* A proof for events at or before e1 and e2 in their regions, or NULL. */
const struct proof *ladder_proofs_find(const struct ladder_proofs *l, uint32_t e1, uint32_t e2);
/* Makes the table of regions, which the first proof needs, ahead of it. Nothing is made when
 * cancelled. */
void ladder_proofs_make_regions(struct ladder_proofs *l, const struct progress *progress);
/* Store a copy. */
void ladder_proofs_keep(struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                        const struct proof *proof);
/* The proof by a common lock; owned by the caller. */
struct proof *ladder_proofs_by_lock(const struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                                    uint32_t lock);
struct proof *ladder_proof_copy(const struct proof *proof);
/* Hash of two 32-bit numbers in a uint64_t: GLib's is their exclusive or, equal for most
 * neighbouring pairs. */
guint ladder_key_hash(gconstpointer key);

#endif
