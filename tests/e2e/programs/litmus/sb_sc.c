/* store buffering, seq_cst */
/* allowed: none */
#include "litmus.h"

THREAD(0, STORE(x, 1, seq_cst); a = LOAD(y, seq_cst))
THREAD(1, STORE(y, 1, seq_cst); b = LOAD(x, seq_cst))
RUN(a == 0 && b == 0, t0, t1)
