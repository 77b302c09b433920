#!/bin/bash
# The real program from the screen: both orders of a race side by side, a witness, a run of an exploration,
# the recorded order; and :rebuild, which builds, records again as it was recorded, and compares.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
sample() { # NAME FILE [OPTION...]: built and recorded
	local name=$1 file=$2
	shift 2
	cp "$root/samples/$file" "$name.c"
	"$HEDDLE" cc -g -O1 "$name.c" -o "$name" -pthread || exit 1
	timeout 300 "$HEDDLE" record -q --seed 1 "$@" -o "$name.hdl" -- "./$name" >/dev/null
}
screen() { # TRACE COMMAND...: what the screen shows after them, in $out
	local trace=$1
	shift
	printf '%s\n' wait "$@" wait "save-screen screen.txt" >script
	rm -f screen.txt
	run env COLUMNS=130 LINES=40 timeout 300 "$HEDDLE" open "$trace" --script script
	out=$(cat screen.txt 2>/dev/null)
}
sample bank bank/bank.c --strategy pct --depth 2
screen bank.hdl "press c"
is "$status$err" 0 "both orders are run beside the screen"
like "$out" "T1 first: exit status 0 +T2 first: exit status 0" "side by side, with their ends"
like "$out" "Here the two orders part:" "it says where they part"
like "$out" "T1 first:  T2 reads acct.balance as 150 at report bank.c:33" "in the program's terms"
like "$out" "T2 first:  T2 reads acct.balance as 100 at report bank.c:33" "for each of them"
like "$out" "Printed with T1 first: “balance 150”, with T2 first: “balance 100”" "and what is printed otherwise"
like "$out" "▸ +33 +return acct.balance" "with the source of that place"
screen bank.hdl "press w c"
like "$out" "Here the two orders part:" "by the same key from the witness"
screen bank.hdl "press T c"
like "$out" "The recorded order, run again" "from the trace: the recorded order"
like "$out" "Each thread does and sees what it did in the recording" "which does what it did"
like "$out" "As recorded: The run ended with exit status 0" "and ends as it did"
like "$out" "balance 150" "with its output"

# What :reach finds is a witness: verify accepts it, replay follows it.
screen bank.hdl "reach acct.balance == 100 at bank.c:33" wait "export reach.wit" "press c"
like "$out" "the order in which acct.balance == 100" "an order that :reach found is run"
like "$out" "this run:  T2 reads acct.balance as 100 at report bank.c:33" "and the value is read"
run "$HEDDLE" verify bank.hdl reach.wit
is "$status" 0 "verify accepts it"
run "$HEDDLE" replay -q --witness reach.wit -- ./bank
is "$status $out" "0 balance 100" "replay follows it"
sed -i 's/balance == 100/balance == 150/' reach.wit
run "$HEDDLE" verify bank.hdl reach.wit
is "$status" 1 "and no other condition"

sample order lock-order/lock_order.c
screen order.hdl "press c"
like "$out" "On the real program: deadlock on (alice|bob).lock" "a deadlock's witness"
like "$out" "this run:  T[12] stands waiting for (alice|bob).lock at transfer order.c:21" "ends where the threads wait"
timeout 300 "$HEDDLE" explore -q --budget 60 -o tree -- ./order >/dev/null 2>&1
screen order.hdl "exploration tree" "press X c"
like "$out" "Run 1 of the exploration, run again" "a run of an exploration"
like "$out" "it ends in a deadlock" "ends as it did there"
like "$out" "Each thread does and sees what it did in the recording" "along the same schedule"

# A trace from elsewhere names a program: nothing is run without a yes.
export XDG_STATE_HOME=$scratch/elsewhere
screen bank.hdl "press c"
unlike "$out" "exit status" "a program that somebody else's trace names is not run"
like "$out" "This trace was not recorded on this machine. Run the program that it names, ./bank \?" "but asked about"
screen bank.hdl "press c y"
like "$out" "Here the two orders part:" "and run after a yes"
screen bank.hdl "rebuild touch built"
like "$out" "This trace was not recorded on this machine" "so for a new recording"
is "$(ls built 2>/dev/null)" "" "before anything is built"
export XDG_STATE_HOME=$scratch/.state

# :rebuild
build="$HEDDLE cc -g -O1 bank.c -o bank -pthread"
screen bank.hdl "rebuild $build"
is "$status$err" 0 "a build from the screen"
like "$out" "Findings: 0 new, 1 known, 0 gone" "the same program has the same finding"
like "$out" "heddle record --mode controlled --strategy pct --depth 2 --seed 1 -o" "it is recorded as it was: strategy and seed"
cp "$root/samples/bank/fixed.c" bank.c
screen bank.hdl rebuild
like "$out" "Findings: 0 new, 0 known, 1 gone" "the fixed one has none: the command was kept"
cmp -s bank.rebuilt.hdl bank.rebuilt.2.hdl
is "$?" 1 "an earlier recording is not written over"
sed -i 's/acct.deposits++;/acct.deposits++/' bank.c
screen bank.hdl rebuild
like "$out" "The build failed: n goes to the next place" "a compiler's error"
like "$out" "▸ +[0-9]+ +acct.deposits\+\+" "is shown at its place"
cp "$root/samples/bank/bank.c" bank.c
printf 'theirs' >kept.hdl
mkdir other && cd other && printf '%s\n' wait rebuild >script
run timeout 300 "$HEDDLE" open ../bank.hdl --script script
is "$status" 2 "another folder has no command"
like "$err" "no build command is kept for this folder" "and says so"

# the program is somewhere else now
cp "$root/samples/bank/bank.c" exe.c
"$HEDDLE" cc -g -O1 exe.c -o exe -pthread && "$HEDDLE" record -q --seed 1 -o exe.hdl -- ./exe >/dev/null
mv exe moved
printf '%s\n' wait "rerun recorded" wait "press O" "save-screen screen.txt" >script
run timeout 300 "$HEDDLE" open exe.hdl --exe ./moved --script script
is "$status$err" 0 "--exe: another path"
like "$(cat screen.txt)" "balance 150" "which is run"
run timeout 300 "$HEDDLE" open exe.hdl --exe ./exe --script script
is "$status" 2 "--exe: no such program"
like "$err" "\./exe: --exe: cannot be run: No such file" "is named"
cd .. || exit 1
is "$(ls -d "${TMPDIR:-/tmp}"/heddle-run-* 2>/dev/null | wc -l)" 0 "nothing is left behind"
done_testing
