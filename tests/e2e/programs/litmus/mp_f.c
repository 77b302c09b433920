/* message passing, a release fence and an acquire fence */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); FENCE(release); STORE(y, 1, relaxed))
THREAD(1, a = LOAD(y, relaxed); FENCE(acquire); b = LOAD(x, relaxed))
RUN(a == 1 && b == 0, t0, t1)
