#!/bin/bash
# dataracebench.sh - the C and C++ programs of DataRaceBench (OpenMP), each with four threads: is
# the race that its name tells of (yes, no) in a recording, seed by seed until one has it?
#
#   tests/bench/dataracebench.sh DATARACEBENCH [PROGRAM...]
#   PROGRAMS  where to work (default: /tmp/heddle-programs); SEEDS ("1 2")
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
source=$(cd "$1/micro-benchmarks" && pwd)
shift
work=${PROGRAMS:-/tmp/heddle-programs}/dataracebench
mkdir -p "$work"
cd "$source" || exit
declare -A count
printf '%-44s %-4s %s\n' program race 'status of races, by seed'
for file in DRB*.c DRB*.cpp; do
	name=${file%.*}
	[ $# -gt 0 ] && ! grep -qw -- "$name" <<<"$*" && continue
	compiler=cc want=no found=no statuses=
	[ "${file##*.}" = cpp ] && compiler=c++
	[ "${name##*-}" = yes ] && want=yes
	if ! $HEDDLE $compiler -g -O1 -w -fopenmp -I. -Iutilities -Ipolybench "$file" -o "$work/$name" -lm \
		>"$work/log" 2>&1; then
		printf '%-44s %-4s %s\n' "$name" $want 'does not build here'
		continue
	fi
	for seed in ${SEEDS:-1 2}; do
		OMP_NUM_THREADS=4 timeout 60 $HEDDLE record -q --seed "$seed" --max-size 300 -o "$work/t.hdl" \
			-- "$work/$name" >/dev/null 2>&1 </dev/null
		timeout 60 $HEDDLE races "$work/t.hdl" >"$work/$name.races" 2>&1
		statuses="$statuses $?"
		[ "${statuses##* }" = 1 ] && { found=yes; break; }
	done
	count[$want,$found]=$((${count[$want,$found]:-0} + 1))
	printf '%-44s %-4s %s\n' "$name" $want "$statuses"
done
printf 'racy: found %d, not found %d; clean: reported %d, not reported %d\n' "${count[yes,yes]:-0}" \
	"${count[yes,no]:-0}" "${count[no,yes]:-0}" "${count[no,no]:-0}"
