#!/bin/bash
# heddle witness: a witness, a proof, or an honest answer; the exit status for each.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

figure_1b >1b.std
run "$HEDDLE" witness 1b.std 1 13 -o race.wit
is "$status" 1 "a witness: exit status 1"
is "$(head -1 race.wit)" "#! heddle-witness 1" "the file says what it is"
sum=$(sha256sum 1b.std | cut -d' ' -f1)
is "$(sed -n 2p race.wit)" "#! trace 1b.std $sum" "of which trace"
is "$(sed -n 3p race.wit)" "#! kind race" "of which kind"
is "$(sed -n 4p race.wit)" "#! pair 1 13" "for which pair"
is "$(tail -1 race.wit)" "13 # T3|w(x)|14" "the pair is last, each event as text"
run "$HEDDLE" verify 1b.std race.wit
is "$status" 0 "and verify accepts it"

# without -o on standard output; the pair in either order; JSON
run "$HEDDLE" witness 1b.std 13 1
is "$status" 1 "the pair the other way round"
is "$(printf '%s\n' "$out" | head -1)" "#! heddle-witness 1" "without -o, the file is printed"
run "$HEDDLE" witness 1b.std 1 13 --format json
is "$status" 1 "as JSON"
is "$(json '$d->{findings}[0]{verdict}')" race "its verdict"
is "$(json '$d->{findings}[0]{witness}[-1]')" 13 "its witness"

# impossible, with the proof, and no file
run "$HEDDLE" witness 1b.std 2 8 -o none.wit
is "$status" 0 "impossible: exit status 0"
like "$out" "impossible: events 2 and 8" "it says so"
like "$out" "before" "with the steps of the proof"
ok "$([ ! -e none.wit ]; echo $?)" "and writes no file"
printf 'T1|w(x)|1\nT1|w(f)|2\nT2|r(f)|3\nT2|r(x)|4\n' >seen.std
run "$HEDDLE" witness seen.std 0 3
is "$status" 0 "ordered by an observation"
like "$out" "reads from" "the proof names it"

# what M2 rejects without a proof is settled all the same
cat >three.std <<'T'
T1|acq(m)|1
T1|w(x)|2
T2|acq(l)|3
T2|r(x)|4
T3|w(y)|5
T2|w(y)|6
T2|rel(l)|7
T1|rel(m)|8
T
run "$HEDDLE" witness three.std 4 5
is "$status" 1 "a pair of three threads"

# --values: another write of the same value will do
cat >values.txt <<'T'
#! heddle 1
T1|w(x)=1|1
T1|w(y)=1|2
T2|r(y)=1|3
T2|w(x)=2|4
T3|w(y)=1|5
T
run "$HEDDLE" witness values.txt 0 3
is "$status" 0 "the observed write has to come first"
run "$HEDDLE" witness values.txt 0 3 --values -o values.wit
is "$status" 1 "with --values it need not"
is "$(grep -c '^#! under values' values.wit)" 1 "the file says under what"
run "$HEDDLE" verify values.txt values.wit
is "$status" 0 "and is verified under that"
sed '/under/d' values.wit >without.wit
run "$HEDDLE" verify values.txt without.wit
is "$status" 1 "but not without"

# a race that only C11's happens-before shows says so, and verify knows it
printf '#! heddle 1\nT1|w(x)|1\nT1|aw(f);rlx|2\nT2|ar(f);rlx|3\nT2|r(x)|4\n' >relaxed.txt
run "$HEDDLE" witness relaxed.txt 0 3 -o relaxed.wit
is "$status" 1 "visible only as a C11 race"
is "$(sed -n 3p relaxed.wit)" "#! kind c11-race" "the file says so"
run "$HEDDLE" verify relaxed.txt relaxed.wit
is "$status" 0 "and is accepted as that"

# pairs that do not conflict, and bad usage
for pair in "1 2" "0 4" "1 11" "1 1" "1 99" "1 x" "1 -1" "1 99999999999"; do
	run "$HEDDLE" witness 1b.std $pair
	is "$status" 2 "witness $pair: exit status 2"
	is "$(printf '%s' "$err" | grep -c '^heddle: ')" 1 "witness $pair: one message"
done
run "$HEDDLE" witness 1b.std 1
is "$status" 2 "one event is no pair"
run "$HEDDLE" witness 1b.std 1 13 -o /nonexistent/w.wit
is "$status" 2 "a file that cannot be written"

# - is standard output where text can go there, and no file's name elsewhere.
run "$HEDDLE" witness 1b.std 1 13
plain=$out
run "$HEDDLE" witness 1b.std 1 13 -o -
is "$status $out" "1 $plain" "-o - prints the witness"
for args in "witness 1b.std 1 13 --format json" "atomic 1b.std --predict" "explore -- true" "record -- true"; do
	run "$HEDDLE" ${args%% *} -o - ${args#* }
	like "$status $err" "^(2|125) .*expected a file, found '-'" "$args: not to standard output"
done
is "$(ls -- - 2>&1 | grep -c '^-$')" 0 "and there is no file of that name"
done_testing
