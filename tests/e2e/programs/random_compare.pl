#!/usr/bin/perl
# random_compare.pl ORACLE-OUTPUT LOG: the outcomes that random_oracle.c says (but for its first line)
# against those of the runs that random_sync.c logged.  Prints what is missing ("missed") and what
# cannot be ("impossible"); nothing when they are the same.
use strict;
use warnings;

my (%expected, %got);
open my $oracle, '<', $ARGV[0] or die "$ARGV[0]: $!";
my (undef, @lines) = <$oracle>;
chomp @lines;
$expected{$_} = 1 for @lines;
my $threads = 0;
for (@lines) {
	my @parts = split / /;
	$threads = @parts if @parts > $threads && !/^\d!/;
}

open my $log, '<', $ARGV[1] or die "$ARGV[1]: $!";
# A thread says that it aborts before it calls abort(), so two may have said so: either may be
# the first to do it, with the same history.
my (@history, @aborts);
sub finish {
	return if !@history;
	my $all = join ' ', map { "$_:$history[$_]" } 0 .. $threads - 1;
	$got{$_} = 1 for @aborts ? map { "$_!$history[$_]" } @aborts : $all;
}
while (<$log>) {
	my ($thread, $result) = /^(\d)(.)$/ or die "no line of a run: $_";
	if ($result eq '#') {
		finish();
		@history = ('') x 9;
		@aborts = ();
	} elsif ($result eq '!') {
		push @aborts, $thread;
	} else {
		$history[$thread] .= $result;
	}
}
finish();
# What comes after a use of what was freed is by chance: that there is one is all that counts.
for my $outcomes (\%expected, \%got) {
	my @uses = grep { /f/ } keys %$outcomes;
	delete @$outcomes{@uses};
	$outcomes->{'a use after free'} = 1 if @uses;
}
print map { "missed $_\n" } grep { !$got{$_} } sort keys %expected;
print map { "impossible $_\n" } grep { !$expected{$_} } sort keys %got;
