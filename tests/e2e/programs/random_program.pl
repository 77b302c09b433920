#!/usr/bin/perl
# random_program.pl SEED FILE: writes a small random program of threads that read and write
# variables, in part under a lock, and prints how many classes of runs it has: how many
# different vectors of values its reads see over all interleavings (searched exhaustively).
use strict;
use warnings;

my ($seed, $file) = @ARGV;
srand($seed);
my @names = qw(x y);
my @threads;
for my $t (0 .. int(rand(2)) + 1) {
	my @ops;
	while (@ops < 4) {
		my $locked = rand() < 0.4;
		push @ops, ['lock'] if $locked;
		for (0 .. int(rand(2))) {
			my $v = $names[rand @names];
			push @ops, rand() < 0.5 ? ['read', $v] : ['write', $v, 1 + int(rand(3))];
		}
		push @ops, ['unlock'] if $locked;
	}
	push @threads, \@ops;
}

# -- the program; atomics, so that no compiler takes a read away
open my $out, '>', $file or die "$file: $!";
print $out "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n";
print $out "static volatile int $_;\n" for @names;
for my $t (0 .. $#threads) {
	print $out "static void *run$t(void *p)\n{\n\tint r;\n";
	for my $op (@{$threads[$t]}) {
		print $out $op->[0] eq 'lock'     ? "\tpthread_mutex_lock(&m);\n"
			: $op->[0] eq 'unlock' ? "\tpthread_mutex_unlock(&m);\n"
			: $op->[0] eq 'read'   ? "\tr = $op->[1];\n"
			:                        "\t$op->[1] = $op->[2];\n";
	}
	print $out "\t(void)r;\n\treturn p;\n}\n";
}
print $out "int main(void)\n{\n\tpthread_t t[9];\n";
print $out "\tpthread_create(&t[$_], 0, run$_, 0);\n" for 0 .. $#threads;
print $out "\tpthread_join(t[$_], 0);\n" for 0 .. $#threads;
print $out "\treturn 0;\n}\n";
close $out;

# -- all interleavings, states that were met once left out
my (%met, %classes);
sub search {
	my ($at, $memory, $holder, $seen) = @_;
	my $key = join '|', @$at, map({ $memory->{$_} } @names), $holder, @$seen;
	return if $met{$key}++;
	my $ended = 1;
	for my $t (0 .. $#threads) {
		my $op = $threads[$t][$at->[$t]] or next;
		$ended = 0;
		next if $op->[0] eq 'lock' && $holder >= 0;
		my @next = @$at;
		$next[$t]++;
		my %memory = %$memory;
		my @seen = @$seen;
		my $held = $op->[0] eq 'lock' ? $t : $op->[0] eq 'unlock' ? -1 : $holder;
		$memory{$op->[1]} = $op->[2] if $op->[0] eq 'write';
		$seen[$t] .= $memory->{$op->[1]} if $op->[0] eq 'read';
		search(\@next, \%memory, $held, \@seen);
	}
	$classes{join '|', @$seen} = 1 if $ended;
}
search([(0) x @threads], { map { $_ => 0 } @names }, -1, [('') x @threads]);
print scalar(keys %classes), "\n";
