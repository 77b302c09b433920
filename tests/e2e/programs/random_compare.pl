#!/usr/bin/perl
# random_compare.pl ORACLE-OUTPUT LOG [USES [alike]]: the outcomes that random_oracle.c says (but for its first line)
# against those of the runs that random_sync.c logged.  Prints what is missing ("missed") and what
# cannot be ("impossible"); nothing when they are the same.  USES: that many uses after free were
# reported: of each pair of places one, which may be in a run that aborts before its thread can log it.
# With `alike`, which of the threads with one program does what makes no difference.
use strict;
use warnings;

my (%expected, %got);
open my $oracle, '<', $ARGV[0] or die "$ARGV[0]: $!";
my ($program, @lines) = <$oracle>;
# Main joins nobody: where the others were cut off is no outcome of its own.
my $leaves = $program =~ /^\S*k/ && $program !~ /^\S*h/;
chomp @lines;
# By thread, the first one that is not told apart from it.
my @words = split ' ', $program;
my @kind = 0 .. 9;
for my $t ($ARGV[3] ? 1 .. $#words : ()) {
	($kind[$t]) = grep { $words[$_] eq $words[$t] } 1 .. $t;
}
# The same outcome, whichever of threads that are not told apart did what.
sub permuted {
	my $outcome = shift;
	return $outcome if $outcome =~ s/^(\d)!/$kind[$1]!/;
	my @parts = split / /, $outcome;
	my %of;
	push @{$of{$kind[$_]}}, $parts[$_] =~ s/^\d://r for 0 .. $#parts;
	@$_ = sort @$_ for values %of;
	return join ' ', map { "$_:" . shift @{$of{$kind[$_]}} } 0 .. $#parts;
}
$expected{permuted($_)} = 1 for @lines;
my $threads = 0;
for (@lines) {
	my @parts = split / /;
	$threads = @parts if @parts > $threads && !/^\d!/;
}

open my $log, '<', $ARGV[1] or die "$ARGV[1]: $!";
# A thread says that it aborts before it calls abort(), and main that it returns before it does, so
# that several may have said so: any may be the first to do it, with the same history.
my (@history, @aborts, $returns);
sub finish {
	return if !@history;
	my $all = join ' ', map { "$_:$history[$_]" } 0 .. $threads - 1;
	$got{permuted("$_!$history[$_]")} = 1 for @aborts;
	$got{permuted($all)} = 1 if !@aborts || $leaves && $returns;
}
while (<$log>) {
	my ($thread, $result) = /^(\d)(.)$/ or die "no line of a run: $_";
	if ($result eq '#') {
		finish();
		@history = ('') x 9;
		@aborts = ();
		$returns = 0;
	} elsif ($result eq '$') {
		$returns = 1;
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
$got{'a use after free'} = 1 if $ARGV[2] && $expected{'a use after free'};
# Does a run that came as far as $big show all that one that came as far as $small does?
sub is_within {
	my ($small, $big) = @_;
	return $small eq $big if !$leaves || "$small$big" =~ /!|use/;
	my @small = split / /, $small;
	my @big = split / /, $big;
	return 0 if @small != @big || $small[0] ne $big[0];
	return !grep { index($big[$_], $small[$_]) != 0 } 1 .. $#small;
}
for my $outcome (sort keys %expected) {
	print "missed $outcome\n" if !grep { is_within($outcome, $_) } keys %got;
}
for my $outcome (sort keys %got) {
	print "impossible $outcome\n" if !grep { is_within($outcome, $_) } keys %expected;
}
