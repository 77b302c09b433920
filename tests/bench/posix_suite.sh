#!/bin/bash
# posix_suite.sh - the Open POSIX Test Suite (of the Linux Test Project) under the recorder: does
# each test end as it does alone? Prints those that do not, with both statuses.
#
#   tests/bench/posix_suite.sh OPEN_POSIX_TESTSUITE [PATTERN]     (of a test's path, grep -E)
#   PROGRAMS  where to work (default: /tmp/heddle-programs); some tests set the clock, and back
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
suite=$(cd "$1" && pwd)
work=${PROGRAMS:-/tmp/heddle-programs}/posix-suite
interfaces='/(pthread_|sem_|mq_|sig|timer_|nanosleep|clock_|raise|kill|killpg|mmap|munmap|shm_|fork|lio|aio)'
mkdir -p "$work"
cd "$suite" || exit
$HEDDLE cc -g -O1 -w -Iinclude -c lib/common.c -o "$work/common.o" || exit
same=0 all=0
while read -r file; do
	name=$(sed 's|^conformance/interfaces/||; s|\.c$||; s|/|_|g' <<<"$file")
	grep -q 'main *(' "$file" || continue
	$HEDDLE cc -std=gnu99 -g -O1 -w -Iinclude -I"$(dirname "$file")" "$file" "$work/common.o" \
		-o "$work/$name" -pthread -lrt -lm >/dev/null 2>&1 || continue
	cd "$work" || exit
	timeout 20 "./$name" >"$name.out" 2>&1 </dev/null
	alone=$?
	timeout 60 "$HEDDLE" record -q --max-size 300 -o "$name.hdl" -- "./$name" >"$name.hout" 2>&1 </dev/null
	recorded=$?
	rm -f "$name" "$name.hdl"
	cd "$suite" || exit
	[ $alone = 124 ] && continue
	all=$((all + 1))
	[ $alone = $recorded ] && same=$((same + 1)) || printf '%-50s %3d alone, %3d recorded\n' "$name" $alone $recorded
done < <(find conformance/interfaces -name '[0-9]*.c' | grep -E "${2:-$interfaces}" | sort)
echo "$same of $all end as alone"
