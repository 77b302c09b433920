#!/bin/sh
# Record the bank account's sample and open the explorer on it; without a terminal, print
# the finding, the witness and how to open it.
set -eu
cd "$(dirname "$0")/.."
out=build/demo
mkdir -p "$out"
./heddle cc -g -O1 samples/bank/bank.c -o "$out/bank" -pthread
./heddle record --seed 1 -o "$out/bank.hdl" -- "$out/bank"
if [ -t 0 ] && [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
	exec ./heddle "$out/bank.hdl"
fi
status=0
./heddle races "$out/bank.hdl" || status=$?
[ "$status" = 1 ] || {
	echo "demo: expected a race, heddle races ended with $status" >&2
	exit 1
}
pair=$(./heddle races "$out/bank.hdl" --format json | perl -MJSON::PP -0777 -e '
	my $f = decode_json(<STDIN>)->{findings}[0];
	print "$f->{first} $f->{second}";')
# shellcheck disable=SC2086
./heddle witness "$out/bank.hdl" $pair -o "$out/race1.wit" || [ $? = 1 ]
echo
echo "the witness, in $out/race1.wit:"
cat "$out/race1.wit"
echo
echo "open it in a terminal:    ./heddle $out/bank.hdl"
echo "make it happen:           ./heddle replay --witness $out/race1.wit -- $out/bank"
