#!/bin/bash
# record: what the tests of ThreadSanitizer itself call (abi.h).  Time limits are guards alone.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$programs/testonly.c" -o testonly -pthread
ok $? "the names are there"
run timeout 300 ./testonly
like "$status $out" "^0 2 " "alone, the barrier waits"
for how in "--seed 1" "--seed 2" "--seed 3" "--seed 4" "--mode free"; do
	run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./testonly
	is "$status $out" "0 2 3" "the barrier waits, and a lock says how often it was held, $how"
	run $HEDDLE races p.hdl --format json
	like "$(json 'join " ", sort map { $_->{variable} } @{$d->{findings}}')" "order.1. range" \
		"the barrier orders nothing, $how"
done
done_testing
