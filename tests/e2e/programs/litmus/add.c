/* two relaxed fetch_add */
/* allowed: none */
#include "litmus.h"

THREAD(0, ADD(x, 1, relaxed))
THREAD(1, ADD(x, 1, relaxed))
RUN(LOAD(x, relaxed) == 1, t0, t1)
