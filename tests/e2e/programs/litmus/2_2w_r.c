/* 2+2W, release stores */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, release); STORE(y, 2, release))
THREAD(1, STORE(y, 1, release); STORE(x, 2, release))
RUN(LOAD(x, relaxed) == 1 && LOAD(y, relaxed) == 1, t0, t1)
