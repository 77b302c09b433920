/* store buffering, a seq_cst fence between */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); FENCE(seq_cst); a = LOAD(y, relaxed))
THREAD(1, STORE(y, 1, relaxed); FENCE(seq_cst); b = LOAD(x, relaxed))
RUN(a == 0 && b == 0, t0, t1)
