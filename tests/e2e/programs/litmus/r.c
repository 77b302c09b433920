/* R */
/* allowed: tso rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); STORE(y, 1, relaxed))
THREAD(1, STORE(y, 2, relaxed); a = LOAD(x, relaxed))
RUN(a == 0 && LOAD(y, relaxed) == 2, t0, t1)
