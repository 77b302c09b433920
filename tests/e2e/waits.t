#!/bin/bash
# Every kind of wait that may never end, in small programs: of a run that ended well, the wait that another
# schedule has is predicted, its witness is accepted and ends so on the program; the fixed programs are clean.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/waits
cd "$scratch" || exit 1
for p in locks joins conditions semaphores barriers pipes onces; do
	"$HEDDLE" cc -g -O1 "$programs/$p.c" -o $p -pthread || exit 1
	"$HEDDLE" cc -g -O1 -DFIXED "$programs/$p.c" -o $p.fixed -pthread || exit 1
done

MOST=40 # seeds, until a run has ended well from which it can be seen
first='join " ", $d->{findings}[0]{kind}, $d->{findings}[0]{verdict}, @{$d->{findings}[0]{waits}[0]}{qw(for object)}'
way() { # PROGRAM WAY KIND FIRST-WAIT OBJECT
	local seed found=""
	for seed in $(seq $MOST); do
		timeout 300 "$HEDDLE" record -q --seed "$seed" -o w.hdl -- "./$1" "$2" >record.out 2>&1 || continue
		run "$HEDDLE" deadlocks w.hdl --format json
		[ "$status" = 1 ] && found=yes && break
	done
	is "$found" yes "$1 $2: predicted from a run that ended well"
	[ "$found" ] || return
	is "$(json "$first")" "$3 race $4 $5" "$1 $2: who waits, and for what"
	local requests
	requests=$(json 'join " ", @{$d->{findings}[0]{requests}}')
	# shellcheck disable=SC2086 # one event a word
	run "$HEDDLE" witness w.hdl $requests -o w.wit
	run "$HEDDLE" verify w.hdl w.wit
	is "$status" 0 "$1 $2: the checker accepts it"
	run timeout 300 "$HEDDLE" replay --witness w.wit -- "./$1" "$2"
	is "$status" 134 "$1 $2: the program comes to it"
	like "$err" "(deadlock|wait that never ends) of the witness happened" "$1 $2: and it is that one"
	fixed "$1" "$2"
}
happens() { # the same, of a wait that every run ends in
	run timeout 300 "$HEDDLE" record -q -o w.hdl -- "./$1" "$2"
	is "$status" 134 "$1 $2: every run ends so"
	run "$HEDDLE" deadlocks w.hdl --format json
	is "$(json "$first")" "$3 happened $4 $5" "$1 $2: who waits, and for what"
	fixed "$1" "$2"
}
fixed() { # PROGRAM WAY
	local seed
	for seed in 1 2; do
		run timeout 300 "$HEDDLE" record -q --seed $seed -o f.hdl -- "./$1.fixed" "$2"
		is "$status" 0 "$1 $2, fixed, seed $seed: ends well"
		run "$HEDDLE" deadlocks f.hdl --format json
		is "$status $(json '$d->{scope}')" "0 deadlock or wait that never ends" "$1 $2, fixed, seed $seed: and always"
	done
}

way locks crosswise deadlock lock b
way locks ring deadlock lock b
way locks gate deadlock lock a
way locks three deadlock lock b
way locks kept stuck lock a
happens locks again deadlock lock a
way locks reader deadlock lock a
way locks writer deadlock lock a
way locks spin deadlock lock q
way locks recursive deadlock lock a
way joins holding deadlock lock a
way joins chain deadlock lock a
way joins spanning deadlock lock a
way joins for_semaphore stuck semaphore s
way joins for_condition stuck condition cond
happens joins post_after stuck join T1
way conditions lost stuck condition cond
way conditions lost_broadcast stuck condition cond
way conditions two_waiters stuck condition cond
way conditions flag_apart stuck condition cond
way conditions nested stuck condition cond
way conditions twice stuck condition cond
way conditions ping stuck condition cond
way conditions either stuck condition cond
way conditions c11 stuck condition c11
way conditions holds_other stuck condition cond
happens conditions joined deadlock join T1
way semaphores crosswise stuck semaphore t
way semaphores two_of_two stuck semaphore full
way semaphores locked stuck semaphore empty
way semaphores no_room stuck semaphore s
way semaphores nothing_in stuck semaphore empty
way semaphores too_few stuck semaphore full
way semaphores with_lock stuck semaphore s
way barriers locked stuck barrier bar
way barriers lost stuck condition cond
way barriers unit stuck semaphore s
way barriers reader stuck barrier bar
way barriers three stuck barrier bar
happens barriers joined stuck join T1
way barriers odd stuck barrier bar
way pipes empty stuck channel pipe:1
way pipes full stuck channel pipe:1
way pipes at_once stuck channel pipe:1
way pipes closed stuck channel pipe:1
happens pipes pair stuck join T1
way pipes event stuck channel pipe:1
happens pipes too_few stuck join T2
way onces locked deadlock lock a
way onces c11 deadlock lock a
happens onces joining deadlock join T1

# reports of every command have such a wait, and are held against each other
for seed in $(seq $MOST); do
	timeout 300 "$HEDDLE" record -q --seed "$seed" -o w.hdl -- ./pipes empty >record.out 2>&1 && break
done
"$HEDDLE" deadlocks w.hdl --format json >d.json
"$HEDDLE" check w.hdl -o c --format json >c.json 2>/dev/null
run "$HEDDLE" diff d.json c.json
is "$status" 0 "deadlocks against check: nothing new"
like "$out" "0 new, 1 known, 0 gone" "they have one wait"
run "$HEDDLE" check w.hdl -o c --baseline d.json
is "$status" 0 "a baseline of deadlocks, for check"
run "$HEDDLE" deadlocks w.hdl --baseline c.json
is "$status" 0 "and of check, for deadlocks"
run "$HEDDLE" merge c.json c.json --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "merged, it is one"
run "$HEDDLE" check w.hdl -o c --format sarif
is "$(json '$d->{runs}[0]{results}[0]{ruleId}')" "stuck" "as SARIF"
run timeout 300 "$HEDDLE" fix-check d.json -o f -- ./pipes.fixed empty
is "$status" 0 "the right fix is accepted"
run timeout 300 "$HEDDLE" fix-check d.json -o f -- ./pipes empty
is "$status" 1 "and no fix is not"

# the inline test of a C++ static's guard would see another value: that is no reordering of one run
"$HEDDLE" c++ -g -O1 "$programs/statics.cc" -o statics -pthread || exit 1
"$HEDDLE" c++ -g -O1 -DFIXED "$programs/statics.cc" -o statics.fixed -pthread || exit 1
run timeout 300 "$HEDDLE" check -o s --format json -- ./statics
is "$(json 'join " ", map { $_->{kind} } grep { $_->{kind} =~ /stuck|deadlock/ } @{$d->{findings}}')" deadlock "the guard of a static: check comes to it"
is "$(json 'join " ", map { "$_->{for} $_->{object}" } grep { $_->{"held-by"} } @{$d->{findings}[0]{waits}}')" "lock m lock once1" "the guard of a static: a lock of the thread that makes it"
run timeout 300 "$HEDDLE" check -o s --format json -- ./statics.fixed
is "$(json 'join " ", map { $_->{kind} } grep { $_->{kind} =~ /stuck|deadlock/ } @{$d->{findings}}')" "" "the guard of a static, fixed"
done_testing
