#!/bin/bash
# The README's single steps work as they stand there, and `heddle witness TRACE` needs no pair.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
ln -s "$HEDDLE" heddle
ln -s "$root/samples" samples
mapfile -t steps < <(sed -n '/single steps:$/,/^## When/s/^    \.\/heddle/.\/heddle/p' "$root/README.md")
ok "$([ ${#steps[@]} -ge 6 ]; echo $?)" "the README has single steps"
# readme.t follows the ten lines before them; here those that the steps need, with seeds left out
./heddle cc -g -O1 samples/bank/bank.c -o bank -pthread
steps=("./heddle record -- ./bank" "./heddle bank.hdl" "${steps[@]}" "./heddle witness bank.hdl -o race1.wit"
	"./heddle replay --witness race1.wit -- ./bank")
echo "save-screen first.screen" >look.script
for step in "${steps[@]}"; do
	step=${step%%  #*}
	want=0
	case $step in
	*" races "* | *" witness "* | *" explore "* | *" shake "*) want=1 ;; # something is found
	"./heddle bank.hdl"*) step+=" --script look.script" ;; # there is no terminal here
	esac
	run timeout 300 bash -c "$step"
	is "$status" "$want" "$step"
	[ "$status" = "$want" ] || printf '# %s\n' "$out" "$err"
	case $step in *" replay "*) like "$out$err" "T2 read acct.balance: 100" "the program does it the other way round" ;; esac
done
like "$(head -1 first.screen)" "bank.hdl" "the explorer opens the recording"
like "${steps[*]}" "witness bank.hdl 6 19" "a pair is named"
run ./heddle witness bank.hdl 6 19 -o pair.wit
is "$status" 1 "which has a witness"

# the first finding of each kind
programs=$root/tests/e2e/programs/stuck
./heddle cc -g -O1 "$programs/abba.c" -o abba -pthread
run ./heddle record -q --seed 1 -o abba.hdl -- ./abba
run ./heddle witness abba.hdl -o abba.wit
is "$status" 1 "a deadlock, where no race is"
like "$err" "the first finding with a witness: deadlock" "it says which finding it is"
run ./heddle verify abba.hdl abba.wit
is "$status" 0 "and the checker accepts it"
./heddle cc -g -O1 "$programs/ways.c" -o ways -pthread
run timeout 300 ./heddle record -q -o self.hdl -- ./ways self
run ./heddle deadlocks self.hdl --format json
request=$(json '$d->{findings}[0]{requests}[0]')
run ./heddle witness self.hdl "$request" -o self.wit
is "$status" 1 "a thread that waits for itself: a single event"
run ./heddle verify self.hdl self.wit
is "$status" 0 "accepted"
run ./heddle witness self.hdl 3
is "$status" 2 "another single event is none"
like "$err" "event 3 alone is no request of a thread that waits for itself; name two events" "it says so"
printf 'T1|acq(m)|1\nT1|w(x)|1\nT1|rel(m)|1\nT2|acq(m)|2\nT2|w(x)|2\nT2|rel(m)|2\n' >none.std
run ./heddle witness none.std -o none.wit
is "$status" 0 "nothing to show"
like "$out" "no finding has a witness" "which it says"
ok "$([ ! -e none.wit ]; echo $?)" "and writes no file"
run ./heddle witness none.std --format json
is "$(json 'scalar @{$d->{findings}}')" 0 "in JSON, too"
done_testing
