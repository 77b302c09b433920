/* independent reads of independent writes, release and acquire */
/* allowed: rc11 */
#include "litmus.h"

THREAD(0, STORE(x, 1, release))
THREAD(1, STORE(y, 1, release))
THREAD(2, a = LOAD(x, acquire); b = LOAD(y, acquire))
THREAD(3, c = LOAD(y, acquire); d = LOAD(x, acquire))
RUN(a == 1 && b == 0 && c == 1 && d == 0, t0, t1, t2, t3)
