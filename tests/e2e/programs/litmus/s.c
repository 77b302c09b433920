/* S */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 2, relaxed); STORE(y, 1, relaxed))
THREAD(1, a = LOAD(y, relaxed); STORE(x, 1, relaxed))
RUN(a == 1 && LOAD(x, relaxed) == 2, t0, t1)
