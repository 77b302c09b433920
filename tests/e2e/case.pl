#!/usr/bin/perl
# case.pl - a test that is one file: a program or a trace, and at its end what Heddle is to say of it.
#
# Usage: tests/e2e/case.pl FILE; prints TAP.  HEDDLE is the binary.  A program (.c, .cc) is compiled by
# `heddle cc`, with -g -O1; a trace (.txt, .std) is used as it is.  Lines of the file, behind // or #:
#
#     //: build FLAGS            flags for the compiler, before the runs; {a,b} in them: all runs for each
#     //: COMMAND OPTIONS        a run of heddle; the program or the trace is appended, or put in the place
#                                of a @.  For each {a,b} in it one run for each of these.  $here: the file's
#                                folder, $root: the tree.
#     //: COMMAND T.hdl OPTIONS  a run of heddle on a trace that a run before has recorded
#     //: sh COMMAND             bash, in the folder of the run: makes a file that a run needs
#     //= FACT VALUE             of the run before: the fact has that value
#     //~ FACT REGEX             it matches                 //- FACT REGEX   it does not
#
# Facts are exit, out, err (text), and of the report in JSON those of %facts below; a fact with
# $d in it is a Perl expression on the report, without blanks.  Each run is a test, named by its command.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename;
use File::Temp 'tempdir';
use JSON::PP;

