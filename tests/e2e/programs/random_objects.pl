#!/usr/bin/perl
# random_objects.pl SEED: makes a small random program for random_objects.cc, and searches all its interleavings by the
# operations' definitions alone. Prints the program on the first line, one word a thread, then every outcome, as
# random_compare.pl reads them: what the operations of each thread returned, as far as it came. Exit status 3: too many.
#
#     lN tN uN   lock, try, unlock of a recursive mutex (N 0), of one that checks errors (1: 'D' twice, 'P' not held)
#     TN         a lock with a time limit ('1': it was up); h. H. Y. the same to read, to write, and of the semaphore
#     m. n. v. i.   a robust mutex that checks errors: lock, try, unlock, make it consistent ('I': its owner has not ended);
#                from seed 1000000 on. No thread ends with it, which exploration does not know
#     b.         a barrier of three ('1': the last one)
#     c. C. s. B.   a condition under a mutex of its own: wait, wait with a time limit ('1': it was up), signal, broadcast
#     r. R. w. W. e.   reader-writer lock: read, try, write, try, unlock what the thread holds ('x': nothing)
#     S. d. Z.   a spin lock: lock, try, unlock what the thread holds
#     p. P. y.   a semaphore of two: post, wait, try
#     k. K. L.   a std::latch of two: count down, wait, try
#     xN X. a.   an atomic: set it, read it; another: what it was before 1 is added
#     o.         std::call_once ('1': it was run here)
#     q. A.      pthread_once ('1': it was run here), a plain read of its control: from seed 2000000 on
#     g.         at its end the thread reads the atomic, in a destructor of a key (not main, whose exit runs none)
use strict;
use warnings;

my $seed = shift;
srand($seed);
sub any { $_[int rand @_] }
my %topics = (
	mutex => [qw(l0 l0 t0 T0 u0 u0 l1 t1 T1 u1)], barrier => [qw(b. b.)],
	condition => [qw(c. c. C. C. s. B. B.)], rw => [qw(r. R. h. w. W. H. e. e. e.)],
	spin => [qw(S. d. Z. Z.)], semaphore => [qw(p. P. P. y. Y.)],
	latch => [qw(k. K. L.)], atomic => [qw(x1 x2 X. a.)], once => [qw(o. X.)], end => [qw(g. x1)],
);
my @threads;
my $down = 0;
{
	my @names = sort keys %topics;
	my @chosen = map { @{ $topics{any(@names)} } } 1 .. 2;
	push @chosen, qw(m. m. n. v. i.) if $seed >= 1000000 && $seed < 2000000;
	@chosen = (qw(q. q. A. A.), @chosen[0 .. 1]) if $seed >= 2000000;
	push @chosen, 'X.', 'x1';
	my $count = any(2, 3, 3, 3);
	for my $t (0 .. $count - 1) {
		my ($rw, $spin, @ops) = (0, 0);
		for (1 .. any(2, 3, 3, 4)) {
			my $o = any(@chosen);
			# a second use of what the thread may hold is undefined, or waits for itself
			$o = 'e.' if $o =~ /[rRhHwW]/ && $rw;
			$o = 'Z.' if $o =~ /[Sd]/ && $spin;
			$o = 'L.' if $o eq 'k.' && ++$down > 2;
			$rw = $o =~ /[rRhHwW]/ if $o =~ /[rRhHwWe]/;
			$spin = $o =~ /[Sd]/ if $o =~ /[SdZ]/;
			push @ops, $o;
		}
		push @ops, 'v.' if $seed >= 1000000 && $seed < 2000000;
		push @threads, \@ops;
	}
}
my $n = @threads;
print join(' ', map { join '', @$_ } @threads), "\n";

# A state: at, waits ('': runs), ends, history by thread, the rest by name. `waits`: c C (condition), W (woken), b, r (let go),
# q (it runs a once-function).
sub copy {
	my $s = shift;
	return { %$s, map { $_ => [@{ $s->{$_} }] } qw(at waits ends history owner depth reads spins) };
}
sub name {
	my $s = shift;
	return join '|', map { ref $s->{$_} ? join(',', @{ $s->{$_} }) : $s->{$_} } sort keys %$s;
}
my (%seen, %outcomes);
my @stack = ({ at => [(0) x $n], waits => [('') x $n], ends => [(0) x $n], history => [('') x $n], owner => [-1, -1],
	depth => [0, 0], arrived => 0, reads => [(0) x $n], writer => -1, spins => [(0) x $n], count => 2, latch => 2, x => 0, robust => -1,
	y => 0, once => 0, control => 0 });

