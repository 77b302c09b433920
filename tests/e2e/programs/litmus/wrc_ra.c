/* write to read causality, release and acquire */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, release))
THREAD(1, a = LOAD(x, acquire); STORE(y, 1, release))
THREAD(2, b = LOAD(y, acquire); c = LOAD(x, relaxed))
RUN(a == 1 && b == 1 && c == 0, t0, t1, t2)
