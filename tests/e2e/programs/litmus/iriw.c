/* independent reads of independent writes */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed))
THREAD(1, STORE(y, 1, relaxed))
THREAD(2, a = LOAD(x, relaxed); b = LOAD(y, relaxed))
THREAD(3, c = LOAD(y, relaxed); d = LOAD(x, relaxed))
RUN(a == 1 && b == 0 && c == 1 && d == 0, t0, t1, t2, t3)
