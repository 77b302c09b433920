/* message passing, release and acquire */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); STORE(y, 1, release))
THREAD(1, a = LOAD(y, acquire); b = LOAD(x, relaxed))
RUN(a == 1 && b == 0, t0, t1)
