/* 2+2W, seq_cst */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, seq_cst); STORE(y, 2, seq_cst))
THREAD(1, STORE(y, 1, seq_cst); STORE(x, 2, seq_cst))
RUN(LOAD(x, relaxed) == 1 && LOAD(y, relaxed) == 1, t0, t1)
