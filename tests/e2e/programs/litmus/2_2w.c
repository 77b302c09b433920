/* 2+2W */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); STORE(y, 2, relaxed))
THREAD(1, STORE(y, 1, relaxed); STORE(x, 2, relaxed))
RUN(LOAD(x, relaxed) == 1 && LOAD(y, relaxed) == 1, t0, t1)
