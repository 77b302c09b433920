#!/usr/bin/perl
# live_pairs.pl TEXT RACES LIVE - what `record --no-trace` has printed (LIVE), beside the whole trace of
# the same run: its text, and its races by happens-before as JSON with all pairs. Prints each byte that
# races whose pairs of lines are all missing, each printed pair that is no race, and counts; the exit
# status is 1 if there is any.
use strict;
use warnings;
my ($text, $races, $live) = @ARGV;

my @access; # of each event: what it accesses, from which byte on, and how many
open my $t, '<', $text or die "$text: $!\n";
while (<$t>) {
	next if /^#/;
	push @access, /\|a?(?:r|w|rmw)(\d*)\((.*?)(?:\+(\d+))?\)/ ? [$2, $3 || 0, $1 || 1] : undef;
}

my (%is_race, %races_at); # pairs of lines; bytes -> such pairs
open my $r, '<', $races or die "$races: $!\n";
while (<$r>) {
	my ($first, $second, $sites) =
		/"first": (\d+), "second": (\d+).*"sites": \[(.*?)\], "callers"/ or next;
	my $pair = join ' ', sort { $a <=> $b } $sites =~ /"line": (\d+)/g;
	my ($x, $y) = @access[$first, $second];
	$is_race{$pair} = 1;
	next unless $x && $y && $x->[0] eq $y->[0];
	for my $byte ($x->[1] .. $x->[1] + $x->[2] - 1) {
		$races_at{"$x->[0]+$byte"}{$pair} = 1
			if $byte >= $y->[1] && $byte < $y->[1] + $y->[2];
	}
}

my (%printed, @lines, $is_data_race);
open my $l, '<', $live or die "$live: $!\n";
while (<$l>) {
	if (/^candidate: (\S+)/) {
		@lines = ();
		$is_data_race = $1 eq 'data-race';
	} elsif ($is_data_race && /^ .*:(\d+)  in /) {
		push @lines, $1;
		$printed{join ' ', sort { $a <=> $b } @lines} = 1 if @lines == 2;
	}
}

my $bad = 0;
for my $pair (sort keys %printed) {
	next if $is_race{$pair};
	$bad++;
	print "# no race: lines $pair\n";
}
for my $byte (sort keys %races_at) {
	next if grep { $printed{$_} } keys %{$races_at{$byte}};
	$bad++;
	print "# missing: $byte, lines ", join(', ', sort keys %{$races_at{$byte}}), "\n";
}
print scalar(keys %races_at), " bytes, ", scalar(keys %is_race), " pairs, ", scalar(keys %printed), " printed\n";
exit($bad > 0);
