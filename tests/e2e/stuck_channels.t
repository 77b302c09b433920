#!/bin/bash
# Waits for the process's own pipes, sockets and eventfds: for ever, and then the recording ends and
# says where; or until a child, a timer or a handler ends them.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/stuck
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$programs/channels.c" -o channels -pthread || exit 1

for way in read full eventfd socketpair poll select stream epoll loopback; do
	run timeout 300 "$HEDDLE" record -o channel.hdl -- ./channels $way
	is "$status" 134 "$way: the recording ends"
	like "$err" 'T1 waits for channel [^ ]+ \(channels.c:[0-9]+\)' "$way: with who waits, and where"
	run "$HEDDLE" deadlocks channel.hdl --format json
	is "$status $(json 'join ",", map { "$_->{thread} $_->{for}" } @{$d->{findings}[0]{waits}}')" \
		"1 main join,T1 channel" "$way: as a finding"
done
for seed in 1 2 3; do # the writer may come first
	run timeout 300 "$HEDDLE" record --seed $seed -o channel.hdl -- ./channels lock
	like "$status $(tr '\n' ' ' <<<"$err")" '^0 |^134 .*T2 waits for mutex m, held by T1' "a reader that holds the writer's lock, seed $seed"
done
for way in child timer alarm; do
	run timeout 300 "$HEDDLE" record -o channel.hdl -- ./channels $way
	is "$status $out" "0 end" "$way: what may still come is waited for"
done
# Every kind of channel and of wait: with one thread, one that another joins, and one that holds the
# lock which another needs.
"$HEDDLE" cc -g -O1 -w "$programs/own_waits.c" -o own_waits -pthread || exit 1
strategies=(random noise pct rr)
number=0
while read -r kind ways; do
	for how in $ways; do
		number=$((number + 1))
		for where in alone joined held; do
			run timeout 300 "$HEDDLE" record -q --seed $number --strategy ${strategies[number % 4]} -o own.hdl -- ./own_waits "$kind" "$how" $where
			grep -q "waits for channel pipe:[0-9]* (own_waits.c:[0-9]*)" <<<"$err" || status="$status, and no wait for a channel"
			is "$status" 134 "$kind, $how, $where: a deadlock with its name"
		done
	done
done <<'END'
pipe preadv2 in-ppollmask in-pselect in-pselectmask in-epoll in-epollmask in-epollnested in-epollof fills writev splicein spliceout vmsplice out-epoll
eventfd readv in-epollpwait2 out-poll write
stream waitall bigfirst sendmsg out-pselectmask sendfile recvmmsg
dgram recvmsg sendmmsg in-epoll
seqpacket read sendbig
unix recvfrom in-ppoll sendbig connect
tcp recv in-epoll writev
END
# The same as a finding; and a socket of the network that others may reach is waited for.
run timeout 300 "$HEDDLE" record -q -o own.hdl -- ./own_waits tcp in-epoll held
run "$HEDDLE" deadlocks own.hdl --format json
is "$status $(json 'join ",", sort map { "$_->{thread} $_->{for}" } @{$d->{findings}[0]{waits}}')" \
	"1 T1 channel,T2 lock,main join" "an epoll instance of a connection, as a finding"
run timeout 5 "$HEDDLE" record -q -o own.hdl -- ./own_waits tcp accept joined
is "$status" 124 "an accept waits for other processes"
"$HEDDLE" cc -g -O1 "$programs/other_writers.c" -o other_writers -pthread || exit 1
for way in spawn system popen vfork timer; do
	run timeout 300 "$HEDDLE" record -q -o own.hdl -- ./other_writers $way
	is "$status $out" "0 1x" "$way: another writer is waited for"
done
done_testing
