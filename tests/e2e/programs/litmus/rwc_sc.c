/* read to write causality, seq_cst */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, seq_cst))
THREAD(1, a = LOAD(x, seq_cst); b = LOAD(y, seq_cst))
THREAD(2, STORE(y, 1, seq_cst); c = LOAD(x, seq_cst))
RUN(a == 1 && b == 0 && c == 0, t0, t1, t2)
