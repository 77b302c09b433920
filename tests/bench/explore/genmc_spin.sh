#!/bin/bash
# GenMC's own tests with loops that wait, as real programs under `explore`, beside its expected numbers under SC:
#     tests/bench/explore/genmc_spin.sh GENMC [HEDDLE]      GENMC: a checkout, for its tests/correct
# A line a test: its name, GenMC's number of executions, our classes (and those that wait for ever), executions,
# complete or not.  In GenMC the other threads go on when main returns; so main ends its thread alone.
# `assume` is a loop that waits.
tests=$1/tests/correct
heddle=${2:-./heddle}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cat >"$scratch/genmc.h" <<'C'
#define __VERIFIER_assume(c) while (!(c))
#define __VERIFIER_assert(c) assert(c)
C
cp -r "$tests" "$scratch/tests"
for name in data-structures/{spinlock,ticketlock,ttaslock,twalock,mcs_spinlock,seqlock-atomic,linuxrwlocks} \
	synthetic/{dekker_f,lamport,peterson-sc,szymanski,barrier-det,barrier1,barrier2} liveness/spinloop; do
	folder=$scratch/tests/$name
	variants=("$folder"/variants/*.c)
	[ -f "${variants[0]}" ] || { echo "$name: is not there"; continue; }
	perl -0pe 's/(.*)return 0;/$1pthread_exit(0);/s' "${variants[0]}" >"$folder/variants/run.c"
	args=$(grep -ho -- '-D[A-Za-z0-9_]*=[0-9]*' "$folder"/args.sc.mo.in 2>/dev/null)
	if ! "$heddle" cc -g -O1 -w -include stdint.h -I"$scratch" -I"$folder" $args "$folder/variants/run.c" -o "$scratch/run" -pthread >/dev/null 2>&1; then
		echo "$name: not built"
		continue
	fi
	"$heddle" explore --budget 30 --format json -- "$scratch/run" >"$scratch/report" 2>/dev/null
	perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>);
		my ($blocked) = map { $_->{count} } grep { $_->{kind} eq "blocked" } @{$d->{errors}};
		printf "%s: %s, %d (%d), %d%s\n", $ARGV[0], $ARGV[1], $d->{states}, $blocked // 0,
			$d->{executions}, $d->{complete} ? "" : " not complete: $d->{gaps}[0]"' \
		"$name" "$(grep -m1 . "$folder/expected.sc.mo.in")" <"$scratch/report"
done
