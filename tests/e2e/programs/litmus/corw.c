/* coherence of a read and a write */
/* allowed: none */
#include "litmus.h"

THREAD(0, a = LOAD(x, relaxed); STORE(x, 1, relaxed))
THREAD(1, STORE(x, 2, relaxed))
RUN(a == 1, t0, t1)
