#!/bin/bash
# Compare the analyses, the checker and the exploration with exhaustive search for SOAK_SECONDS
# (default 600) on SOAK_JOBS processors; every round has seeds of its own, from HEDDLE_SEED on
# (default: of the day).  Prints what was covered; at a difference its seed and the command that
# repeats it, and ends with 1.  Usage: tests/soak.sh BUILD
#
# Jobs are the property tests (tests/property/prop_*.c), each with the number of traces that it
# has by default, and random programs (tests/soak_program.sh).
set -u
B=$1
: "${SOAK_SECONDS:=600}" "${HEDDLE_SEED:=$(date +%j000)}" "${SOAK_JOBS:=$(nproc)}"
out=$PWD/build/soak
rm -rf "$out"
mkdir -p "$out/differences"
unset HEDDLE_TRACES
end=$(($(date +%s) + SOAK_SECONDS))
mapfile -t tests < <(find "$B/tests/property" -maxdepth 1 -name 'prop_*' -perm -u+x ! -name '*.[od]' | sort)
modes=$(tests/soak_program.sh --modes)

# job NAME SEED COMMAND...: what it says is kept when it fails, else its numbers are added up
job() {
	local name=$1 seed=$2 said=$out/said.$BASHPID
	shift 2
	if HEDDLE_COVERAGE=$out/coverage HEDDLE_SEED=$seed "$@" >"$said" 2>&1; then
		sed "s/^/$name\t/" "$said" >>"$out/said"
	else
		cp "$said" "$out/differences/$name-$seed.txt"
		echo "DIFFERENCE: HEDDLE_SEED=$seed $*    (said: $out/differences/$name-$seed.txt)"
	fi
	rm -f "$said"
	printf '%s runs\t1\n' "$name" >>"$out/runs"
}
# worker N: of the endless list of jobs every SOAK_JOBS-th
worker() {
	local number=0 round
	for ((round = 0; ; round++)); do
		local seed=$((HEDDLE_SEED + round * 100000))
		for t in "${tests[@]}"; do
			[ "$(date +%s)" -lt "$end" ] || return
			((number++ % SOAK_JOBS == $1)) || continue
			job "${t##*/}" "$seed" "$t"
		done
		for mode in $modes; do
			[ "$(date +%s)" -lt "$end" ] || return
			((number++ % SOAK_JOBS == $1)) || continue
			job "programs-$mode" "$seed" tests/soak_program.sh "$mode" 10
		done
	done
}
echo "soak: HEDDLE_SEED=$HEDDLE_SEED SOAK_SECONDS=$SOAK_SECONDS SOAK_JOBS=$SOAK_JOBS"
export HEDDLE=$PWD/heddle LC_ALL=C.UTF-8
for ((i = 0; i < SOAK_JOBS; i++)); do
	worker "$i" &
done
wait
echo "== what the traces had"
touch "$out/coverage" "$out/said" "$out/runs"
awk -F'\t' '{ n[$1] += $2 } END { for (k in n) printf "%14d %s\n", n[k], k }' "$out/coverage" | sort -k2
echo "== what was compared (the tests' own counts, added up)"
perl -ne 'chomp; my ($name, $line) = split /\t/, $_, 2;
	next if !defined $line || $line !~ /\d/ || $line =~ /Checks:|^Running/;
	my @n = $line =~ /(\d+)/g; (my $key = $line) =~ s/\d+/%/g; $key = "$name: $key";
	$sum{$key}[$_] += $n[$_] for 0 .. $#n;
	END { for (sort keys %sum) { my @n = @{$sum{$_}}; my $k = $_; $k =~ s/%/shift @n/ge; print "$k\n" } }' "$out/said"
echo "== runs"
awk -F'\t' '{ n[$1] += $2 } END { for (k in n) printf "%14d %s\n", n[k], k }' "$out/runs" | sort -k2
differences=$(find "$out/differences" -type f | wc -l)
echo "$differences differences"
[ "$differences" = 0 ]