# The states after a step of thread $t.
sub steps {
	my ($s, $t) = @_;
	my @after;
	my $to = sub { # the operation returns $result, when $change has been made
		my ($result, $change) = @_;
		my $a = copy($s);
		$a->{waits}[$t] = '';
		$a->{at}[$t]++;
		$a->{history}[$t] .= $result;
		$change->($a) if $change;
		push @after, $a;
	};
	my $waits = $s->{waits}[$t];
	if ($waits ne '') {
		$to->('0') if $waits =~ /[Wr]/;
		$to->('1', sub { $_[0]{control} = 2 }) if $waits eq 'q';
		$to->('1') if $waits eq 'C';
		return @after;
	}
	my $o = $threads[$t][$s->{at}[$t]];
	if (!defined $o) {
		$to->($s->{x}, sub { $_[0]{ends}[$t] = 0; $_[0]{at}[$t]-- }) if $s->{ends}[$t];
		return @after;
	}
	my ($op, $k) = split //, $o;
	my $wait = sub {
		my $a = copy($s);
		$a->{waits}[$t] = $_[0];
		push @after, $a;
	};
	if ($op =~ /[mn]/) {
		$to->('0', sub { $_[0]{robust} = $t }) if $s->{robust} < 0;
		$to->('D') if $s->{robust} == $t; # also of a try
		$to->('B') if $s->{robust} >= 0 && $s->{robust} != $t && $op eq 'n';
	} elsif ($op eq 'v') {
		my $own = $s->{robust} == $t;
		$to->($own ? '0' : 'P', sub { $_[0]{robust} = -1 if $own });
	} elsif ($op eq 'i') {
		$to->('I');
	} elsif ($op =~ /[ltT]/) {
		my ($free, $own) = ($s->{owner}[$k] < 0, $s->{owner}[$k] == $t);
		if ($free || $own && $k == 0) {
			$to->('0', sub { $_[0]{owner}[$k] = $t; $_[0]{depth}[$k]++ });
		} elsif ($op eq 't') {
			$to->('B');
		} elsif ($own) {
			$to->('D');
		} elsif ($op eq 'T') {
			$to->('1');
		}
	} elsif ($op eq 'u') {
		$to->('P') if $s->{owner}[$k] != $t;
		$to->('0', sub { $_[0]{owner}[$k] = -1 if --$_[0]{depth}[$k] == 0 }) if $s->{owner}[$k] == $t;
	} elsif ($op eq 'b') {
		if ($s->{arrived} == 2) {
			$to->('1', sub { my $a = shift; $a->{arrived} = 0; $_ eq 'b' and $_ = 'r' for @{ $a->{waits} } });
		} else {
			$wait->('b');
			$after[-1]{arrived}++;
		}
	} elsif ($op =~ /[cC]/) {
		$wait->($op);
	} elsif ($op eq 's') {
		my @waiters = grep { $s->{waits}[$_] =~ /[cC]/ } 0 .. $n - 1;
		for my $w (@waiters) {
			$to->('0', sub { $_[0]{waits}[$w] = 'W' });
		}
		$to->('0') if !@waiters;
	} elsif ($op eq 'B') {
		$to->('0', sub { /[cC]/ and $_ = 'W' for @{ $_[0]{waits} } });
	} elsif ($op =~ /[rRh]/) {
		$to->('0', sub { $_[0]{reads}[$t] = 1 }) if $s->{writer} < 0;
		$to->($op eq 'R' ? 'B' : '1') if $s->{writer} >= 0 && $op ne 'r';
	} elsif ($op =~ /[wWH]/) {
		my $free = $s->{writer} < 0 && !grep { $_ } @{ $s->{reads} };
		$to->('0', sub { $_[0]{writer} = $t }) if $free;
		$to->($op eq 'W' ? 'B' : '1') if !$free && $op ne 'w';
	} elsif ($op eq 'e') {
		my $held = $s->{writer} == $t || $s->{reads}[$t];
		$to->($held ? '0' : 'x', sub { $_[0]{writer} = -1 if $_[0]{writer} == $t; $_[0]{reads}[$t] = 0 });
	} elsif ($op =~ /[Sd]/) {
		my $free = !grep { $_ } @{ $s->{spins} };
		$to->('0', sub { $_[0]{spins}[$t] = 1 }) if $free;
		$to->('B') if !$free && $op eq 'd';
	} elsif ($op eq 'Z') {
		$to->($s->{spins}[$t] ? '0' : 'x', sub { $_[0]{spins}[$t] = 0 });
	} elsif ($op eq 'p') {
		$to->('0', sub { $_[0]{count}++ });
	} elsif ($op =~ /[PyY]/) {
		$to->('0', sub { $_[0]{count}-- }) if $s->{count} > 0;
		$to->($op eq 'y' ? 'A' : '1') if $s->{count} == 0 && $op ne 'P';
	} elsif ($op eq 'k') {
		$to->('0', sub { $_[0]{latch}-- });
	} elsif ($op eq 'K') {
		$to->('0') if $s->{latch} == 0;
	} elsif ($op eq 'L') {
		$to->($s->{latch} == 0 ? '1' : '0');
	} elsif ($op eq 'x') {
		$to->('0', sub { $_[0]{x} = $k });
	} elsif ($op eq 'X') {
		$to->($s->{x});
	} elsif ($op eq 'a') {
		$to->($s->{y}, sub { $_[0]{y}++ });
	} elsif ($op eq 'o') {
		$to->($s->{once} ? '0' : '1', sub { $_[0]{once} = 1 });
	} elsif ($op eq 'q') {
		$to->('0') if $s->{control} == 2;
		if ($s->{control} == 0) {
			$wait->('q');
			$after[-1]{control} = 1;
		}
	} elsif ($op eq 'A') {
		$to->($s->{control});
	} elsif ($op eq 'g') {
		$to->('0', sub { $_[0]{ends}[$t] = $t > 0 });
	}
	return @after;
}

while (my $s = pop @stack) {
	next if $seen{name($s)}++;
	exit 3 if keys %seen > 30000 || keys %outcomes > 150;
	my @after = map { steps($s, $_) } 0 .. $n - 1;
	push @stack, @after;
	$outcomes{ join ' ', map { "$_:$s->{history}[$_]" } 0 .. $n - 1 } = 1 if !@after;
}
print "$_\n" for sort keys %outcomes;
