#!/bin/bash
# heddle races --analysis syncp: with a failed try in the trace its report says that it is approximate.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

printf '#! heddle 1\n#! semaphore s 1\nT0|take(s)|1\nT1|taketryfail(s)|2\nT0|w(x)|3\nT1|w(x)|4\n' >try.txt
run "$HEDDLE" races try.txt --analysis syncp
like "$out$err" "approximate: failed tries are kept to the sections and counts that made them fail" "one failed take"
printf '#! heddle 1\n#! semaphore s 1\nT0|take(s)|1\nT0|w(x)|3\nT1|w(x)|4\n' >none.txt
run "$HEDDLE" races none.txt --analysis syncp
is "$(grep -c approximate <<<"$out$err")" 0 "none: not a word"
done_testing
