#!/bin/bash
# Random programs (tests/e2e/programs/random_program.pl) explored, against the interpreter of
# all their interleavings: COUNT of them, from $HEDDLE_SEED on.
# Usage: tests/soak_program.sh MODE COUNT; tests/soak_program.sh --modes
set -u
modes="plain spec results"
[ "$1" = --modes ] && { echo "$modes"; exit 0; }
mode=$1 count=$2
generator=$PWD/tests/e2e/programs/random_program.pl
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
case $mode in
plain) arguments=() options=() ;;
spec) arguments=(random.spec) options=(--spec random.spec) ;;
results) arguments=(random.spec results) options=(--spec random.spec --results) ;;
*) echo "no mode $mode" >&2; exit 2 ;;
esac
classes=0
for ((seed = HEDDLE_SEED; seed < HEDDLE_SEED + count; seed++)); do
	expected=$(perl "$generator" "$seed" random.c ${arguments[@]+"${arguments[@]}"})
	"$HEDDLE" cc -g -O1 random.c -o random -pthread || exit 2
	for first in 0 $((seed + 10)); do
		"$HEDDLE" explore --budget 600 --format json --seed "$first" ${options[@]+"${options[@]}"} -- ./random >report.json 2>said
		found=$(perl -MJSON::PP -0777 -ne '$d = decode_json($_);
			print "$d->{states} ", $d->{complete} ? "complete" : "open"' report.json)
		if [ "$found" != "$expected complete" ]; then
			echo "HEDDLE_SEED=$seed tests/soak_program.sh $mode 1: expected $expected complete, found $found (--seed $first)"
			cat said random.c
			exit 1
		fi
	done
	classes=$((classes + expected))
done
echo "$count random programs, $classes classes of runs, each explored twice"
