#!/bin/bash
# Sockets of a program to itself order as pipes do: what is received was sent, who is accepted has
# connected.  The true race of each program stays, and its witness happens.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch
cd "$scratch" || exit 1
# races TRACE: sets $found, the variables of its races and whether these are all; $out is the report
races() {
	run $HEDDLE races "$1" --format json
	found=$(json 'join(" ", sort map { $_->{variable} } @{$d->{findings}}) . ($d->{complete} ? " complete" : "")')
}

for p in unixsock loopback loopback2; do
	$HEDDLE cc -g -O1 "$programs/$p.c" -o $p -pthread 2>/dev/null
	for seed in 1 2 3; do
		run timeout 300 $HEDDLE record -q --seed $seed -o $p.hdl -- ./$p
		is "$status $out" "0 OK" "$p, seed $seed"
		races $p.hdl
		is "$found" " complete" "a message keeps the two writes apart"
		run timeout 300 $HEDDLE record -q --seed $seed -o again.hdl -- ./$p
		# a port is the kernel's choice, so values may differ; which events there are may not
		for t in $p again; do
			$HEDDLE convert $t.hdl --to text $t.all
			grep -v '^#' $t.all | sed 's/=[^|]*//' >$t.txt
		done
		ok $([ -s $p.txt ] && cmp -s $p.txt again.txt; echo $?) "one seed, the same events"
	done
done
$HEDDLE record -q -o again.hdl -- ./unixsock >/dev/null </dev/null
$HEDDLE record -q -o unixsock.hdl -- ./unixsock >/dev/null </dev/null
ok $(cmp -s unixsock.hdl again.hdl; echo $?) "and the same bytes, where no number is the kernel's"

$HEDDLE cc -g -O1 "$programs/own_sockets.c" -o own -pthread
# way NAME: each way that own_sockets.c knows; in `front` what runs before the command
front=()
way() {
	for seed in 1 2; do
		run timeout 300 "${front[@]}" $HEDDLE record -q --seed $seed -o own.hdl -- ./own $1
		like "$status $out" "^0 4[23]$" "$2, seed $seed"
		races own.hdl
		is "$found" "early complete" "one race, which is true"
		read -r e f <<<"$(json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0]')"
		$HEDDLE witness own.hdl $e $f -o own.wit >/dev/null
		run timeout 300 "${front[@]}" $HEDDLE replay --witness own.wit -- ./own $1
		unlike "$err" "left the witness" "its witness happens, both ways"
		is "$(printf '%s\n' "$out" | grep -c '^4[23]$')" 2 "and the message arrives after it was sent"
		last=$(($($HEDDLE info -q own.hdl | awk '$1 == "events" { print $2 }') - 1))
		run timeout 300 "${front[@]}" $HEDDLE replay --trace own.hdl --until $last -- ./own $1
		is "$status" 0 "the recorded order, to its last event"
	done
}
way a "accept comes after connect"
way s "send and read"
way e "not blocking, with epoll"
way v "writev by a copy of the descriptor"
way c "the end of what was sent"
way h "shutdown"
way m "sendmsg over a UNIX socket"
way u "a datagram"
way p "the end of a pipe"
way r "a descriptor that was passed in a message"

# A pair of sockets that was there before; which are a pair the kernel tells by sock_diag.
cat >pair.pl <<'P'
use Socket; use POSIX; $^F = 20;
socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0);
POSIX::dup2(fileno($a), 8); POSIX::dup2(fileno($b), 9);
exec @ARGV;
P
cat >diag.pl <<'P'
use Socket;
socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0);
socket(my $n, 16, SOCK_RAW, 4) or exit 1;
my $body = pack "CCSLLLLL", 1, 0, 0, 0xffffffff, (stat $a)[1], 4, 0xffffffff, 0xffffffff;
send($n, pack("LSSLL", 16 + length $body, 20, 1, 0, 0) . $body, 0) or exit 1;
recv $n, my $got, 4096, 0;
exit(unpack("x4 S", $got) != 20);
P
if perl diag.pl; then
	front=(perl pair.pl)
	way i "a pair of sockets that was there before"
else
	count=$((count + 1))
	echo "ok $count # SKIP the kernel tells nothing of UNIX sockets (sock_diag)"
fi

# A client from outside beside one of the process itself: each is what it is.
cat >both.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static struct sockaddr_un a = { AF_UNIX, "both.socket" };
static int data;
static void *client(void *p)
{
	int c = socket(AF_UNIX, SOCK_STREAM, 0);
	data = 1;
	if (connect(c, (void *)&a, sizeof(a)) || send(c, "i", 1, 0) != 1)
		return p;
	close(c);
	return NULL;
}
int main(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM, 0), from[2] = { 0 };
	pthread_t t;
	char b;
	unlink(a.sun_path);
	bind(s, (void *)&a, sizeof(a));
	listen(s, 4);
	pthread_create(&t, NULL, client, NULL);
	for (int i = 0; i < 2; i++) {
		int c = accept(s, NULL, NULL);
		if (recv(c, &b, 1, 0) == 1)
			from[b == 'o']++;
		if (b == 'i')
			data = 2;
		close(c);
	}
	pthread_join(t, NULL);
	printf("%d %d\n", from[0], from[1]);
	return 0;
}
C
cat >visit.pl <<'P'
use IO::Socket::UNIX;
my $s;
until ($s = IO::Socket::UNIX->new(Peer => "both.socket")) {
	exit 1 if $tries++ > 2000;
	select undef, undef, undef, 0.02;
}
syswrite $s, "o";
sysread $s, my $end, 1;
P
$HEDDLE cc -g -O1 both.c -o both -pthread
perl visit.pl &
run timeout 300 $HEDDLE record -q -o both.hdl -- ./both
wait
is "$status $out" "0 1 1" "a client of its own, and one from outside"
races both.hdl
is "$found" " complete" "its own client's message orders"
last=$(($($HEDDLE info -q both.hdl | awk '$1 == "events" { print $2 }') - 1))
run timeout 300 $HEDDLE replay --trace both.hdl --until $last -- ./both
is "$status $out" "0 1 1" "on replay the outer one is given, the own one real"

# An exploration sees the same order: a send is before its receive, in each of its runs.
for p in unixsock loopback loopback2 pipe_order; do
	[ -e $p ] || $HEDDLE cc -g -O1 -w "$root/tests/e2e/programs/$p.c" -o $p -pthread
	run timeout 300 $HEDDLE explore --format json -- ./$p
	is "$(json 'join ",", map { $_->{variable} } @{$d->{races}}')" "" "explored, $p: no race"
	run timeout 300 $HEDDLE check --format json -- ./$p
	is "$(json 'scalar @{$d->{findings}}')" 0 "checked, $p: no finding"
	unlike "$out" "only the exploration saw" "and none was dropped"
done
$HEDDLE cc -g -O1 -w -DRACY "$root/tests/e2e/programs/pipe_order.c" -o pipe_racy -pthread
run timeout 300 $HEDDLE explore --format json -- ./pipe_racy
is "$(json 'join ",", map { $_->{variable} } @{$d->{races}}')" "late" "explored: what comes after the send races"
done_testing
