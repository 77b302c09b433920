/* read to write causality */
/* allowed: tso rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed))
THREAD(1, a = LOAD(x, relaxed); b = LOAD(y, relaxed))
THREAD(2, STORE(y, 1, relaxed); c = LOAD(x, relaxed))
RUN(a == 1 && b == 0 && c == 0, t0, t1, t2)
