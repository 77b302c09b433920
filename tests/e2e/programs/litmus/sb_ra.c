/* store buffering, release and acquire */
/* allowed: tso rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, release); a = LOAD(y, acquire))
THREAD(1, STORE(y, 1, release); b = LOAD(x, acquire))
RUN(a == 0 && b == 0, t0, t1)
