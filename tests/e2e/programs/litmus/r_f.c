/* R, a seq_cst fence between */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); FENCE(seq_cst); STORE(y, 1, relaxed))
THREAD(1, STORE(y, 2, relaxed); FENCE(seq_cst); a = LOAD(x, relaxed))
RUN(a == 0 && LOAD(y, relaxed) == 2, t0, t1)
