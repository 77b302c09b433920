/* load buffering */
/* allowed: none */
#include "litmus.h"

THREAD(0, a = LOAD(x, relaxed); STORE(y, 1, relaxed))
THREAD(1, b = LOAD(y, relaxed); STORE(x, 1, relaxed))
RUN(a == 1 && b == 1, t0, t1)
