/* S, release and acquire */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 2, relaxed); STORE(y, 1, release))
THREAD(1, a = LOAD(y, acquire); STORE(x, 1, relaxed))
RUN(a == 1 && LOAD(x, relaxed) == 2, t0, t1)
