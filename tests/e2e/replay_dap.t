#!/bin/bash
# replay --dap: an editor goes through runs forward and backward by the Debug Adapter Protocol; what an editor
# may get wrong; an editor that means harm; what cannot be served.
. tests/e2e/lib.sh
export TMPDIR=$scratch
cd "$scratch" || exit 1
run $HEDDLE replay --dap example.org:1
is "$status" 2 "an address of another machine is refused"
like "$err" "example.org:1. is no address on this machine; give a port" "with the reason"

# A small client.  ask COMMAND ARGUMENTS: the answer; await EVENT: the next of that name, from the first not yet seen.
cat >Dap.pm <<'E2'
package Dap;
use strict;
use JSON::PP;
use IPC::Open2;
use Exporter 'import';
our @EXPORT = qw(start ask await done stopped variable frame $out $in $pid @seen $said);
our ($out, $in, $pid, @seen);
our $said = ''; # the program's output
my ($json, $seq) = (JSON::PP->new->utf8->canonical, 0);
$SIG{ALRM} = sub { print "no answer"; exit 1 };
$SIG{PIPE} = 'IGNORE';
alarm ($ENV{DAP_ALARM} || 250);
sub start { $pid = open2($in, $out, $ENV{HEDDLE_PATH}, 'replay', '--dap', '-', @_) }
sub receive {
	my ($header, $body) = ('', '');
	while ($header !~ /\r\n\r\n$/) { sysread $in, $header, 1, length $header or return }
	my ($length) = $header =~ /^Content-Length: (\d+)\r\n/ or die "header $header";
	while (length $body < $length) { sysread $in, $body, $length - length $body, length $body or return }
	my $m = $json->decode($body);
	if ($m->{type} eq 'event') {
		push @seen, $m;
		$said .= $m->{body}{output} if $m->{event} eq 'output' && $m->{body}{category} eq 'stdout';
	}
	return $m;
}
sub ask {
	my ($command, $arguments) = @_;
	my $m = $json->encode({ seq => ++$seq, type => 'request', command => $command, arguments => $arguments // {} });
	syswrite $out, 'Content-Length: ' . length($m) . "\r\n\r\n$m";
	while (my $a = receive()) {
		next if $a->{type} ne 'response';
		die "answer to $a->{request_seq} $a->{command}" if $a->{request_seq} != $seq || $a->{command} ne $command;
		return $a;
	}
	print 'the adapter has left';
	exit 1;
}
sub await {
	my $event = shift;
	while (1) {
		while (my $m = shift @seen) { return $m->{body} if $m->{event} eq $event }
		receive() or do { print "the adapter left before '$event'"; exit 1 };
	}
}
sub stopped { ask(@_)->{success} or return { reason => 'refused' }; await('stopped') }
sub frame { ask('stackTrace', { threadId => shift })->{body}{stackFrames}[shift // 0] }
# A variable by its path: variable(FRAME, SCOPE, 'acct', 'balance')
sub variable {
	my ($id, $scope, @path) = @_;
	my $at = ask('scopes', { frameId => $id })->{body}{scopes}[$scope];
	for my $name (@path) {
		($at) = grep { $_->{name} eq $name }
			@{ask('variables', { variablesReference => $at->{variablesReference} })->{body}{variables}};
		return { value => "no $name" } unless $at;
	}
	return $at;
}
sub done {
	ask('disconnect') if $out;
	close $out;
	1 while receive();
	waitpid $pid, 0;
	return $? >> 8;
}
1;
E2
HEDDLE_PATH=$(realpath "$(command -v "$HEDDLE")")
export HEDDLE_PATH PERL5LIB=$PWD

# Requests that need no program, from one message to the next
cat >early.pl <<'E2'
use Dap;
start();
print ask('initialize', { adapterID => 'heddle', linesStartAt1 => JSON::PP::true })->{body}{supportsStepBack} ? 'able' : 'unable';
for (['threads'], ['setBreakpoints', { source => { path => 'x.c' } }], ['nonsense'], ['launch'],
	['launch', { program => './nothing', args => 'x' }], ['launch', { program => 5 }], ['launch', { program => './x', cwd => '/nothing' }],
	['launch', { program => './nothing', trace => 'nothing.hdl' }], ['initialize', { pathFormat => 'uri' }]) {
	my $a = ask(@$_);
	print "\n$_->[0]: ", $a->{success} ? 'good' : $a->{message};
}
print "\nstatus ", done();
E2
run perl early.pl
is "$(printf '%s' "$out" | sed -n 1p)" able "what the adapter is able to do"
like "$out" "^threads: the program is not there: send 'launch' first" "a request before 'launch'"
like "$out" "^nonsense: heddle does not serve 'nonsense'" "an unknown request"
like "$out" "^launch: no program: 'launch' has to name it" "no program"
like "$out" "^launch: 'args' has to be an array of texts" "arguments that are none"
like "$out" "^launch: /nothing: is no folder" "a folder that is not there"
like "$out" "^launch: (heddle: .*nothing.hdl: |gdb: is not installed)" "a trace that is not there"
like "$out" "^initialize: pathFormat 'uri' is not known" "URIs for paths"
like "$out" "^status 0" "and it leaves when it is told to"

# No such bytes are the protocol's.
hostile() {
	printf "$1" | timeout 300 $HEDDLE replay --dap - >hostile.out 2>hostile.err
	is "$? $(wc -l <hostile.err)" "2 1" "$2: one error"
	like "$(cat hostile.err)" "^heddle: --dap: $3" "$2: the reason"
}
hostile 'GET / HTTP/1.1\r\n\r\n' "no header" "a header .* has no Content-Length"
hostile 'Content-Length: -5\r\n\r\n{}' "a length below zero" "a header .* has no Content-Length that is a number"
hostile 'Content-Length: 99999999999999999999999\r\n\r\n{}' "a length above all" "a message is longer than 4 MiB"
hostile 'Content-Length: 2\000\r\n\r\n{}' "a zero byte" "a header"
hostile 'Content-Length: 5\r\n\r\n{{{{{' "no JSON" "a message is no JSON object"
hostile 'Content-Length: 2\r\n\r\n[]' "an array" "a message is no JSON object"
hostile 'Content-Length: 50\r\n\r\n{' "a message that breaks off" "the input ends within a message"
hostile "$(printf 'x%.0s' $(seq 5000))" "a header without an end" "a header .* does not end"
perl -e 'my $t = "[" x 1000000; print "Content-Length: 1000000\r\n\r\n$t"' >deep
timeout 300 $HEDDLE replay --dap - <deep >hostile.out 2>hostile.err
is $? 2 "brackets in brackets"
for seed in 1 2 3; do
	perl -e 'srand shift; print map { chr int rand 256 } 1 .. 20000' $seed | timeout 300 $HEDDLE replay --dap - >hostile.out 2>hostile.err
	is "$? $(wc -l <hostile.err)" "2 1" "noise, $seed: one error"
done
run timeout 300 $HEDDLE replay --dap -
is "$status $err" "0 " "an editor that leaves at once"

has gdb "an editor goes back" && has gdbserver "an editor goes back" || { done_testing; exit; }
mkdir empty only
run env PATH="$PWD/empty" "$(command -v perl)" -e 'use Dap; start(); print ask("launch", { program => "./bank", witness => "x.wit" })->{message}; done()'
is "$out" "gdb: is not installed; apt install gdb" "no gdb"

# sample NAME: builds and records it, and makes the witness of its first race
sample() {
	local source=$root/samples/$1/${1//-/_}.c
	cp "$source" .
	$HEDDLE cc -g -O0 "${1//-/_}.c" -o "$1" -pthread 2>/dev/null
	$HEDDLE record -q --seed 1 -o "$1.hdl" -- "./$1" >/dev/null 2>&1 </dev/null
	run $HEDDLE races "$1.hdl" --format json
	$HEDDLE witness "$1.hdl" $(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"') -o "$1.wit" >/dev/null 2>&1
}
sample bank
ln -s "$(command -v gdb)" only/gdb
run env PATH="$PWD/only" "$(command -v perl)" -e 'use Dap; start(); print ask("launch", { program => "./bank", witness => "bank.wit" })->{message}; done()'
like "$out" "gdbserver: is not installed.*; apt install gdbserver" "no gdbserver"
run perl -e 'use Dap; start("--witness", "bank.wit", "--", "./bank"); my $a = ask("launch"); print $a->{success} ? "good" : $a->{message}; print " ", done()'
case $out in
*"cannot attach"*)
	skip "an editor goes back" "this machine does not let gdbserver attach"
	done_testing
	exit
	;;
esac
is "$out" "good 0" "trace and program of the command line"

# Three samples: the writes that a data breakpoint sees forward are those that it sees backward.
cat >mirror.pl <<'E2'
use Dap;
my ($name, $variable) = @ARGV;
start();
ask('initialize');
ask('launch', { witness => "$name.wit", program => "./$name" })->{success} or die;
await('initialized');
my $info = ask('dataBreakpointInfo', { name => $variable })->{body};
my $set = ask('setDataBreakpoints', { breakpoints => [{ dataId => $info->{dataId}, accessType => 'write' }] })->{body}{breakpoints}[0];
print "not set: $set->{message} " unless $set->{verified};
ask('configurationDone');
my (@forward, @backward, $stop);
sub changes {
	my ($request, $to) = @_;
	for (1 .. 40) {
		return if ($stop->{description} // '') =~ /(beginning|end) of the run/;
		push @$to, [$1, $2] if ($stop->{description} // '') =~ /^\Q$variable\E: (.*), then (.*)/;
		$stop = stopped($request, { threadId => 1 });
	}
}
$stop = await('stopped');
changes('continue', \@forward);
$stop = stopped('reverseContinue', { threadId => 1 });
changes('reverseContinue', \@backward);
my $f = join ' ', map { "$_->[0]-$_->[1]" } @forward;
my $b = join ' ', map { "$_->[1]-$_->[0]" } reverse @backward;
print !@forward ? 'nothing' : $f eq $b ? 'same' : "forward $f, backward $b", ' ', done();
E2
for name in "bank acct.balance" "account acct.balance" "publish message"; do
	[ "$name" = "bank acct.balance" ] || sample "${name%% *}"
	run perl mirror.pl $name
	is "$out" "same 0" "$name: forward and backward"
done

# The witness of a race, as an editor walks through it
cat >walk.pl <<'E2'
use Dap;
my $path = "$ENV{PWD}/bank.c";
start();
ask('initialize', { linesStartAt1 => JSON::PP::true });
ask('launch', { witness => 'bank.wit', program => './bank', stopOnEntry => JSON::PP::true });
my $why = await('output');
$why = await('output') until $why->{output} =~ /witness of a finding/;
print "why: ", $why->{output} =~ /between T1 write acct.balance: 150 at bank.c:23/ ? 'told' : $why->{output}, "\n";
my $set = ask('setBreakpoints', { source => { path => $path }, breakpoints => [{ line => 23 },
	{ line => 22, condition => 'n == 51' }, { line => 9999 }, { line => 23, condition => 'nonsense > 0' },
	{ line => 'x' }, { line => 23, hitCondition => 'often' }] })->{body}{breakpoints};
print "points: ", join(' ', map { $_->{verified} ? 'set' : $_->{message} ? 'refused' : 'silent' } @$set), "\n";
ask('setFunctionBreakpoints', { breakpoints => [{ name => 'report' }] });
ask('configurationDone');
my $stop = await('stopped');
print "entry: $stop->{reason} $stop->{threadId}\n";
my $at = frame(1);
print "main: $at->{name} $at->{line} $at->{source}{name}\n";
$stop = stopped('continue', { threadId => 1 });
print "function: $stop->{reason} $stop->{threadId} ", frame($stop->{threadId})->{name}, "\n";
ask('setFunctionBreakpoints', { breakpoints => [] });
$stop = stopped('continue', { threadId => 1 });
my $t = $stop->{threadId};
$at = frame($t);
print "line: $stop->{reason} $t $at->{name} $at->{line}\n";
print "threads: ", join(' ', map { $_->{name} } @{ask('threads')->{body}{threads}}), "\n";
print "local: ", variable($at->{id}, 0, 'n')->{value}, "\n";
my $balance = variable($at->{id}, 1, 'acct', 'balance');
print "global: $balance->{evaluateName} $balance->{value} $balance->{type}\n";
print "hover: ", ask('evaluate', { expression => 'acct', frameId => $at->{id}, context => 'hover' })->{body}{result}, "\n";
my $old = $at->{id};
$stop = stopped('next', { threadId => $t });
print "pair: $stop->{description}\n";
print "other: ", frame(3)->{name}, ' ', frame(3)->{line}, "\n";
print "old_frame: ", ask('scopes', { frameId => $old })->{message}, "\n";
$stop = stopped('next', { threadId => $t });
$at = frame($t);
print "next: $stop->{reason} $at->{line} ", variable($at->{id}, 1, 'acct', 'balance')->{value}, "\n";
ask('setBreakpoints', { source => { path => $path }, breakpoints => [] });
$stop = stopped('stepBack', { threadId => $t });
$at = frame($t);
print "back: $stop->{reason} $at->{line} ", variable($at->{id}, 1, 'acct', 'balance')->{value}, "\n";
stopped('stepBack', { threadId => $t }) for 1 .. 2;
print "further: ", frame($t)->{line}, "\n";
$stop = stopped('stepOut', { threadId => $t });
$stop = stopped('stepOut', { threadId => $t }) if ($stop->{description} // '') =~ /pair/;
print "out: ", frame($t)->{name}, "\n";
$at = frame($t);
my $n = ask('evaluate', { expression => 'heddle where', frameId => $at->{id}, context => 'repl' });
print "where: ", $n->{body}{result} =~ /^T1 runs/ ? 'told' : $n->{body}{result}, "\n";
print "command: ", ask('evaluate', { expression => 'print 6*7', context => 'repl' })->{body}{result};
print "expression: ", ask('evaluate', { expression => 'acct.deposits', frameId => $at->{id}, context => 'repl' })->{body}{result}, "\n";
print "no_command: ", ask('evaluate', { expression => 'nothing at all', context => 'repl' })->{message}, "\n";
print "half: ", ask('evaluate', { expression => 'define x', context => 'repl' })->{success} ? '' : 'refused ',
	ask('evaluate', { expression => "python\nprint(40 +\n  2)", context => 'repl' })->{body}{result};
ask('evaluate', { expression => 'reverse-finish', context => 'repl' });
print "by_command: ", await('continued') ? 'continued ' : '', await('stopped')->{reason}, "\n";
ask('evaluate', { expression => 'heddle other-order', context => 'repl' });
for (1 .. 4) {
	$stop = stopped('continue', { threadId => 1 });
	last if $stop->{description} =~ /end of the run/;
}
print "end: $stop->{description}\n";
print "printed: $said";
my $text = ask('source', { source => { path => $path } })->{body}{content};
print "source: ", $text =~ /acct.balance \+= n/ ? 'shown' : 'not shown', ' ',
	ask('source', { source => { path => '/etc/passwd' } })->{success} ? 'shown' : 'refused', "\n";
$stop = stopped('reverseContinue', { threadId => 1 });
print "beginning: $stop->{description} ", frame(1)->{line}, "\n";
ask('terminate');
await('terminated');
print "status ", done(), "\n";
E2
run perl walk.pl
cat >walk.want <<'E2'
why: told
points: set set refused refused refused refused
entry: entry 1
main: main 49 bank.c
function: breakpoint 3 report
line: breakpoint 2 deposit 23
threads: main T1 T2
local: 50
global: acct.balance 100 long
hover: {balance = 100, deposits = 0}
pair: both threads stand before the pair
other: report 33
old_frame: this 'frameId' is of no frame of this stop
next: step 24 150
back: step 23 100
further: 22
out: worker
where: told
command: $1 = 42
expression: 1
no_command: Undefined command: "nothing".  Try "help".
half: 42
by_command: continued step
end: this is the end of the run
printed: balance 100
source: shown refused
beginning: this is the beginning of the run 49
status 0
E2
while read -r line; do
	is "$(grep -E "^${line%%[: ]*}[: ]" <<<"$out")" "$line" "a walk: ${line%%:*}"
done <walk.want

# An editor that means harm, a program with an odd name, wrong types everywhere
odd=$'od"d\n-interpreter-exec console "shell touch owned"\n'
cp bank "$odd"
cat >harm.pl <<'E2'
use Dap;
my $odd = "./od\"d\n-interpreter-exec console \"shell touch owned\"\n";
my $bad = "1\"\n-interpreter-exec console \"shell touch owned\"\nx";
start('--witness', 'bank.wit');
ask('initialize');
ask('launch', { program => $odd })->{success} or do { print "not launched"; exit };
my @values = ('x', 5, -1, 1e30, JSON::PP::true, undef, [], {}, [[]], $bad, "\x{1}\x{7f}", "\x{2028}", 'x' x 100000);
sub any { $values[rand @values] }
srand 7;
ask('setBreakpoints', { source => { path => $bad }, breakpoints => [{ line => 3 }] });
ask('setBreakpoints', { source => { path => "$ENV{PWD}/bank.c" }, breakpoints => [{ line => 23, condition => $bad }, { line => 23, hitCondition => $bad }] });
ask('setFunctionBreakpoints', { breakpoints => [{ name => $bad }, { name => 'report', condition => $bad }] });
ask('configurationDone');
await('stopped');
my $id = frame(1)->{id};
for my $context ('hover', 'watch', 'variables') {
	print "done: $context\n" if ask('evaluate', { expression => 'shell touch owned', frameId => $id, context => $context })->{success};
	ask('evaluate', { expression => $bad, frameId => $id, context => $context });
}
ask('dataBreakpointInfo', { name => $bad, frameId => $id });
ask('setDataBreakpoints', { breakpoints => [{ dataId => $_, accessType => $bad }] }) for '0', '-1', '99999999999999999999', $bad;
for my $command (qw(setBreakpoints setFunctionBreakpoints setExceptionBreakpoints dataBreakpointInfo setDataBreakpoints threads stackTrace
		scopes variables setVariable evaluate source launch configurationDone initialize)) {
	for (1 .. 12) {
		ask($command, { map { $_ => any() } qw(breakpoints threadId frameId variablesReference name value expression context
			startFrame levels start count lines) , source => rand() < .5 ? any() : { path => any() } });
		ask($command, any());
	}
}
my $thread = ask('stackTrace', { threadId => 2 });
print $thread->{success} ? 'answered' : $thread->{message}, ' ', done();
E2
run perl harm.pl
is "$out" "answered 0" "an editor that means harm: the next question is answered"
ok "$(test -e owned; echo $((1 - $?)))" "and nothing was run"

# A program that runs for ever
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
	unsigned long last;
	pthread_create(&t, 0, turn, 0);
	pthread_join(t, 0);
	close(creat("ready", 0600));
	for (unsigned long i = 1; i > 0 && !stop; i++)
		last = i;
	return (int)last;
}
E2
$HEDDLE cc -g forever.c -o forever -pthread
$HEDDLE record -q -o forever.hdl -- ./forever 2>/dev/null &
await [ -e ready ]
kill $! && wait $!
cat >forever.pl <<'E2'
use Dap;
my $source = { path => "$ENV{PWD}/forever.c" };
start();
ask('initialize');
ask('launch', { trace => 'forever.hdl', program => './forever' });
await('initialized');
ask('configurationDone');
print 'a question: ', ask('stackTrace', { threadId => 1 })->{message}, "\n";
print 'a breakpoint: ', ask('setBreakpoints', { source => $source, breakpoints => [{ line => 17, hitCondition => '3' }] })->{body}{breakpoints}[0]{verified}, "\n";
print 'hit: ', await('stopped')->{reason}, ' ', frame(1)->{line}, "\n";
ask('setBreakpoints', { source => $source });
ask('continue', { threadId => 1 });
print 'a pause: ', stopped('pause', { threadId => 1 })->{reason}, "\n";
ask('continue', { threadId => 1 });
$out = do { close $out; undef };
1 while defined Dap::receive();
waitpid $pid, 0;
print 'left: ', $? >> 8, "\n";
E2
run perl forever.pl
is "$out" "a question: the program runs: 'pause' it first
a breakpoint: 1
hit: breakpoint 17
a pause: pause
left: 0" "a program that runs for ever is interrupted"
none_running() { [ -z "$(running forever)" ]; }
await none_running
ok $? "and ends with the editor"

# A port
: >port.err
timeout 300 $HEDDLE replay --dap 0 >port.out 2>port.err </dev/null &
server=$!
listens() { port=$(sed -n 's/.*waiting for an editor at localhost://p' port.err) && [ -n "$port" ]; }
await listens
run perl -e 'use Dap; use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or die;
	$in = $out = $s; print ask("initialize")->{success}, ask("launch", { witness => "bank.wit", program => "./bank" })->{success},
	ask("disconnect")->{success}' "$port"
is "$out" 111 "an editor by a port"
wait $server
is $? 0 "which ends with it"
is "$(ls -d heddle-dap-* 2>/dev/null)" "" "nothing is left behind"
done_testing
