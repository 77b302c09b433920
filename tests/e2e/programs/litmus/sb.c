/* store buffering */
/* allowed: tso rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed); a = LOAD(y, relaxed))
THREAD(1, STORE(y, 1, relaxed); b = LOAD(x, relaxed))
RUN(a == 0 && b == 0, t0, t1)
