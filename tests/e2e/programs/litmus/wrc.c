/* write to read causality */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed))
THREAD(1, a = LOAD(x, relaxed); STORE(y, 1, relaxed))
THREAD(2, b = LOAD(y, relaxed); c = LOAD(x, relaxed))
RUN(a == 1 && b == 1 && c == 0, t0, t1, t2)
