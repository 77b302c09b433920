#!/bin/bash
# Random programs (tests/e2e/programs/random_program.pl) explored, against the interpreter of
# all their interleavings: COUNT of them, from $HEDDLE_SEED on.
# Usage: tests/soak_program.sh MODE COUNT; tests/soak_program.sh --modes
set -u
modes="sync plain spec results"
[ "$1" = --modes ] && { echo "$modes"; exit 0; }
mode=$1 count=$2
# Programs that synchronise in every way have a test and an interpreter of their own.
if [ "$mode" = sync ]; then
	said=$(HEDDLE_SYNC_FIRST=$HEDDLE_SEED HEDDLE_SYNC_PROGRAMS=$((5 * count)) bash tests/e2e/explore_random.t 2>&1)
	bad=$?
	if [ $bad != 0 ] || printf '%s\n' "$said" | grep -q '^not ok'; then
		printf '%s\n' "$said" | grep -A9 '^not ok'
		echo "HEDDLE_SYNC_FIRST=SEED HEDDLE_SYNC_PROGRAMS=1 make check T=explore_random"
		exit 1
	fi
	echo "$(printf '%s\n' "$said" | grep -c '^ok') random programs that synchronise, each outcome and no other"
	exit
fi
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
