#!/bin/bash
# Waits for the process's own pipes, sockets and eventfds: for ever, and then the recording ends and
# says where; or until a child, a timer or a handler ends them.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/stuck
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$programs/channels.c" -o channels -pthread || exit 1

for way in read full eventfd socketpair poll select stream; do
	run timeout 60 "$HEDDLE" record -o channel.hdl -- ./channels $way
	is "$status" 134 "$way: the recording ends"
	like "$err" 'T1 waits for channel [^ ]+ \(channels.c:[0-9]+\)' "$way: with who waits, and where"
	run "$HEDDLE" deadlocks channel.hdl --format json
	is "$status $(json 'join ",", map { "$_->{thread} $_->{for}" } @{$d->{findings}[0]{waits}}')" \
		"1 main join,T1 channel" "$way: as a finding"
done
for seed in 1 2 3; do # the writer may come first
	run timeout 60 "$HEDDLE" record --seed $seed -o channel.hdl -- ./channels lock
	like "$status $(tr '\n' ' ' <<<"$err")" '^0 |^134 .*T2 waits for mutex m, held by T1' "a reader that holds the writer's lock, seed $seed"
done
for way in child timer alarm; do
	run timeout 60 "$HEDDLE" record -o channel.hdl -- ./channels $way
	is "$status $out" "0 end" "$way: what may still come is waited for"
done
done_testing
