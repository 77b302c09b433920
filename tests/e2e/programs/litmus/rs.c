/* a release sequence through an update of another thread */
/* allowed: none */
#include "litmus.h"

static atomic_int data;

THREAD(0, STORE(data, 1, relaxed); STORE(x, 1, release))
THREAD(1, ADD(x, 1, relaxed))
THREAD(2, a = LOAD(x, acquire); b = a == 2 ? LOAD(data, relaxed) : 1)
RUN(a == 2 && b == 0, t0, t1, t2)
