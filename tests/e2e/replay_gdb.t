#!/bin/bash
# replay --gdb-server: Debian's gdb goes through runs forward and backward; docs/gdb.md, literally; a
# client that means harm; what cannot be served.
. tests/e2e/lib.sh
export TMPDIR=$scratch
cd "$scratch" || exit 1
run $HEDDLE replay --gdb-server example.org:1 --trace x.hdl -- ./x
is "$status" 2 "an address of another machine is refused"
like "$err" "example.org:1. is no address on this machine; give a port" "with the reason"
has gdb "gdb goes back" && has gdbserver "gdb goes back" || { done_testing; exit; }

server= port=
# serve HDL-OR-WIT PROGRAM [ARGS]: starts a server, $server and $port
serve() {
	local how=--trace given=$1
	[ "${given%.wit}" = "$given" ] || how=--witness
	shift
	: >server.err
	timeout 300 $HEDDLE replay $how "$given" --gdb-server 0 -- "$@" >server.out 2>server.err </dev/null &
	server=$!
	port=
	await listens_or_ended
}
listens_or_ended() {
	port=$(sed -n 's/.*target remote localhost://p' server.err)
	[ -n "$port" ] || ! kill -0 $server 2>/dev/null
}
# debug PROGRAM GDB-OPTIONS...: one session; $out, $status of the server
debug() {
	local program=$1
	shift
	env -u LD_PRELOAD timeout 300 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set sysroot /' \
		-iex 'set pagination off' -ex "target remote localhost:$port" "$@" "$program" >gdb.out 2>&1 </dev/null
	wait $server
	status=$?
	out=$(cat gdb.out)
}
# sample NAME: builds and records it, and makes the witness of its first race, if it has one
sample() {
	local source=$root/samples/$1/${1//-/_}.c pair
	$HEDDLE cc -g -O0 "$source" -o "$1" -pthread 2>/dev/null
	$HEDDLE record -q --seed 1 -o "$1.hdl" -- "./$1" >/dev/null 2>&1 </dev/null
	run $HEDDLE races "$1.hdl" --format json
	pair=$(json '$d->{findings}[0] ? "$d->{findings}[0]{first} $d->{findings}[0]{second}" : ""')
	[ -z "$pair" ] || $HEDDLE witness "$1.hdl" $pair -o "$1.wit" >/dev/null 2>&1
}

sample bank
serve bank.wit ./bank
debug ./bank -ex 'print 6*7'
if grep -q "cannot attach" server.err; then
	skip "gdb goes back" "this machine does not let gdbserver attach"
	done_testing
	exit
fi
is "$status" 0 "a session that does nothing"

# Ten samples: the writes that a watchpoint sees forward are those that it sees backward.
cat >mirror.pl <<'E2'
my ($forward, $backward) = split /^BACK$/m, join '', <>;
sub changes { my @c; push @c, [$1, $2] while $_[0] =~ /Old value = (.*)\nNew value = (.*)\n/g; @c }
my @f = map { "@$_" } changes($forward);
my @b = reverse map { "$_->[1] $_->[0]" } changes($backward);
print @f ? "@f" eq "@b" ? "same" : "forward @f, backward @b" : "nothing";
E2
while read -r name variable; do
	sample "$name"
	serve "$name.wit" "./$name"
	steps=() backs=()
	for _ in 1 2 3 4 5 6 7 8; do steps+=(-ex continue) backs+=(-ex reverse-continue); done
	debug "./$name" -ex "watch $variable" "${steps[@]}" -ex 'echo BACK\n' "${backs[@]}"
	is "$(perl mirror.pl gdb.out) $status" "same 0" "$name: $variable, forward and backward"
done <<'E2'
account acct.balance
bank acct.balance
counter counter.fast
figure1a x
figure1b x
publish message
turnstile visitors
two-locks served
double-checked config.ready
lost-wakeup ready
E2

# Instructions: what nexti passes is what reverse-stepi passes, with the same stack and values.
cat >instructions.pl <<'E2'
my ($forward, $backward) = split /^BACK$/m, join '', <>;
my @f = reverse $forward =~ /^AT (.*)/mg;
for my $at ($backward =~ /^AT (.*)/mg) { shift @f if @f && $f[0] eq $at }
print @f ? "not seen again: @f" : "same";
E2
show='printf "AT %p %p %p %d\n", $pc, $sp, $rbp, acct.balance'
steps=() backs=()
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do steps+=(-ex nexti -ex "$show") backs+=(-ex reverse-stepi -ex "$show"); done
serve bank.hdl ./bank
debug ./bank -ex 'break deposit' -ex continue -ex delete -ex "$show" "${steps[@]}" -ex 'echo BACK\n' -ex "$show" \
	"${backs[@]}" "${backs[@]}"
is "$(perl instructions.pl gdb.out) $status" "same 0" "instruction by instruction"

# Lines and calls, of a recording without a witness
serve bank.hdl ./bank
debug ./bank -ex 'break bank.c:24' -ex continue -ex reverse-next -ex reverse-next -ex reverse-next -ex 'print acct.balance' \
	-ex delete -ex reverse-finish -ex 'reverse-step' -ex next -ex 'print n' -ex continue -ex 'reverse-continue'
like "$out" '^22		audit = 1;' "reverse-next"
like "$out" '^\$1 = 100' "what it sees there"
like "$out" 'in worker .*bank.c:38' "reverse-finish"
like "$out" 'beginning of the run' "back to the beginning"
is "$(cat server.out)" "balance 150" "the program's output, once"

# docs/gdb.md
mkdir page && cd page || exit 1
ln -s "$root/samples" samples
PATH=$(dirname "$(realpath "$HEDDLE")"):$PATH
sed -n 's/^    \(\(cp\|heddle\) .*\)/\1/p' "$root/docs/gdb.md" | grep -v -e '--gdb-server' -e '--dap' >commands
run bash commands
like "$out" 'write acct.balance: 150 .*' "docs/gdb.md: its commands work"
serve bank.wit ./bank
sed -n 's/^    (gdb) \(.*\)/\1/p' "$root/docs/gdb.md" | grep -v '^target remote' | grep -v '^detach' >script
words=()
while read -r line; do words+=(-ex "$line"); done <script
debug ./bank "${words[@]}"
cat >page.pl <<'E2'
my ($page, $got) = map { open my $f, '<', $_ or die; local $/; <$f> } @ARGV;
my ($session) = $page =~ /^## A session\n(.*?)^## /ms;
my $at = 0;
for my $line ($session =~ /^    (?!\(gdb\)|cp |heddle (?:cc|record|races|witness|replay))(.*)/mg) {
	my $found = index $got, $line, $at;
	if ($found < 0) { print "not in gdb's output: $line"; exit }
	$at = $found;
}
print "same";
E2
sed 's/Thread [0-9]* (T/Thread N (T/' "$root/docs/gdb.md" | sed 's/^\(    [ *]*\)[0-9]*  *Thread/\1/; s/^    [ *]*Thread/    Thread/; s/^    *N (T/    N (T/; s/^    *1 (main)/    1 (main)/; s/^    \* *N/    N/' >page.md
sed 's/Thread [0-9]* (T/Thread N (T/' gdb.out >page.out
is "$(perl page.pl page.md page.out)" same "docs/gdb.md: gdb says what the page says"
is "$(tr '\n' ' ' <server.out)" "balance 150 balance 100 " "docs/gdb.md: both orders are printed"
cd ..

# A deadlock stands there with all its threads, and an abort as in any debugger.
cat >dead.c <<'E2'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int x;
static void *other(void *unused)
{
	pthread_mutex_lock(&b);
	x++;
	pthread_mutex_lock(&a);
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_lock(&b);
	return 0;
}
E2
$HEDDLE cc -g dead.c -o dead -pthread
$HEDDLE record -q --seed 1 -o dead.hdl -- ./dead 2>/dev/null
run $HEDDLE deadlocks dead.hdl --format json
$HEDDLE witness dead.hdl $(json '$d->{findings}[0] ? "$d->{findings}[0]{first} $d->{findings}[0]{second}" : "0 0"') -o dead.wit >/dev/null 2>&1
[ -s dead.wit ] || cp dead.hdl dead.wit
serve "$(head -c 2 dead.wit | grep -q '#!' && echo dead.wit || echo dead.hdl)" ./dead
debug ./dead -ex continue -ex continue -ex 'thread apply all bt' -ex 'watch x' -ex reverse-continue
like "$out" 'in other .*dead.c:8' "a deadlock: one thread at its request"
like "$out" 'in main .*dead.c:17' "and the other at its own"
like "$out" 'New value = 1' "and back to the last write"

# The machine interface, by which editors drive gdb
serve bank.wit ./bank
{
	printf '%s\n' "-target-select remote localhost:$port" '-break-insert report' '-exec-continue'
	await grep -qs 'breakpoint-hit' mi.out
	echo '-exec-next'
	await grep -qs 'end-stepping.*line="30"' mi.out
	echo '-exec-next --reverse'
	await grep -qs 'end-stepping.*line="29"' mi.out
	echo '-gdb-exit'
} | env -u LD_PRELOAD timeout 300 gdb -nx -q -i=mi2 -iex 'set debuginfod enabled off' -iex 'set sysroot /' ./bank >mi.out 2>&1
wait $server
like "$(cat mi.out)" 'reason="end-stepping-range".*line="29"' "gdb's machine interface steps back"

# gdb starts the server itself
env -u LD_PRELOAD timeout 300 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set sysroot /' \
	-ex "target remote | $HEDDLE replay --witness bank.wit --gdb-server - -- ./bank" -ex 'watch acct.balance' \
	-ex continue -ex continue -ex reverse-step ./bank >gdb.out 2>&1
like "$(cat gdb.out)" '^23		acct.balance \+= n;' "over standard input and output"

# Harm
cat >harm.pl <<'E2'
use IO::Socket::INET;
my ($port, $seed) = @ARGV;
srand $seed;
my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or die;
binmode $s;
$SIG{PIPE} = 'IGNORE';
$SIG{ALRM} = sub { print "no answer"; exit };
alarm 100;
sub packet { my $sum = 0; $sum += ord for split //, $_[0]; sprintf '$%s#%02x', $_[0], $sum & 255 }
my @known = ('m', 'mffffffffffffffff,ffffffff', 'm0,ffffff', 'M0,10:zz', 'X0,ffffffff:abc', 'Hg99999999999', 'H', 'vCont;',
	'vCont;x:1', 'vCont;s:9999', 'vCont;c:' . '1' x 5000, 'vCont;r', 'Z0,zz', 'Z9,1,1', 'Z0,0,1', 'Z0,0,1;Xffff,00',
	'Z2,1,99999999', 'qRcmd,zzz', 'qRcmd,' . '41' x 4000, 'qSymbol:', 'qXfer:features:read:target.xml:ffffffff,ffffffff',
	'vFile:open:zz', 'vFile:open:2f746d702f78,241,1ff', 'vFile:pread:ffffffff,ffffffff,0', 'qThreadExtraInfo,', 'T', 'G00',
	'P', 'p', 'pffffffff', 'qGetTLSAddr:1,2', 'QPassSignals:zzz', 'vRun;6161', 'vAttach;1', '!', 'R00',
	'qSupported' . ';a' x 3000, "\0\0", 'S', 'bs', 'bc', 'bx', 'P' . '0' x 100000);
print $s pack 'C*', map { my $c = int rand 256; $c == 35 ? 36 : $c } 1 .. rand 300 for 1 .. 50;
print $s '$' x 1000, 'qqqq' x 400000, '#00';
print $s packet($known[rand @known]) for 1 .. 60;
for (1 .. 60) { # one that is known, with a few other bytes
	my $p = packet($known[rand @known]);
	substr($p, rand length $p, 1) = chr 32 + rand 90 for 1 .. 2;
	$p =~ s/^\$[Dk]|^\$vKill|#(?!..$)/x/;
	print $s $p;
}
print $s '$m0,#00', packet('QStartNoAckMode'), packet('qC');
my ($all, $bytes) = '';
$all .= $bytes while $all !~ /\$QC[0-9a-f]+#..$/ && sysread $s, $bytes, 65536;
print $all =~ /QC/ ? "answered" : "gone";
E2
for seed in 1 2 3; do
	serve bank.wit ./bank
	is "$(timeout 300 perl harm.pl $port $seed)" answered "hostile packets, $seed: the next question is answered"
	wait $server
	is $? 0 "and the session ends well"
done

# A client that leaves while the program runs for ever
cat >forever.c <<'E2'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
volatile int stop;
static void *turn(void *unused)
{
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, turn, 0);
	pthread_join(t, 0);
	close(creat("ready", 0600));
	for (unsigned long i = 1; i > 0 && !stop; i++)
		;
	return 0;
}
E2
$HEDDLE cc -g forever.c -o forever -pthread
$HEDDLE record -q -o forever.hdl -- ./forever 2>/dev/null &
await [ -e ready ]
kill $! && wait $!
serve forever.hdl ./forever
perl -e 'use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or die;
	alarm 100; my ($all, $bytes) = "";
	print $s "\$QStartNoAckMode#b0\$vCont;c#a8"; $s->flush; sleep 1; print $s "\003"; $s->flush;
	$all .= $bytes while $all !~ /T02/ && sysread $s, $bytes, 1000;
	print $all =~ /T02/ ? "stopped" : "gone";
	$all = ""; print $s "\$vCont;c#a8\003"; $s->flush; $all .= $bytes while $all !~ /T02/ && sysread $s, $bytes, 1000;
	print $all =~ /T02/ ? " stopped" : " gone"; print $s "\$vCont;c#a8"; $s->flush; sleep 1' "$port" >stopped
is "$(cat stopped)" "stopped stopped" "Ctrl-C stops a program that runs for ever, also with the packet that lets it run"
wait $server
is $? 0 "a client that leaves while the program runs ends the session"
is "$(running forever)" "" "and the program"

# What cannot be served
serve bank.wit ./bank
run $HEDDLE replay --witness bank.wit --gdb-server "$port" -- ./bank
is "$status" 2 "a port in use"
like "$err" "cannot listen there: Address already in use; give another port" "says what to do"
kill $server
wait $server 2>/dev/null
mkdir empty
run env PATH="$PWD/empty" "$(realpath "$HEDDLE")" replay --witness bank.wit --gdb-server 0 -- ./bank
is "$status" 2 "no gdbserver"
like "$err" "gdbserver: is not installed.*; apt install gdbserver" "says what to do"
done_testing
