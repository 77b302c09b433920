/* message passing */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); STORE(y, 1, relaxed))
THREAD(1, a = LOAD(y, relaxed); b = LOAD(x, relaxed))
RUN(a == 1 && b == 0, t0, t1)
