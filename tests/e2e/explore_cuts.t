#!/bin/bash
# heddle explore --resume: interrupted after any number of runs, an exploration goes on to the same classes, findings and
# last line as without interruption, with every option that it may have.
# HEDDLE_SYNC_PROGRAMS=N, HEDDLE_SYNC_FIRST=N: other random programs (explore_random.t), interrupted at every run.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

# What an exploration says, without what depends on the order of its runs: their number, and which of them it names.
said() {
	json 'join "; ", "$d->{states} " . ($d->{complete} ? "complete" : "open"),
		(sort map { "$_->{kind} $_->{status} $_->{count} " . JSON::PP->new->canonical->allow_nonref->encode($_->{locations}) } @{$d->{errors}}),
		(sort map { JSON::PP->new->canonical->allow_nonref->encode($_->{locations}) . $_->{variable} } @{$d->{races}}),
		(sort map { $_->{class} } grep { !$_->{redundant} } @{$d->{runs}}),
		@{$d->{gaps}}, @{$d->{"races-open"} // []}, JSON::PP->new->canonical->allow_nonref->encode($d->{bound}), $d->{"stand-for"} // ""'
}
explore() { # RUNS STATE OPTIONS
	local runs=$1 state=$2
	shift 2
	run timeout 300 "$HEDDLE" explore --budget 0 ${runs:+--runs $runs} ${state:+--resume "$state"} --format json "$@"
}
cuts() { # NAME STEP OPTIONS: PROGRAM ARGS after --
	local name=$1 step=$2 whole cut others="" most
	shift 2
	explore "" "" "$@"
	whole="$status $(said)"
	[[ "$whole" != *use-after-free* ]] || return # which runs with one count depends on the order
	most=$(json '$d->{executions}')
	for ((cut = 1; cut < most && cut < 400; cut += step)); do
		rm -f state
		explore $cut state "$@"
		explore "" state "$@"
		[ "$status $(said)" = "$whole" ] || others+="$cut: $status $(said)"$'\n'
	done
	is "$others" "" "$name: the same, interrupted at any of $most runs"
	[ -z "$others" ] || echo "# whole: $whole"
}

chosen=${HEDDLE_SYNC_FIRST:-}${HEDDLE_SYNC_PROGRAMS:-}
first=${HEDDLE_SYNC_FIRST:-1}
seeds=$(seq "$first" $((first + ${HEDDLE_SYNC_PROGRAMS:-8} - 1)))
[ -n "$chosen" ] || seeds="3 6 44 60 61000001 61000003 61000005 62000001 63000001"
for seed in $seeds; do
	# looks under locks that are tried may have no end
	[ $((seed % 16)) != 0 ] && ./oracle "$seed" >expected && [ "$(wc -l <expected)" -le 60 ] || continue
	read -ra arguments <expected
	step=$([ -n "$chosen" ] && echo 1 || echo 7)
	cuts "$seed" "$step" -- ./sync log "${arguments[@]}"
	for options in "--bound preemptions=2" "--spurious 1" "--symmetry" "--seed 3" "--steps 400" "--shard 2/3"; do
		# shellcheck disable=SC2086
		cuts "$seed $options" $((step * 3)) $options -- ./sync log "${arguments[@]}"
	done
	[[ "${arguments[*]}" != *[mGADK][01]* ]] || for options in "" --results --linearizable; do
		cuts "$seed --spec $options" $((step * 3)) --spec "$programs/random_sync.spec" $options -- ./sync log "${arguments[@]}"
	done
done
$HEDDLE cc -g -O1 "$root/tests/e2e/cases/explore/late_race.c" -o late -pthread
cuts "--final, --check" 1 --final data --check 'data == 1 || flag == 1' -- ./late
done_testing
