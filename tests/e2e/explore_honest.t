#!/bin/bash
# heddle explore says what it has not looked at, and judges every run whatever its class.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/honest
cd "$scratch" || exit 1

build() { # NAME [FLAGS]
	local source="$programs/$1.c" compiler=cc
	[ -e "$source" ] || source="$programs/$1.cc" compiler=c++
	run "$HEDDLE" "$compiler" -g -O1 "$source" -o "$1" -pthread "${@:2}"
}
explore() { # NAME [OPTIONS]
	run timeout 120 "$HEDDLE" explore --budget 100 --format json "${@:2}" -- "./$1"
}
errors() { json 'join " ", sort map { $_->{kind} . "@" . join("+", @{$_->{locations}}) } @{$d->{errors}}'; }
complete() { json '$d->{complete} ? "complete" : "open"'; }
said() { json 'join " | ", @{$d->{gaps}}, @{$d->{notes}}'; }

# uses after free, whatever the order of the run and whatever its class
for at in uaf_missed:6 uaf_found:6 uaf_read:6 exp_uaf:11 uaf_atomic:6 uaf1:3 destroyed_missed:5 known_class:5; do
	name=${at%:*}
	build $name
	explore $name
	is "$status $(errors) $(complete)" "1 use-after-free@$name.c:${at#*:} complete" "$name: the use is found"
	explore $name --seed 2
	is "$(errors)" "use-after-free@$name.c:${at#*:}" "$name: from another first run"
done
run "$HEDDLE" explore -- ./uaf_missed
like "$out" "complete, as far as uses after free leave a promise" "text: what the promise leaves out"
build use_after_free
explore use_after_free
is "$(errors)" "use-after-free@use_after_free.c:22 use-after-free@use_after_free.c:23" "each place is an error of its own"
build svc
explore svc
is "$(errors)" "$(echo use-after-free@svc.c:3{2,3,4,5})" "a lock that was destroyed and freed"
unlike "$(said)" "outside" "nothing comes from outside"
for k in 1 2 3; do
	build freed_lock -DK=$k
	explore freed_lock
	like "$(errors)" "use-after-free@freed_lock.c:(18|21|23)" "a lock, condition, semaphore in a freed block: $k"
done
build joined_stack
explore joined_stack
is "$(errors)" "use-after-free@joined_stack.c:16" "the stack of a thread that was joined"
build alive_after
explore alive_after
is "$(errors)" "signal@alive_after.c:10 use-after-free@alive_after.c:11" "the other order of a run with a use after free is run"

done_testing
