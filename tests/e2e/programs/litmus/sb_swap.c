/* store buffering, the stores by relaxed exchange */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, SWAP(x, 1, relaxed); a = LOAD(y, relaxed))
THREAD(1, SWAP(y, 1, relaxed); b = LOAD(x, relaxed))
RUN(a == 0 && b == 0, t0, t1)
