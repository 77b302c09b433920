#!/bin/bash
# GenMC's own litmus tests as real programs under `explore --memory rc11`, beside its expected numbers:
#     tests/bench/memory/genmc.sh GENMC [HEDDLE]      GENMC: a checkout, for its tests/correct/litmus
# A line a test: its name, GenMC's number of executions, ours (and those that wait for ever), complete or not.
# In GenMC the other threads go on when main returns; so main ends its thread alone.
litmus=$1/tests/correct/litmus
heddle=${2:-./heddle}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cp -r "$litmus" "$scratch/litmus"
for folder in "$scratch"/litmus/*/; do
	name=$(basename "$folder")
	variants=("$folder"variants/*.c)
	[ -f "${variants[0]}" ] || continue
	perl -0pe 's/(.*)return 0;/$1pthread_exit(0);/s' "${variants[0]}" >"$folder/variants/run.c"
	if ! "$heddle" cc -g -O1 -w "$folder/variants/run.c" -o "$scratch/run" -pthread >/dev/null 2>&1; then
		echo "$name: not built (it uses GenMC's own functions)"
		continue
	fi
	"$heddle" explore --budget 100 --memory rc11 --format json -- "$scratch/run" >"$scratch/report" 2>/dev/null
	perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>);
		printf "%s: %s, %d (%d)%s\n", $ARGV[0], $ARGV[1], $d->{graphs} - $d->{"graphs-blocked"},
			$d->{"graphs-blocked"}, $d->{complete} ? "" : " not complete"' \
		"$name" "$(head -1 "$folder/expected.rc11.mo.in")" <"$scratch/report"
done
