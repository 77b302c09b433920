/* coherence of reads */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, relaxed))
THREAD(1, STORE(x, 2, relaxed))
THREAD(2, a = LOAD(x, relaxed); b = LOAD(x, relaxed))
THREAD(3, c = LOAD(x, relaxed); d = LOAD(x, relaxed))
RUN(a == 1 && b == 2 && c == 2 && d == 1, t0, t1, t2, t3)
