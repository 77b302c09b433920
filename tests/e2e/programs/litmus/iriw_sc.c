/* independent reads of independent writes, seq_cst */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, seq_cst))
THREAD(1, STORE(y, 1, seq_cst))
THREAD(2, a = LOAD(x, seq_cst); b = LOAD(y, seq_cst))
THREAD(3, c = LOAD(y, seq_cst); d = LOAD(x, seq_cst))
RUN(a == 1 && b == 0 && c == 1 && d == 0, t0, t1, t2, t3)