my $d;
sub places { join '+', @{ $_[0]{locations} // [] } }
sub list { join ' ', sort @_ }
my %facts = (
	# of an exploration
	errors => sub { list map { $_->{kind} . ($_->{kind} eq 'exit-status' ? "=$_->{status}" : '@' . places($_)) } @{ $d->{errors} } },
	said => sub { join ' | ', @{ $d->{gaps} // [] }, @{ $d->{'races-open'} // [] }, @{ $d->{notes} // [] } },
	statuses => sub { join ' ', sort { $a <=> $b } map { $_->{status} } grep { !$_->{redundant} } @{ $d->{runs} } },
	ends => sub { my %seen; list grep { !$seen{$_}++ } map { $_->{end} } grep { !$_->{redundant} } @{ $d->{runs} } },
	outcomes => sub { my %seen; list grep { !$seen{$_}++ } map { $_->{end} =~ /^exit/ ? $_->{status} // 0 : $_->{end} } @{ $d->{runs} } },
	# of races and deadlocks
	pairs => sub { join ' ', map { "$_->{first}-$_->{second}" } grep { $_->{verdict} eq 'race' } @{ $d->{findings} } },
	verdicts => sub { join ' ', map { "$_->{first}-$_->{second}:$_->{verdict}" } @{ $d->{findings} } },
	lines => sub { list map { my ($n, @p) = ($_->{note} // $_->{kind}, @{ $_->{locations} }); join ':', $n, map { s/.*://r } @p } @{ $d->{findings} } },
	kinds => sub { join ', ', map { "$_->{kind} $_->{verdict}" } @{ $d->{findings} } },
	notes => sub { join ', ', map { "$_->{kind} $_->{verdict} " . ($_->{note} // '') } @{ $d->{findings} } },
	findings => sub { scalar @{ $d->{findings} } },
	requests => sub { join ' ', map { "$_->{verdict}:" . join '+', @{ $_->{requests} } } @{ $d->{findings} } },
	waits => sub {
		join ', ', map { my $w = $_; join ' ', map { $w->{$_} // '-' } qw(thread for object held-by) }
			@{ $d->{findings}[0]{waits} };
	},
	# of both
	complete => sub { $d->{complete} ? 'yes' : 'no' },
	racy => sub { join ' ', map { places($_) } @{ $d->{races} // $d->{findings} } },
	map { my $key = $_; ($key => sub { $d->{$key} }) } qw(executions states events),
);

my $file = shift // die "usage: case.pl FILE\n";
my ($name, $here, $suffix) = fileparse(abs_path($file), qr/\.[a-z]+/);
my $heddle = $ENV{HEDDLE} // abs_path('heddle');
my $scratch = tempdir(CLEANUP => 1);
$ENV{"XDG_${_}_HOME"} = "$scratch/." . lc for qw(STATE CACHE CONFIG);
$ENV{root} = abs_path(dirname(__FILE__) . '/../..');
$ENV{here} = $here =~ s{/$}{}r;

# The runs: { command, line, facts => [[line, sign, fact, wanted]...] }
my (@runs, $build);
sub choices { # of a line with {a,b}
	my ($before, $choice, $after) = $_[0] =~ /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/ or return $_[0];
	return map { choices("$before$_$after") } split /,/, $choice, -1;
}
open my $in, '<', $file or die "$file: $!\n";
while (<$in>) {
	my ($sign, $text) = m{^(?://|#)([:=~-]) (.*)} or next;
	if ($sign ne ':') {
		@runs or die "$file:$.: a fact before the first run\n";
		push @{ $runs[-1]{facts} }, [$., $sign, split(/ /, $text, 2), ''];
	} elsif ($text =~ /^build\b(.*)/) {
		$build = $1;
	} else {
		push @runs, { command => $text };
	}
}
@runs or die "$file: no run: expected a line //: COMMAND\n";

sub slurp { my ($path) = @_; open my $f, '<', $path or return ''; local $/; my $text = <$f> // ''; $text =~ tr/\0//d; $text }
sub shell { # the exit status of a line of bash
	my $status = system 'bash', '-c', $_[0];
	return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}
sub quoted { "'" . $_[0] =~ s/'/'\\''/gr . "'" }

my ($count, $programs) = (0, $suffix =~ /^\.(c|cc)$/);
sub report {
	my ($bad, $test, @why) = @_;
	printf "%s %d - %s\n", $bad ? 'not ok' : 'ok', ++$count, $test;
	print map { s/^/# /gmr . "\n" } @why;
}
chdir $scratch;
my $subject = quoted(abs_path($here) . "/$name$suffix");
if (!$programs) { # a command may write beside it
	system 'cp', abs_path($here) . "/$name$suffix", '.';
	$subject = quoted("./$name$suffix");
}
sub build {
	my ($flags) = @_;
	my $compiler = $suffix eq '.cc' ? 'c++' : 'cc';
	return !shell(quoted($heddle) . " $compiler -g -O1 $subject -o $name -pthread $flags >err 2>&1");
}
sub run { # one command; what is wrong of its facts
	my ($command, @facts) = @_;
	return shell("$1 2>err") ? slurp('err') : () if $command =~ /^sh (.*)/;
	my $json = grep { $_->[2] !~ /^(exit|out|err)$/ } @facts;
	my $of = $programs ? "-- ./$name" : $subject;
	my $options = $json && $command !~ /--format/ ? ' --format json' : '';
	# no run of a case ends by the clock: what takes a moment here takes long on a busy machine
	$options .= ' --timeout 250' if $command =~ /^explore\b/ && $command !~ /--timeout/;
	my $line = quoted($heddle) . ' ' . ($command =~ s/^(\S+)/$1$options/r);
	my $recorded = $programs && $command !~ /^record/ && $command =~ / \w+\.hdl\b/;
	$line =~ s/ @( |$)/ $of$1/ or $recorded or $line .= " $of";
	my $status = shell("timeout 300 $line >out 2>err </dev/null");
	my ($out, $err, @why) = (slurp('out'), slurp('err'));
	$d = $json ? eval { JSON::PP->new->utf8->decode($out) } : undef;
	return "no report in JSON: $out$err" if $json && !$d;
	for (@facts) {
		my ($at, $sign, $fact, $wanted) = @$_;
		my $got = $fact eq 'exit' ? $status : $fact eq 'out' ? $out : $fact eq 'err' ? $err
			: $fact =~ /\$d\b/ ? eval $fact : $facts{$fact} ? $facts{$fact}->() : die "$file:$at: no fact is named $fact\n";
		die "$file:$at: $@" if $@;
		$got //= '';
		my $holds = $sign eq '=' ? $got eq $wanted : $sign eq '~' ? $got =~ /$wanted/m : $got !~ /$wanted/m;
		push @why, "line $at: $fact $sign $wanted", "got: $got" unless $holds;
	}
	return @why ? (@why, $err) : ();
}
for my $flags ($programs ? choices($build // '') : '') {
	if ($programs && !build($flags)) {
		report(1, "$name is built $flags", slurp('err'));
		next;
	}
	for my $run (@runs) {
		for my $command (choices($run->{command})) {
			my @why = run($command, @{ $run->{facts} // [] });
			report(scalar @why, "$command $flags", @why) if @why || $command !~ /^sh /;
		}
	}
}
print "1..$count\n";
