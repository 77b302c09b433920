#!/bin/bash
# A loop of waits whose time has passed already ends soon: virtual time goes on with each, as the kernel's would, and not by a
# few steps' time, which made such a recording millions of events long.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/late_waits.c" -o late -pthread || exit 1
for kind in condition semaphore sleep; do
	run timeout 300 "$HEDDLE" record -q -o late.hdl -- ./late $kind
	is "$status" 0 "$kind: recorded"
	rounds=${out#"$kind: "}
	ok $((rounds < 1000 || rounds > 5000)) "$kind: $rounds rounds in a second"
	run timeout 300 "$HEDDLE" record -q -o again.hdl -- ./late $kind
	ok "$(cmp -s late.hdl again.hdl; echo $?)" "$kind: one seed is one run"
done
done_testing
